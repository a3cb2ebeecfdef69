//! `redisson_multi_lock_leased`, except that `lock()` takes the milliseconds of its lease for seconds when it tries
//! again, each time. Must be caught by `redis/multi-lock-seconds`.
//!
//! Seen in the wild: Redisson 4.x, `RedissonMultiLock.lockInterruptibly`, which converts its argument inside the loop.

use super::redisson_multi_lock::{Deviation, RedissonMultiLock};
use super::redisson_multi_lock_hardened::hardened_sub_lock;
use super::redisson_multi_lock_leased::{self, LEASED};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-seconds",
    summary: "redisson-multi-lock-leased whose lease is a thousand times as long each time that lock() tries again.",
    source: "Redisson 4.x, RedissonMultiLock.lockInterruptibly(leaseTime, TimeUnit.SECONDS)",
    flaw: Some("leaseTime = unit.toMillis(leaseTime) stands inside the loop"),
    build: Build::MultiLockOverRedis {
        each: &hardened_sub_lock,
        all: &RedissonMultiLock {
            deviation: Deviation {
                converts_each_time: true,
                ..LEASED
            },
        },
    },
    ..redisson_multi_lock_leased::RECIPE
};
