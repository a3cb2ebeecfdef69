//! Redisson's `RReadWriteLock` before 3.8.1: the watchdog looks for the field of a writer, and renews no read.
//!
//! # Source
//!
//! Redisson issue 1604.
//!
//! # Steps
//!
//! As those of [`redisson_read_write_lock`].
//!
//! # Hazards
//!
//! - A reader that reads for longer than the lease is alone in believing that it reads (scenario
//!   `redis/read-not-renewed`).

use super::redisson_read_write_lock::{self, RENEW_WRITE, RedissonReadWriteLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-read-write-lock-not-renewed",
    summary: "Redisson's RReadWriteLock, of which the watchdog renews no read.",
    source: "Redisson issue 1604",
    flaw: Some("a read that lasts longer than the lease loses the lock"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonReadWriteLock::new(redis, env, lease, RENEW_WRITE))
    }),
    ..redisson_read_write_lock::RECIPE
};
