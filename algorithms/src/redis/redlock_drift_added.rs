//! `redlock`, except that step 3 adds what clocks may differ. Must be caught by `redis/redlock-validity`.

use super::leased::CLAIMS;
use super::redlock::{Misreading, Redlock};
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-drift-added",
    summary: "Redlock that adds the drift to its validity.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm, 'MIN_VALIDITY', misread",
    flaw: Some("the hold is valid for longer than the lease"),
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: super::redlock::REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::DriftAdded))
    }),
};
