//! Consul's own lock in sessions without a lock-delay.
//!
//! # Source
//!
//! hashicorp/consul, `api/lock.go` with `LockDelay` 0; documentation of sessions: it can be disabled.
//!
//! # Steps
//!
//! Those of [`lock`], but the session of step 1 has no lock-delay.
//!
//! # Guarantees
//!
//! - Those of [`lock`] as long as its holder does not stand still for longer than its session lives.
//!
//! # Hazards
//!
//! - When a session ends, the next one enters at once: a holder that stood still is still inside (scenario
//!   `consul/pause-within-lock-delay`).

use std::time::Duration;

use super::lock::{self, ApiLock};
use super::{ConsulLock, OverConsul};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-lock-no-delay",
    summary: "Consul's own lock in sessions without a lock-delay.",
    source: "hashicorp/consul, api/lock.go with LockDelay 0",
    flaw: Some("the lock is free as soon as the session of a holder that stands still has ended"),
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        let lock_delay = Duration::ZERO;
        let lock = ConsulLock { lock_delay, ..lock };
        Box::new(ApiLock::new(consul, env, lock, 0))
    })),
    ..lock::RECIPE
};
