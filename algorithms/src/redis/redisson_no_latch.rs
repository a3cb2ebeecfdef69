//! `redisson`, except that the unlock script leaves no latch. Must be caught by `incidents/redisson-4871`.

use super::redisson::RedissonLock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-no-latch",
    summary: "Redisson's RLock whose unlock counts down again when the client sends it again.",
    source: "Redisson #4871: RedissonLock.unlockInnerAsync before 3.24",
    flaw: Some("an unlock whose answer was lost counts twice"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).without_latch())
    }),
    ..super::redisson::RECIPE
};
