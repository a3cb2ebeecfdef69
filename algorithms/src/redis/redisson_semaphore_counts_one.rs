//! A semaphore that counts, whose call of several permits counts one down. Must be caught by `redis/several-permits`.
//!
//! # Source
//!
//! Semaphores of one's own: `DECR` where it was right as long as each call wanted one.
//!
//! # Steps
//!
//! As those of [`redisson_semaphore`], but for step 2: if the counter has as many as the call wants, count it down by
//! one.

use super::leased::Leased;
use super::redisson_semaphore::{self, RedissonSemaphore, TRY_SET_PERMITS};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-semaphore-counts-one",
    summary: "A semaphore like Redisson's RSemaphore, whose call of several permits counts one down.",
    source: "Semaphores of one's own, with DECR",
    flaw: Some("a call of several permits takes one"),
    build: Build::SemaphoreOverRedis(&|redis, env, lease, permits| {
        let leased = Leased { redis, env, lease };
        let semaphore = RedissonSemaphore::new(leased, permits, TRY_SET_PERMITS, TRY_ACQUIRE);
        Box::new(semaphore)
    }),
    ..redisson_semaphore::RECIPE
};

const TRY_ACQUIRE: &str = "\
local free = redis.call('GET', KEYS[1])
if free ~= false and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('DECR', KEYS[1])
  return 1
end
return 0";
