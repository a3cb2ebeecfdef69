//! `redisson_multi_lock_leased`, except that step 5 is a `PEXPIRE` of every key, whosever it is, and whatever that
//! answers. Must be caught by `redis/multi-lock-expire`.
//!
//! Seen in the wild: Redisson 4.x, `RedissonMultiLock.tryLock`.

use super::redisson::sub_lock::{Hardening, SubLock};
use super::redisson_multi_lock::{Deviation, RedissonMultiLock};
use super::redisson_multi_lock_leased::{self, LEASED};
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Lease, Lock, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-blind-expire",
    summary: "redisson-multi-lock-leased that sets the lease of a lock also when another has it by then.",
    source: "Redisson 4.x, RedissonMultiLock.tryLock: expireAsync of every lock, result ignored",
    flaw: Some("a lock that was lost meanwhile is held for its owner, and believed to be ours"),
    requests: &[
        RequestKind::Script,
        RequestKind::Del,
        RequestKind::Subscribe,
        RequestKind::Expire,
    ],
    build: Build::MultiLockOverRedis {
        each: &blind_sub_lock,
        all: &RedissonMultiLock {
            deviation: BLIND_EXPIRE,
        },
    },
    ..redisson_multi_lock_leased::RECIPE
};

/// No answer of step 5 counts.
pub(super) const BLIND_EXPIRE: Deviation = Deviation {
    checks_locks: false,
    ..LEASED
};

/// One of the locks.
pub(super) fn blind_sub_lock(redis: Redis, env: Env, lease: Lease) -> Box<dyn Lock> {
    let hardening = Hardening {
        looks_before_expire: false,
        ..Hardening::ALL
    };
    Box::new(SubLock::new(redis, env, lease, hardening))
}
