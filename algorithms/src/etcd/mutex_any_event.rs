//! A mutex whose waiters take the deletion of the key ahead for their turn.
//!
//! # Source
//!
//! A mistake in step 5 of [`mutex`]: the key ahead may have been that of a waiter.
//!
//! # Steps
//!
//! Those of [`mutex`], but step 5 goes to 6.
//!
//! # Guarantees
//!
//! - Those of [`mutex`], as long as no waiter leaves the queue.
//!
//! # Hazards
//!
//! - A waiter that leaves hands the lock to the one behind it, while another holds it (scenario `etcd/waiter-crash`).

use super::OverEtcd;
use super::mutex::{self, Deviation, Mutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-mutex-any-event",
    summary: "etcd's mutex, but a deletion of the key ahead is taken for the turn.",
    source: "a mistake made on purpose",
    flaw: Some("it does not read the queue again when the key ahead is deleted"),
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(Mutex::new(client, lock, Deviation::TakesAnyEvent))
    })),
    ..mutex::RECIPE
};
