//! [`wait`](super::wait), except that the client ignores what WAIT answers.
//!
//! # Source
//!
//! Redisson before 3.16.7: the number of replicas that had the lock was asked for, and not looked at.
//!
//! # Steps
//!
//! Those of [`wait`](super::wait), but whatever `WAIT` answers, we hold the lock.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete).
//!
//! # Hazards
//!
//! - `WAIT` that answers 0 leaves the key set, and a failover loses it (scenario `redis/sentinel-failover`).

use super::wait::{WaitFor, Waited};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-wait-ignored",
    summary: "SET NX PX and WAIT, believed whatever WAIT says.",
    source: "Redisson before 3.16.7",
    flaw: Some("WAIT answers how many replicas have the key, and the client does not look"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Waited::new(redis, env, lease, WaitFor::Replica).ignoring_answer())
    }),
    ..super::wait::RECIPE
};
