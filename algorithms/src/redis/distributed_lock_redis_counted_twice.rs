//! `distributed_lock_redis`, except that an answer that has been counted is not taken off the list of those that are
//! waited for. Must be caught by `redis/yes-counted-twice`.

use super::distributed_lock_redis::{self, Counted, DistributedLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "distributed-lock-redis-counted-twice",
    summary: "DistributedLock.Redis that counts the first answer to a renewal until it is a majority.",
    source: "DistributedLock.Redis before its first release",
    flaw: Some("the answer of one server renews the lock of all"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(DistributedLock::new(
            redis,
            env,
            lease,
            Counted::UntilDecided,
        ))
    }),
    ..distributed_lock_redis::RECIPE
};
