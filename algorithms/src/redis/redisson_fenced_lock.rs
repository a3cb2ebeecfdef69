//! Redisson's `RFencedLock`: `RLock` with a number that each entry counts up.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonFencedLock`.
//!
//! # Steps
//!
//! Those of [`redisson`](super::redisson), but for the script of step 1: if it takes the lock, or enters it again, it
//! counts up the key `redisson_lock_token:{name}`, and answers the number (`lockAndGetToken`).
//!
//! # Guarantees
//!
//! - `no-stale-effect` on a resource that looks at the number, whatever stands still.
//! - `fencing-monotonic`, as long as the server forgets nothing.
//!
//! # Hazards
//!
//! - Those of [`redisson`](super::redisson).
//! - The number is a key like any other: a server that restarts without its data gives out the same numbers again
//!   (scenario `redis/restart`).
//! - An entry that is not the first has a number of its own, and what the outer section sends with its own is refused.
//! - `getToken` reads the key, and so answers the number of the holder by then (`redisson-fenced-lock-get-token`).

use super::redisson::RedissonLock;
use crate::{Build, Claim, Recipe};

/// What it promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::NoStaleEffect,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Reentrancy,
    Claim::HonestAnswer,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-fenced-lock",
    summary: "Redisson's RFencedLock: RLock with a number that each entry counts up.",
    source: "Redisson 4.x, RedissonFencedLock",
    claims: CLAIMS,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).fenced())
    }),
    ..super::redisson::RECIPE
};
