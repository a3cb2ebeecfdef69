//! `redisson`, except that the field names the client and not the thread. Must be caught by `redis/shared-client`.

use super::leased::CLAIMS;
use super::redisson::RedissonLock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-client-id",
    summary: "Redisson's RLock whose owner is the client: any thread of the process enters again.",
    source: "RedissonBaseLock.getLockName without the thread id, as locks have it that name the client",
    flaw: Some("all threads of a process are one owner"),
    claims: CLAIMS,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).without_thread_id())
    }),
    ..super::redisson::RECIPE
};
