//! `redis_py_lock` in asyncio, where tasks that share the object are one thread, and a release forgets the token when
//! it has been answered. Must be caught by `redis/asyncio-lock-object`.
//!
//! # Source
//!
//! redis-py 7.2 to 8.1, `redis/asyncio/lock.py`: `Lock.release`; pull requests 3900, which brought it, and 4258, which
//! forgets the token only if it is still the one that was released.

use super::redis_py_lock::{Local, RedisPyLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-py-asyncio-lock",
    summary: "redis-py's asyncio Lock: one token for all tasks, which a release forgets when it is answered.",
    source: "redis-py before pull request 4258, redis/asyncio/lock.py, Lock.release",
    flaw: Some("the answer to a release makes the object forget the token of the next task"),
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = RedisPyLock::new(redis, env, lease, Local::OfObject);
        lock.forgets_when_answered = true;
        Box::new(lock)
    }),
    ..super::redis_py_lock::RECIPE
};
