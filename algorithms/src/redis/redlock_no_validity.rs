//! Redlock without the second look at the clock: broken on purpose.
//!
//! # Source
//!
//! Redisson's `RedissonRedLock` (deprecated in 3.12.5) computed no validity; redlock-py leaves it to the caller.
//!
//! # Steps
//!
//! Those of [`redlock`], but the lease is counted from when the majority is complete, and not from
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

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-no-validity",
    summary: "Redlock that counts the lease from when the majority is complete.",
    source: "Redisson's RedissonRedLock before 3.12.5",
    flaw: Some("the time that it took to ask is not taken off the lease"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::NoValidity))
    }),
    ..redlock::RECIPE
};
