//! `redisson_multi_lock`, which gives back every lock, and whatever an exception may have left.
//!
//! # Source
//!
//! As `redisson_multi_lock`; and Curator's `InterProcessMultiLock`, whose release goes on after an exception.
//!
//! # Steps
//!
//! As `redisson_multi_lock`, but:
//! - The field names the acquisition besides the thread.
//! - Step 3 unlocks the lock after any exception that may have left it.
//! - Step 4 says so when it gives up, if a lock may be left.
//! - Step 5, also without a lease: a script sets that of each lock if the key has our field. If one has not, the call
//!   goes on as if a lock could not be had.
//! - Step 6 unlocks all, whatever comes of each, and throws what was thrown first.
//!
//! # Guarantees
//!
//! - As `redisson_multi_lock`. A caller that gets the locks had all at once (`all-or-none`). What one acquisition has
//!   left counts for no other, and goes with its lease.
//!
//! # Hazards
//!
//! - Those of `redisson` that no caller can mend: the application is not told that a lease has ended.

use super::redisson::sub_lock::{Hardening, SubLock};
use super::redisson_multi_lock::{self, Deviation, RedissonMultiLock};
use crate::clients::redis::Redis;
use crate::{Build, Env, Lease, Lock, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-hardened",
    summary: "redisson-multi-lock that unlocks every lock, and what any exception may have left.",
    source: "Redisson 4.x, RedissonMultiLock; Apache Curator 5.4, InterProcessMultiLock.release",
    build: Build::MultiLockOverRedis {
        each: &hardened_sub_lock,
        all: &RedissonMultiLock {
            deviation: HARDENED,
        },
    },
    ..redisson_multi_lock::RECIPE
};

/// What is mended of the call.
pub(super) const HARDENED: Deviation = Deviation {
    checks_locks: true,
    unlocks_every_lock: true,
    tells_doubt: true,
    ..Deviation::NONE
};

/// One of the locks.
pub(super) fn hardened_sub_lock(redis: Redis, env: Env, lease: Lease) -> Box<dyn Lock> {
    Box::new(SubLock::new(redis, env, lease, Hardening::ALL))
}
