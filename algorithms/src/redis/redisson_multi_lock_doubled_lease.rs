//! `redisson_multi_lock_leased`, except that a lock has a lease of twice the time that the call has, for as long as
//! that goes on. Must be caught by `redis/multi-lock-doubled-lease`.
//!
//! Seen in the wild: Redisson 4.x, `RedissonMultiLock.tryLock`.

use super::redisson_multi_lock::{CallLease, Deviation, RedissonMultiLock};
use super::redisson_multi_lock_hardened::hardened_sub_lock;
use super::redisson_multi_lock_leased::{self, LEASED};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-doubled-lease",
    summary: "redisson-multi-lock-leased whose locks have twice the time of the call as their lease meanwhile.",
    source: "Redisson 4.x, RedissonMultiLock.tryLock: newLeaseTime = unit.toMillis(waitTime)*2",
    flaw: Some("a waiter that dies leaves locks for longer than it has ever asked for"),
    build: Build::MultiLockOverRedis {
        each: &hardened_sub_lock,
        all: &RedissonMultiLock {
            deviation: Deviation {
                in_call: CallLease::TwiceItsTime,
                ..LEASED
            },
        },
    },
    ..redisson_multi_lock_leased::RECIPE
};
