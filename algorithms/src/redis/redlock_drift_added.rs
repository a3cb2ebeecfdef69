//! `redlock`, except that step 3 adds what clocks may differ. Must be caught by `redis/redlock-validity`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-drift-added",
    summary: "Redlock that adds the drift to its validity.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm, 'MIN_VALIDITY', misread",
    flaw: Some("the hold is valid for longer than the lease"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::DriftAdded))
    }),
    ..redlock::RECIPE
};
