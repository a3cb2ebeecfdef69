//! `redisson_spin_lock`, except that the unlock script leaves no latch. Must be caught by `incidents/redisson-4871`.

use super::redisson::scripts::UNLOCK_WITHOUT_LATCH;
use super::redisson_spin_lock::{self, RedissonSpinLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-spin-lock-no-latch",
    summary: "Redisson's RSpinLock whose unlock counts down again when the client sends it again.",
    source: "Redisson #4871: RedissonSpinLock.unlockInnerAsync before 3.24",
    flaw: Some("an unlock whose answer was lost counts twice"),
    build: Build::Redis(&|redis, env, lease| {
        let unlock = UNLOCK_WITHOUT_LATCH;
        Box::new(RedissonSpinLock::with_unlock(redis, env, lease, unlock))
    }),
    ..redisson_spin_lock::RECIPE
};
