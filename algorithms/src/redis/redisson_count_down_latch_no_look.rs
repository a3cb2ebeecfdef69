//! `redisson_count_down_latch`, except that a contender which has subscribed waits for a message without a look. Must
//! be caught by `redis/latch`.

use super::redisson_count_down_latch::{self, RedissonCountDownLatch, Subscribed};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-count-down-latch-no-look",
    summary: "Redisson's RCountDownLatch whose await does not look at the count again when it has subscribed.",
    source: "Lost wake-up: Redisson, RedissonCountDownLatch.await looks before and after it subscribes",
    flaw: Some("the last may count down between the look and the subscription"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonCountDownLatch::new(
            redis,
            env,
            lease,
            Subscribed::Waits,
        ))
    }),
    ..redisson_count_down_latch::RECIPE
};
