//! SET NX PX, and WAITAOF until the key is on the primary's disk before believing.
//!
//! # Source
//!
//! redis.io, `WAITAOF` (Redis 7.2): "the client is blocked until all previous write commands are fsynced to the AOF".
//!
//! # Steps
//!
//! 1. Look at the monotonic clock, then `SET key token NX PX lease`.
//! 2. If it was set: `WAITAOF 1 0 1500` by the same connection. A log that goes to the disk every second answers within
//!    that time.
//! 3. If the key is on the disk, the lock is held until the time of step 1 and the lease, less what clocks may differ.
//!    If not, or if no answer came: delete the key if it holds the token, and try again later.
//! 4. Release as [`compare_and_delete`](super::compare_and_delete) does.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete), and that a power loss does not forget a lock that a
//!   contender believes in (scenario `redis/waitaof`).
//!
//! # Hazards
//!
//! - The disk of the primary is not that of a replica: a failover forgets the key as before.
//! - A release that is not on the disk yet is undone by a power loss: the key is back until its lease ends.
//! - A caller that ignores the answer believes before the key is on the disk ([`RECIPE_IGNORED`], scenario
//!   `redis/waitaof`).

use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::CompareAndDelete;
use super::version::{OverVersion, WITH_WAITAOF};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisError, RedisResult};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-waitaof",
    summary: "SET NX PX, believed when WAITAOF says that it is on the disk (Redis 7.2).",
    source: "redis.io, WAITAOF",
    requests: &[RequestKind::Set, RequestKind::Script, RequestKind::WaitAof],
    build: Build::Other(&OverVersion {
        versions: WITH_WAITAOF,
        build: &|redis, env, lease| Box::new(Synced::new(redis, env, lease)),
    }),
    ..super::compare_and_delete::RECIPE
};

/// The same, whatever `WAITAOF` answers.
pub const RECIPE_IGNORED: Recipe = Recipe {
    name: "redis-waitaof-ignored",
    summary: "The same with a WAITAOF of 100 ms, believed whatever it answers.",
    flaw: Some("WAITAOF answers whether the key is on the disk, and the answer is ignored"),
    build: Build::Other(&OverVersion {
        versions: WITH_WAITAOF,
        build: &|redis, env, lease| {
            Box::new(Synced {
                heeds_answer: false,
                wait: Duration::from_millis(100),
                ..Synced::new(redis, env, lease)
            })
        },
    }),
    ..RECIPE
};

/// How long step 2 waits for the disk, which the log reaches once a second.
const WAIT: Duration = Duration::from_millis(1_500);

struct Synced {
    inner: CompareAndDelete,
    wait: Duration,
    /// Whether step 3 looks at the answer.
    heeds_answer: bool,
}

impl Synced {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            inner: CompareAndDelete::new(redis, env, lease),
            wait: WAIT,
            heeds_answer: true,
        }
    }

    /// Steps 1 and 2: whether the key is on the disk, if it was set.
    async fn attempt(&self) -> RedisResult<Option<bool>> {
        if !self.inner.leased.set_if_missing(&self.inner.token).await? {
            return Ok(None);
        }
        let synced = self.inner.leased.redis.wait_aof(self.wait).await;
        Ok(Some(synced.unwrap_or(false) || !self.heeds_answer))
    }
}

#[async_trait(?Send)]
impl Lock for Synced {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.inner.token = self.inner.leased.env.guid();
            let deadline = self
                .inner
                .leased
                .deadline(self.inner.leased.env.monotonic());
            let synced = match self.attempt().await {
                Ok(Some(true)) => true,
                // The key may come back with the log although it is deleted now.
                Ok(Some(false)) => {
                    unanswered = Some(RedisError::TimedOut);
                    false
                }
                Ok(None) => false,
                Err(error) if !error.definite() => {
                    unanswered = Some(error);
                    false
                }
                // An earlier SET may be executed yet.
                Err(refused) => return Err(unanswered.unwrap_or(refused).into()),
            };
            if synced && self.inner.leased.env.monotonic() < deadline {
                return Ok(self.inner.leased.held(None).until(deadline)); // Step 3.
            }
            let key = &self.inner.leased.lease.key;
            if self.inner.withdraw(key).await.is_err() {
                return Err(LockError::TimedOut); // What was set stays until its lease ends.
            }
            self.inner.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.inner.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.inner.leased.lapsed(held).await
    }
}
