//! `redlock`, except that steps 1 and 3 look at the wall clock. Must be caught by `redis/redlock-wall-clock`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-wall-clock",
    summary: "Redlock that counts its validity by the wall clock.",
    source: "redlock-py, node-redlock and others: time.time(), Date.now()",
    flaw: Some("a wall clock that jumps back makes the validity longer than the lease"),
    inputs: &[RecipeInput::WallClock],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::WallClock))
    }),
    ..redlock::RECIPE
};
