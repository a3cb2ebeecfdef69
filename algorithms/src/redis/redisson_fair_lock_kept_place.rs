//! `redisson_fair_lock`, except that a waiter that gives up stays in the queue. Must be caught by
//! `redis/fair-lock-kept-place`.

use super::redisson_fair_lock::{self, fair_lock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-fair-lock-kept-place",
    summary: "Redisson's RFairLock whose waiters stay in the queue when they give up.",
    source: "Redisson before 3.2.4, and before 4.7 if an answer does not come: RedissonFairLock.acquireFailedAsync",
    flaw: Some("a waiter that has given up blocks those behind it until its deadline"),
    build: Build::Redis(&|redis, env, lease| Box::new(fair_lock(redis, env, lease, true))),
    ..redisson_fair_lock::RECIPE
};
