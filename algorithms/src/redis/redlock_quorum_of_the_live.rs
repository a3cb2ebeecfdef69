//! `redlock`, except that step 3 takes more than half of those that have answered for enough. Must be caught by
//! `redis/redlock-half`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-quorum-of-the-live",
    summary: "Redlock that is content with more than half of the servers that answer.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm, 'N/2+1', misread",
    flaw: Some("each side of a partition has a majority of its own"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::QuorumOfTheLive))
    }),
    ..redlock::RECIPE
};
