//! BROKEN ON PURPOSE. SET NX PX with a deadline that is counted from when the answer has been read.
//!
//! # Source
//!
//! Spring Integration, `RedisLockRegistry`: `lockedAt` is the time at which `obtainLock` has returned. redis.io,
//! "Distributed locks with Redis": the validity begins before the first command.
//!
//! # Steps
//!
//! Those of [`compare_and_delete`], but the clock of step 2 is looked at when the answer has
//! been read.
//!
//! # Guarantees
//!
//! - `exclusive-ownership`, `own-release-only`.
//!
//! # Hazards
//!
//! - The answer can have lain in the process for a while when it is read, for instance through a garbage collection.
//!   The holder believes for as much longer than the server does (scenario `redis/answer-read-late`).

use super::compare_and_delete::{self, CompareAndDelete};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-deadline-from-answer",
    summary: "BROKEN: SET NX PX with a deadline that is counted from when the answer has been read.",
    source: "Spring Integration, RedisLockRegistry: lockedAt",
    flaw: Some("the lease of the server began before the answer was read"),
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = CompareAndDelete::new(redis, env, lease);
        lock.counts_from_answer = true;
        Box::new(lock)
    }),
    ..compare_and_delete::RECIPE
};
