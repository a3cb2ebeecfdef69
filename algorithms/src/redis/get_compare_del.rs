//! SET NX PX, and a release that looks first and deletes then: the common half of a fix.
//!
//! # Source
//!
//! Tutorials that fix the bare DEL without a script.
//!
//! # Steps
//!
//! 1. `SET key token NX PX lease`. If it was set, we hold the lock; if not, try again later.
//! 2. Release: `GET key`.
//! 3. If it is our token: `DEL key`.
//!
//! # Guarantees
//!
//! - The key goes by itself.
//!
//! # Hazards
//!
//! - Between the look and the DEL the lease can end, and another take the lock; the DEL takes it away from him
//!   (scenario `redis/late-release`).

use async_trait::async_trait;

use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-get-compare-del",
    summary: "SET NX PX; released with GET, a comparison in the client, and DEL.",
    source: "Tutorials",
    flaw: Some("the lease can end between the look and the DEL"),
    requests: &[RequestKind::Set, RequestKind::Get, RequestKind::Del],
    build: Build::Redis(&|redis, env, lease| Box::new(GetCompareDel::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

struct GetCompareDel {
    leased: Leased,
    token: String,
}

impl GetCompareDel {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            token: String::new(),
        }
    }
}

#[async_trait(?Send)]
impl Lock for GetCompareDel {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.token = self.leased.env.guid();
        while !self.leased.set_if_missing(&self.token).await? {
            self.leased.pause().await; // Step 1.
        }
        Ok(self.leased.held(None))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let redis = &self.leased.redis;
        let there = redis.get(&held.path_or_key).await?; // Step 2.
        if there.as_deref() != Some(self.token.as_bytes()) {
            return Err(LockError::PlaceLost);
        }
        redis.del(&held.path_or_key).await?; // Step 3.
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
