//! `redis_py_lock`, except that all threads have one token (`thread_local=False`). Must be caught by
//! `redis/shared-lock-object`.

use super::redis_py_lock::{Local, RedisPyLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-py-lock-one-token",
    summary: "redis-py's Lock with thread_local=False: the object keeps one token for all threads.",
    source: "redis-py 5, redis/lock.py, the documentation of thread_local",
    flaw: Some("the next thread to acquire overwrites the token of the holder"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisPyLock::new(redis, env, lease, Local::OfObject))
    }),
    ..super::redis_py_lock::RECIPE
};
