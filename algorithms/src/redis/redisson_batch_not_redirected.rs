//! `redisson_replicated`, except that a script that goes out in a batch with `WAIT` follows no redirect, and its caller
//! waits for an answer that does not come. Must be caught by `redis/redirect-in-a-batch`.

use super::redisson::RedissonLock;
use super::redisson_replicated;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-batch-not-redirected",
    summary: "Redisson's RLock on a cluster, which waits for ever when its batch is redirected.",
    source: "Redisson before 3.13.6, CommandBatchService",
    flaw: Some("a redirect is noted beside the command, and ends neither it nor its call"),
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = RedissonLock::new(redis.dedicated(), env, lease);
        lock.watchdog = redis.dedicated();
        lock.waits_for_replicas = true;
        lock.ignores_redirects = true;
        Box::new(lock)
    }),
    ..redisson_replicated::RECIPE
};
