//! `redisson_multi_lock` of one lock on each of several servers that know nothing of each other, all of which it needs.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonMultiLock`: "Each RLock object could be created by own Redisson instance."
//!
//! # Steps
//!
//! Those of [`redisson_multi_lock`](super::redisson_multi_lock).
//!
//! # Guarantees
//!
//! - Two holders have no server in common, so there is one holder as long as one server remembers.
//!
//! # Hazards
//!
//! - Those of [`redisson_multi_lock`](super::redisson_multi_lock). One server that does not answer is enough, and no
//!   contender gets the lock (scenario `redis/multi-lock-silent-server`).

use super::redisson_multi_lock::Deviation;
use super::redisson_red_lock::{self, LockOfServers};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-of-servers",
    summary: "Redisson's RedissonMultiLock of one RLock on each of several independent servers.",
    source: "Redisson 4.x, RedissonMultiLock",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(LockOfServers::new(redis, env, lease, Deviation::NONE))
    }),
    ..redisson_red_lock::RECIPE
};
