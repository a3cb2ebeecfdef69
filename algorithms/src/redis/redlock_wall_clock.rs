//! `redlock`, except that steps 1 and 3 look at the wall clock. Must be caught by `redis/redlock-wall-clock`.

use super::leased::CLAIMS;
use super::redlock::{Misreading, Redlock};
use crate::{Build, OwnershipRule, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-wall-clock",
    summary: "Redlock that counts its validity by the wall clock.",
    source: "redlock-py, node-redlock and others: time.time(), Date.now()",
    flaw: Some("a wall clock that jumps back makes the validity longer than the lease"),
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: super::redlock::REQUESTS,
    inputs: &[RecipeInput::WallClock],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::WallClock))
    }),
};
