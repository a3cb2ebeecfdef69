//! `redsync`, except that each try has a value of its own, and go-redis has `ContextTimeoutEnabled`.

use super::redsync::{self, Redsync};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redsync-hardened",
    summary: "redsync with a value for each try, over a go-redis with ContextTimeoutEnabled.",
    source: "redsync 4.17, mutex.go, hardened",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| Box::new(Redsync::new(redis, env, lease).hardened())),
    ..redsync::RECIPE
};
