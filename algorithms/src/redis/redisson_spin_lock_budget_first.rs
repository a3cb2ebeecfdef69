//! `redisson_spin_lock`, except that a try is followed by a look at the time that is left, and its answer is looked at
//! afterwards. Must be caught by `redis/spin-lock-last-try`.

use super::redisson_spin_lock::{self, RedissonSpinLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-spin-lock-budget-first",
    summary: "Redisson's RSpinLock whose last try may take the lock, and whose caller is told that it did not.",
    source: "Redisson 3.15.0 to 3.17.0, RedissonSpinLock.tryLock",
    flaw: Some("the lock that the last try has taken belongs to a caller that was told no"),
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = RedissonSpinLock::new(redis, env, lease);
        lock.looks_at_time_first = true;
        Box::new(lock)
    }),
    ..redisson_spin_lock::RECIPE
};
