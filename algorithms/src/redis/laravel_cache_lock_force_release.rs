//! [`laravel_cache_lock`](super::laravel_cache_lock), restored without its owner: the other process has the name of
//! the lock alone, and calls `forceRelease()`.

use super::laravel_cache_lock::{self as sound, RedisLock, Release};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "laravel-cache-lock-force-release",
    summary: "Laravel's cache lock, which another process gives back by forceRelease, its owner or not.",
    source: "laravel/framework 13.26.1, RedisLock::forceRelease",
    flaw: Some("the process that gives the lock back does not know the owner, and deletes any"),
    requests: &[RequestKind::Set, RequestKind::Del],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisLock::new(redis, env, lease, Release::Force))
    }),
    ..sound::RECIPE
};
