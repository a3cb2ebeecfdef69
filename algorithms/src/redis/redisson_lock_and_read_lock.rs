//! Redisson's `RLock` and the read lock of its `RReadWriteLock` under one name.
//!
//! # Source
//!
//! Redisson issue 4023: both keep a hash under the name, and only that of a `RReadWriteLock` has a mode.
//!
//! # Steps
//!
//! To write: those of [`redisson`](super::redisson). To read: those of [`redisson_read_write_lock`].
//!
//! # Hazards
//!
//! - A reader takes a hash without a mode for one that is free: it enters beside the holder of the `RLock` (scenario
//!   `redis/two-kinds-of-lock`).

use super::redisson::RedissonLock;
use super::redisson_read_write_lock::{self, RENEW_READ, RedissonReadWriteLock};
use crate::{Build, KeyHold, Keys, LockKind, Mode, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-lock-and-read-lock",
    summary: "Redisson's RLock to write and the read lock of its RReadWriteLock to read, of one name.",
    source: "Redisson issue 4023",
    flaw: Some("a read lock takes the hash of an RLock for one that is free"),
    ownership: OwnershipRule::of_keys(LockKind::ReadWrite, holds),
    build: Build::Redis(&|redis, env, lease| {
        let write_lock = RedissonLock::new(redis.clone(), env.clone(), lease.clone());
        let lock = RedissonReadWriteLock::new(redis, env, lease, RENEW_READ);
        Box::new(lock.with_write_lock(write_lock))
    }),
    ..redisson_read_write_lock::RECIPE
};

/// A field is a reader's if a key of its lease is there, and that of the `RLock` otherwise.
fn holds(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>) {
    let before = holds.len();
    redisson_read_write_lock::holds(keys, lock, holds);
    for hold in &mut holds[before..] {
        if hold.mode == Mode::Shared && hold.takeable == Some(0) {
            (hold.mode, hold.takeable) = (Mode::Exclusive, None);
        }
    }
}
