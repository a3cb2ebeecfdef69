//! `symfony_lock`, except that the object keeps the end of its first try. Must be caught by
//! `redis/lock-object-keeps-end`.

use super::symfony_lock::{self, SymfonyLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "symfony-lock-kept-end",
    summary: "symfony/lock whose object counts its life from its first try, and leaves what it gets too late.",
    source: "symfony/lock before 4.3.2",
    flaw: Some(
        "a call that has waited for longer than a lease gets the lock, and says that it has failed",
    ),
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = SymfonyLock::new(redis, env, lease);
        lock.keeps_end = true;
        lock.keeps_key = true;
        Box::new(lock)
    }),
    ..symfony_lock::RECIPE
};

/// The registry row of the one that deletes what it gets too late.
pub const RECIPE_DELETED: Recipe = Recipe {
    name: "symfony-lock-kept-end-deleted",
    summary: "symfony/lock whose object counts its life from its first try, and deletes what it gets too late.",
    source: "symfony/lock 4.3.2",
    flaw: Some("an object that has waited for longer than a lease never gets the lock"),
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = SymfonyLock::new(redis, env, lease);
        lock.keeps_end = true;
        Box::new(lock)
    }),
    ..symfony_lock::RECIPE
};
