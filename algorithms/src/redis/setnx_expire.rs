//! SETNX, and then EXPIRE: two commands where one is needed.
//!
//! # Source
//!
//! Countless tutorials; redis-py until 3.0 (issues 554 and 818).
//!
//! # Steps
//!
//! 1. `SETNX key 1`. If it was set, we hold the lock; if not, try again later.
//! 2. `PEXPIRE key lease`.
//! 3. Release: `DEL key`.
//!
//! # Guarantees
//!
//! - None that a crash, a pause, or a lost answer leaves.
//!
//! # Hazards
//!
//! - A client that dies between the two commands leaves a key for ever: no client gets the lock again (scenario
//!   `redis/setnx-expire`).
//! - Sent together by MULTI and EXEC, the second runs even if the first has found the key: each waiter renews the lease
//!   of the holder, and one that has died holds the lock for as long as others want it (scenario
//!   `redis/holder-crash`).
//! - All those of [`set_nx_px_del`](super::set_nx_px_del).

use async_trait::async_trait;

use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisResult, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-setnx-expire",
    summary: "SETNX, then EXPIRE; released with DEL.",
    source: "Tutorials; redis-py before 3.0, issues 554 and 818",
    flaw: Some("two commands: between them the key has no time to live"),
    requests: &[RequestKind::SetNx, RequestKind::Expire, RequestKind::Del],
    build: Build::Redis(&|redis, env, lease| Box::new(SetnxExpire::new(redis, env, lease, false))),
    ..super::set_nx_px_del::RECIPE
};

/// The registry row of one that sends both in a transaction.
pub const RECIPE_MULTI: Recipe = Recipe {
    name: "redis-setnx-expire-multi",
    summary: "SETNX and EXPIRE in a transaction; released with DEL.",
    source: "Tutorials: MULTI, SETNX, EXPIRE, EXEC",
    flaw: Some("EXPIRE runs even if the key is another's"),
    requests: &[
        RequestKind::SetNx,
        RequestKind::Expire,
        RequestKind::Del,
        RequestKind::MultiCommand,
        RequestKind::Exec,
    ],
    build: Build::Redis(&|redis, env, lease| Box::new(SetnxExpire::new(redis, env, lease, true))),
    ..RECIPE
};

struct SetnxExpire {
    leased: Leased,
    /// Whether both commands are sent as one transaction.
    in_multi: bool,
}

impl SetnxExpire {
    fn new(redis: Redis, env: Env, lease: Lease, in_multi: bool) -> Self {
        let leased = Leased { redis, env, lease };
        Self { leased, in_multi }
    }

    /// Steps 1 and 2 in a transaction: whether the key was set.
    async fn set_and_expire(&self) -> RedisResult<bool> {
        let Lease { key, time } = &self.leased.lease;
        let millis = time.as_millis().to_string();
        let commands = [
            Command::new("SETNX").args([&**key, "1"]),
            Command::new("PEXPIRE").args([&**key, &*millis]),
        ];
        let answers = self.leased.redis.transaction(commands).await?;
        Ok(answers.is_some_and(|answers| answers.first() == Some(&Value::Integer(1))))
    }
}

#[async_trait(?Send)]
impl Lock for SetnxExpire {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Lease { key, time } = &self.leased.lease;
        if self.in_multi {
            while !self.set_and_expire().await? {
                self.leased.pause().await;
            }
            return Ok(self.leased.held(None));
        }
        while !self.leased.redis.setnx(key, "1").await? {
            self.leased.pause().await; // Step 1.
        }
        self.leased.redis.expire(key, *time).await?; // Step 2.
        Ok(self.leased.held(None))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.leased.redis.del(&held.path_or_key).await?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
