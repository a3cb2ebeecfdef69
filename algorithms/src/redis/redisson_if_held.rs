//! Redisson's `RLock`, released as many applications do: `if (lock.isHeldByCurrentThread()) lock.unlock();`.
//!
//! # Source
//!
//! Redisson issue 545: `isHeldByCurrentThread` is a command that reads, and went to a replica. Later versions send it
//! to the primary.
//!
//! # Steps
//!
//! Those of [`redisson`](super::redisson), but step 5 begins with `HEXISTS`: if our field is not there, there is
//! nothing to release, and nothing is done.
//!
//! # Guarantees
//!
//! - Those of [`redisson`](super::redisson), as long as the server that answers has heard of the lock.
//!
//! # Hazards
//!
//! - A replica that has not heard of it says no. The lock is not released, and the watchdog is not stopped: it renews
//!   the lease for as long as the process lives (scenarios `redis/stale-read` and `redis/cluster-stale-read`).

use super::leased::CLAIMS;
use super::redisson::RedissonLock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-lock-if-held",
    summary: "Redisson's RLock that is released only if a look says that it is held.",
    source: "Redisson issue 545",
    flaw: Some("the look may go to a replica that has not heard of the lock"),
    claims: CLAIMS,
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = RedissonLock::new(redis, env, lease);
        lock.unlocks_if_held = true;
        Box::new(lock)
    }),
    ..super::redisson::RECIPE
};
