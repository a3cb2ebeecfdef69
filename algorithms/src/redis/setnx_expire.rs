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
//! - Whoever dies between the two commands leaves a key for ever: nobody gets the lock again (scenario
//!   `redis/setnx-expire`).
//! - All those of [`set_nx_px_del`](super::set_nx_px_del).

use async_trait::async_trait;

use super::leased::{CLAIMS, Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-setnx-expire",
    summary: "SETNX, then EXPIRE; released with DEL.",
    source: "Tutorials; redis-py before 3.0, issues 554 and 818",
    flaw: Some("two commands: between them the key has no time to live"),
    claims: CLAIMS,
    ownership: OwnershipRule::KEY,
    requests: &[RequestKind::SetNx, RequestKind::Expire, RequestKind::Del],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| Box::new(SetnxExpire::new(redis, env, lease))),
};

struct SetnxExpire(Leased);

impl SetnxExpire {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self(Leased { redis, env, lease })
    }
}

#[async_trait(?Send)]
impl Lock for SetnxExpire {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Lease { key, time } = &self.0.lease;
        while !self.0.redis.setnx(key, "1").await? {
            self.0.pause().await; // Step 1.
        }
        self.0.redis.expire(key, *time).await?; // Step 2.
        Ok(self.0.held(None))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.redis.del(&held.path_or_key).await?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
