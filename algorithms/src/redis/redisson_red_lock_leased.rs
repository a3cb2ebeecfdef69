//! `redisson_red_lock` with a lease that its caller asks for. Must be caught by `redis/red-lock-slow`.
//!
//! Step 5 sets the lease, whatever has become of the locks meanwhile, and does not look whether there was as much of it
//! left as the call took.

use super::redisson_red_lock::{self, LEASED_MAJORITY, LockOfServers};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-red-lock-leased",
    summary: "redisson-red-lock with a lease: set once more when a majority is there, whosever it is by then.",
    source: "Redisson before 3.12.5, RedissonRedLock.tryLock(waitTime, leaseTime, unit)",
    flaw: Some(
        "the time that it took to ask is not taken off the lease, and the lease of another is set",
    ),
    requests: &[
        RequestKind::Script,
        RequestKind::Del,
        RequestKind::Subscribe,
        RequestKind::Expire,
    ],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(LockOfServers::new(redis, env, lease, LEASED_MAJORITY))
    }),
    ..redisson_red_lock::RECIPE
};
