//! Consul's own lock with a monitor that puts up with errors, as `consul lock` has it.
//!
//! # Source
//!
//! hashicorp/consul, `api/lock.go` with `MonitorRetries` 3, and `command/lock/lock.go` (`-monitor-retry`).
//!
//! # Steps
//!
//! Those of [`lock`], but in step 5 three errors, one after the other, do not mean that the lock is
//! lost: the monitor reads again 2 s after each.
//!
//! # Guarantees
//!
//! - Those of [`lock`], and a short election of the servers does not give the lock up.
//!
//! # Hazards
//!
//! - Those of [`lock`], and the caller hears of a loss later (scenario `consul/partition`).

use super::OverConsul;
use super::lock::{self, ApiLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-lock-monitor-retries",
    summary: "Consul's own lock, with a monitor that puts up with three errors.",
    source: "hashicorp/consul, api/lock.go with MonitorRetries; command/lock",
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        Box::new(ApiLock::new(consul, env, lock, 3))
    })),
    ..lock::RECIPE
};
