//! `redlock`, except that step 4 deletes nothing. Must be caught by `redis/redlock-split-vote`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-keeps-minority",
    summary: "Redlock that leaves the keys of an attempt without a majority to their lease.",
    source: "redis.io, Distributed locks with Redis, 'Retry on failure', misread",
    flaw: Some("the votes stay split until the leases are over"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::KeepsMinority))
    }),
    ..redlock::RECIPE
};
