//! `redisson_read_write_lock`, except that a writer that has downgraded tells the waiters.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonReadWriteLock`, with a message where its release of a write publishes none.
//!
//! # Steps
//!
//! As those of [`redisson_read_write_lock`], but for the release of a write that its writer reads, too: it turns the
//! mode to reading, and publishes, as if it had deleted the hash.
//!
//! # Guarantees
//!
//! - Readers that wait are let in when a writer goes on reading (scenario `redis/downgrade-untold`).
//!
//! # Hazards
//!
//! - All others of [`redisson_read_write_lock`].

use super::redisson_read_write_lock::{self, RENEW_READ, RedissonReadWriteLock, WRITE_UNLOCK};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-read-write-lock-told",
    summary: "Redisson's RReadWriteLock, of which a writer that reads on publishes that.",
    source: "Redisson 4.x, RedissonReadWriteLock, with one message more",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| {
        let turns = "redis.call('HSET', KEYS[1], 'mode', 'read')";
        let tells = "\n  redis.call('PUBLISH', KEYS[2], 'read_unlock')";
        let unlock = WRITE_UNLOCK.replace(turns, &[turns, tells].concat());
        Box::new(RedissonReadWriteLock::with_unlock(
            redis, env, lease, RENEW_READ, &unlock,
        ))
    }),
    ..redisson_read_write_lock::RECIPE
};
