//! `redisson_multi_lock_hardened` with a lease that its caller asks for, which is set at locks that are ours alone.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonMultiLock.lock(leaseTime, unit)` and `tryLock(waitTime, leaseTime, unit)`.
//!
//! # Steps
//!
//! As `redisson_multi_lock_hardened`, with a lease and no watchdog. A lock has it while the call goes on, too,
//! however long that may be: step 5 tells whether it was long enough. If that step takes as long as the lease, the
//! call goes on as if a lock could not be had.
//!
//! # Guarantees
//!
//! - The holder knows until when it holds the locks: it counts the lease from before step 5.
//!
//! # Hazards
//!
//! - There is no fencing token (scenario `redis/pause`).

use super::redisson_multi_lock::{CallLease, Deviation, RedissonMultiLock};
use super::redisson_multi_lock_hardened::{self, HARDENED, hardened_sub_lock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock-leased",
    summary: "redisson-multi-lock-hardened with a lease, which is set at locks that are ours alone.",
    source: "Redisson 4.x, RedissonMultiLock.tryLock(waitTime, leaseTime, unit)",
    build: Build::MultiLockOverRedis {
        each: &hardened_sub_lock,
        all: &RedissonMultiLock { deviation: LEASED },
    },
    ..redisson_multi_lock_hardened::RECIPE
};

/// With a lease, and nothing amiss.
pub(super) const LEASED: Deviation = Deviation {
    is_leased: true,
    in_call: CallLease::AsAsked,
    ..HARDENED
};
