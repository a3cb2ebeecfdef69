//! `redlock`, except that step 3 takes half of the servers for enough. Must be caught by `redis/redlock-half`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-half-is-enough",
    summary: "Redlock that is content with half of the servers.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm, 'N/2+1', misread",
    flaw: Some("with an even number of servers two contenders have half of them each"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::HalfIsEnough))
    }),
    ..redlock::RECIPE
};
