//! `redisson_fair_lock`, except that a wait in seconds is handed on as so many milliseconds. Must be caught by
//! `redis/fair-lock-seconds`.

use super::redisson::RedissonLock;
use super::redisson::fair_queue::FairQueue;
use super::redisson_fair_lock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-fair-lock-seconds",
    summary: "Redisson's RFairLock whose place in the queue is kept for a thousandth of the wait.",
    source: "Redisson before 3.24.0, and since 3.24.1, RedissonFairLock.tryLock(waitTime, unit)",
    flaw: Some("a waiter is out of the queue long before it gives up"),
    build: Build::Redis(&|redis, env, lease| {
        let mut queue = FairQueue::of(&lease.key);
        queue.wait_in_seconds = true;
        Box::new(RedissonLock::new(redis, env, lease).fair(queue))
    }),
    ..redisson_fair_lock::RECIPE
};
