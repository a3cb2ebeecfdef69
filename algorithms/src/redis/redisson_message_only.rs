//! Redisson's `RLock` whose waiters rely on the message alone: broken on purpose.
//!
//! # Source
//!
//! Redisson's own `RedissonSemaphore` and `RedissonCountDownLatch` wait so; `RedissonLock` does if the key has no time
//! to live.
//!
//! # Steps
//!
//! Those of [`redisson`](super::redisson), but in step 3 a waiter waits for a message, however long that takes.
//!
//! # Guarantees
//!
//! - `mutual-exclusion`, as long as the lease is renewed.
//!
//! # Hazards
//!
//! - A message that is lost is never sent again, and its waiter sleeps on beside a free lock (scenario
//!   `redis/lost-message`).
//! - A holder that dies publishes nothing: its lease ends, and no waiter wakes (scenario `redis/holder-crash`).

use super::leased::CLAIMS;
use super::redisson::RedissonLock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-message-only",
    summary: "Redisson's RLock whose waiters wait for the message, and do not look again.",
    source: "Redisson 4.x, RedissonSemaphore and RedissonCountDownLatch",
    flaw: Some("a waiter never looks again by itself"),
    claims: CLAIMS,
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = RedissonLock::new(redis, env, lease);
        lock.waits_for_ttl = false;
        Box::new(lock)
    }),
    ..super::redisson::RECIPE
};
