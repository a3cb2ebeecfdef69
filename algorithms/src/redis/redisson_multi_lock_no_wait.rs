//! `redisson_multi_lock_blind_expire`, except that a call that does not wait acquires its locks for twice that time,
//! which is none. Must be caught by `redis/multi-lock-wait-and-lease-timeouts`.

use super::redisson_multi_lock::{CallLease, Deviation, RedissonMultiLock};
use super::redisson_multi_lock_blind_expire::{self, BLIND_EXPIRE, blind_sub_lock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-no-wait",
    summary: "redisson-multi-lock-blind-expire whose locks have no lease while a call without a time takes them.",
    source: "Redisson before 3.11.1, RedissonMultiLock.tryLock(-1, leaseTime, unit)",
    flaw: Some("each lock goes as soon as it is acquired, and each caller has all of them"),
    build: Build::MultiLockOverRedis {
        each: &blind_sub_lock,
        all: &RedissonMultiLock {
            deviation: Deviation {
                in_call: CallLease::TwiceNone,
                ..BLIND_EXPIRE
            },
        },
    },
    ..redisson_multi_lock_blind_expire::RECIPE
};
