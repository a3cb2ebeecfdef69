//! `redisson`, except that a renewal that has failed stays on the books: no later hold of the thread gets a watchdog,
//! before a release has gone well. Must be caught by `incidents/redisson-2515`.

use super::leased::CLAIMS;
use super::redisson::RedissonLock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-failed-renewal",
    summary: "Redisson's RLock that renews nothing any more after a renewal has failed.",
    source: "Redisson #2515 and #3194: RedissonLock.renewExpiration before 3.12.1 and 3.14",
    flaw: Some("the entry of the failed renewal passes for a watchdog that runs"),
    claims: CLAIMS,
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = RedissonLock::new(redis, env, lease);
        lock.keeps_failed_renewal = true;
        Box::new(lock)
    }),
    ..super::redisson::RECIPE
};
