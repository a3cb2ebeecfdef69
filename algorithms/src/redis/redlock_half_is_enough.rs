//! `redlock`, except that step 3 takes half of the servers for enough. Must be caught by `redis/redlock-half`.

use super::leased::CLAIMS;
use super::redlock::{Misreading, Redlock};
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-half-is-enough",
    summary: "Redlock that is content with half of the servers.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm, 'N/2+1', misread",
    flaw: Some("with an even number of servers two contenders have half of them each"),
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: super::redlock::REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::HalfIsEnough))
    }),
};
