//! A mutex whose waiters watch the whole queue.
//!
//! # Source
//!
//! What etcd's mutex is not: measured beside it.
//!
//! # Steps
//!
//! Those of [`mutex`], but step 5 watches all keys of the lock.
//!
//! # Guarantees
//!
//! - Those of [`mutex`].
//!
//! # Hazards
//!
//! - Every departure wakes every waiter: n-1 notifications, and as many reads (scenario `etcd/herd`).

use super::OverEtcd;
use super::mutex::{self, Deviation, Mutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-mutex-prefix-watch",
    summary: "etcd's mutex, but each waiter watches the whole queue.",
    source: "etcd 3.5, client/v3/concurrency/mutex.go, with a watch of the prefix",
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(Mutex::new(client, lock, Deviation::WatchesPrefix))
    })),
    ..mutex::RECIPE
};
