//! `redisson`, except that the unlock script leaves no latch. Must be caught by `incidents/redisson-4871`.

use super::leased::REENTRANT_CLAIMS;
use super::redisson::RedissonLock;
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-no-latch",
    summary: "Redisson's RLock whose unlock counts down again when the client sends it again.",
    source: "Redisson #4871: RedissonLock.unlockInnerAsync before 3.24",
    flaw: Some("an unlock whose answer was lost counts twice"),
    claims: REENTRANT_CLAIMS,
    ownership: OwnershipRule::KEY,
    requests: super::redisson::REQUESTS,
    inputs: super::redisson::INPUTS,
    cancellable: false,
    shareable: true,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).without_latch())
    }),
};
