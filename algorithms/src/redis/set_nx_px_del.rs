//! SET NX PX, and a DEL that does not look whose key it is.
//!
//! # Source
//!
//! The pattern that the documentation of `SET` warns of, in use everywhere.
//!
//! # Steps
//!
//! 1. `SET key token NX PX lease`. If it was set, we hold the lock; if not, try again later.
//! 2. Release: `DEL key`.
//!
//! # Guarantees
//!
//! - The key goes by itself, so a dead holder does not block the lock for ever.
//!
//! # Hazards
//!
//! - A holder that works for longer than the lease deletes the key of the next, and lets a third in: one late DEL
//!   begins a chain (scenario `redis/late-release`).
//! - It never looks at the clock: it goes on believing after the lease (scenario `redis/pause`).

use async_trait::async_trait;

use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-set-nx-px-del",
    summary: "SET NX PX; released with DEL, even if the key is another's by then.",
    source: "redis.io, commands/set: the pattern that it warns of",
    flaw: Some("it deletes the key without looking whose it is"),
    requests: &[RequestKind::Set, RequestKind::Del],
    build: Build::Redis(&|redis, env, lease| Box::new(SetNxPxDel::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

struct SetNxPxDel(Leased);

impl SetNxPxDel {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self(Leased { redis, env, lease })
    }
}

#[async_trait(?Send)]
impl Lock for SetNxPxDel {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let token = self.0.env.guid();
        while !self.0.set_if_missing(&token).await? {
            self.0.pause().await; // Step 1.
        }
        Ok(self.0.held(None))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.redis.del(&held.path_or_key).await?; // Step 2.
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
