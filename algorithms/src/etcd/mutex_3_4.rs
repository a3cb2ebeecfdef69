//! etcd's mutex as it was before 3.5: a waiter does not look whether its own key is still there.
//!
//! # Source
//!
//! etcd 3.4, `clientv3/concurrency/mutex.go`; issue 11456.
//!
//! # Steps
//!
//! Those of [`mutex`] without step 6.
//!
//! # Guarantees
//!
//! - Those of [`mutex`], as long as the session of no waiter ends.
//!
//! # Hazards
//!
//! - A waiter whose session has ended waits on, and is granted the lock by the deletion of the key ahead, though its
//!   own key is gone (scenario `etcd/dead-waiter`).

use super::OverEtcd;
use super::mutex::{self, Deviation, Mutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-mutex-3-4",
    summary: "etcd's mutex as it was before 3.5.",
    source: "etcd 3.4, clientv3/concurrency/mutex.go; issue 11456",
    flaw: Some("a waiter whose session has ended is granted the lock"),
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(Mutex::new(client, lock, Deviation::SkipsOwnKey))
    })),
    ..mutex::RECIPE
};
