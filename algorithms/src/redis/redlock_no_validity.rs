//! Redlock without the second look at the clock: broken on purpose.
//!
//! # Source
//!
//! Redisson's `RedissonRedLock` (deprecated in 3.12.5) computed no validity; redlock-py leaves it to the caller.
//!
//! # Steps
//!
//! Those of [`redlock`](super::redlock), but the lease is counted from when the majority is complete, and not from
//! before the first server was asked.
//!
//! # Guarantees
//!
//! - `exclusive-ownership`.
//!
//! # Hazards
//!
//! - If the answers of some servers are slow, the lease on others has ended before the majority is complete (scenario
//!   `redis/redlock-slow`).

use super::leased::CLAIMS;
use super::redlock::{Misreading, Redlock};
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-no-validity",
    summary: "Redlock that counts the lease from when the majority is complete.",
    source: "Redisson's RedissonRedLock before 3.12.5",
    flaw: Some("the time that it took to ask is not taken off the lease"),
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: super::redlock::REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::NoValidity))
    }),
};
