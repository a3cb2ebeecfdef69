//! BROKEN ON PURPOSE. The lock of the lease server that enters on every answer that grants it, however old it is.
//!
//! # Source
//!
//! Kleppmann, "How to do distributed locking", 2016: a process can stand still between the answer and what it does
//! next.
//!
//! # Steps
//!
//! Those of [`lease_lock`], but a client that is granted the lock does not look at the clock before it enters.
//!
//! # Guarantees
//!
//! None that its sibling does not have.
//!
//! # Hazards
//!
//! - The lease can be over when the answer is read: it enters beside the next one, and writes before it hears that its
//!   time is over (scenario `lease-server/answer-read-late`).

use super::OverLeaseServer;
use super::lease_lock::{self, Deviation, LeaseLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "lease-lock-unchecked",
    summary: "BROKEN: the lock of the lease server that does not look at the clock before it enters.",
    flaw: Some("the answer may be older than the lease when it is read"),
    build: Build::Other(&OverLeaseServer(&|server, env, lease| {
        Box::new(LeaseLock::new(server, env, lease).deviating(Deviation::TrustsAnswer))
    })),
    ..lease_lock::RECIPE
};
