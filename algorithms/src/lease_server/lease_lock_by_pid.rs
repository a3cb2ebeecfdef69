//! BROKEN ON PURPOSE. The lock of the lease server that claims by the number of its process: 1 in every container.
//!
//! # Source
//!
//! Locks that name their owner by host and process, in containers: the process is number 1 in each of them.
//!
//! # Steps
//!
//! Those of [`lease_lock`], but all claim by the same number.
//!
//! # Guarantees
//!
//! None.
//!
//! # Hazards
//!
//! - To the server, every claimant is the owner, who claims the lock for longer: all enter, and the first to leave
//!   gives back what is another's (scenario `lease-server/same-number`).

use super::OverLeaseServer;
use super::lease_lock::{self, Deviation, LeaseLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "lease-lock-by-pid",
    summary: "BROKEN: the lock of the lease server, claimed by a number that all processes have.",
    flaw: Some("the number of a process is no name of its own"),
    build: Build::Other(&OverLeaseServer(&|server, env, lease| {
        Box::new(LeaseLock::new(server, env, lease).deviating(Deviation::ClaimsByProcess))
    })),
    ..lease_lock::RECIPE
};
