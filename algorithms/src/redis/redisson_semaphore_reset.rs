//! Redisson's `RSemaphore`, of which each process sets the number of permits when it starts, whatever the counter has.
//!
//! # Source
//!
//! Tutorials: `delete` and `trySetPermits` at the start of a service.
//!
//! # Steps
//!
//! As those of [`redisson_semaphore`].
//!
//! # Hazards
//!
//! - A process that starts while permits are out gives them a second time (scenario `redis/semaphore-reset`).

use super::leased::Leased;
use super::redisson_semaphore::{self, RedissonSemaphore, TRY_ACQUIRE};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-semaphore-reset",
    summary: "Redisson's RSemaphore, of which each process that starts sets the number of permits.",
    source: "Tutorials",
    flaw: Some("a process that starts counts permits as free that are out"),
    build: Build::SemaphoreOverRedis(&|redis, env, lease, permits| {
        let leased = Leased { redis, env, lease };
        Box::new(RedissonSemaphore::new(
            leased,
            permits,
            SET_PERMITS,
            TRY_ACQUIRE,
        ))
    }),
    ..redisson_semaphore::RECIPE
};

const SET_PERMITS: &str = "\
redis.call('SET', KEYS[1], ARGV[1])
redis.call('PUBLISH', KEYS[2], ARGV[1])";
