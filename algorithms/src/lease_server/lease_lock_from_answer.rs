//! BROKEN ON PURPOSE. The lock of the lease server that counts its lease from the answer, and not from the question.
//!
//! # Source
//!
//! Kleppmann, "How to do distributed locking", 2016: what an answer that is late does to a lease.
//!
//! # Steps
//!
//! Those of [`lease_lock`], but the deadline is counted from when the answer is there.
//!
//! # Guarantees
//!
//! None that its sibling does not have.
//!
//! # Hazards
//!
//! - It holds the lock for as much longer than the server as the answer was under way (scenario
//!   `lease-server/slow-answer`).

use super::OverLeaseServer;
use super::lease_lock::{self, Deviation, LeaseLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "lease-lock-from-answer",
    summary: "BROKEN: the lock of the lease server, with a deadline that is counted from the answer.",
    flaw: Some("the lease of the server began earlier than the answer came"),
    build: Build::Other(&OverLeaseServer(&|server, env, lease| {
        Box::new(LeaseLock::new(server, env, lease).deviating(Deviation::CountsFromAnswer))
    })),
    ..lease_lock::RECIPE
};
