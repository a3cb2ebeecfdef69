//! `redlock`, except that step 4 deletes the key only where the server has said that it was set. Must be caught by
//! `incidents/redisson-1606`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-acquired-only",
    summary: "Redlock that gives back only what it knows that it has got.",
    source: "Redisson #1606: RedissonMultiLock.tryLock before 2.13.2",
    flaw: Some("a server whose answer was lost keeps the key of a client that has given up"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::AcquiredOnly))
    }),
    ..redlock::RECIPE
};
