//! `curator_semaphore` with its own holes closed.
//!
//! - It gives its lease back, too, when the mutex cannot be released or the release is interrupted: the caller does not
//!   know of the lease then.
//! - It counts its own lease and those with lower numbers, and not those that were made after it. Two that wait at once
//!   do not wait for each other: the mutex is no more than what keeps them from being woken by every change.
//! - A call of several leases keeps the mutex until it has all, so that no two wait for what the other has; and when it
//!   counts the last, it looks whether it still has all.
//!
//! What is left are the holes of Curator's framework, as of `curator_mutex`.

use super::curator_semaphore::{
    Counts, Deviation, InterProcessSemaphoreV2, MutexFor, RECIPE as CURATOR, ReturnsLease,
};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore-hardened",
    summary: "Curator's InterProcessSemaphoreV2 that counts no later leases, and gives its own back whatever fails.",
    source: "Apache Curator 5.4, InterProcessSemaphoreV2, and what it leaves open",
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let semaphore = InterProcessSemaphoreV2::new(zk, env, path, max_leases);
        Box::new(semaphore.deviating(Deviation {
            returns_lease: ReturnsLease::UnlessAcquired,
            counts: Counts::UpToOwn,
            mutex_for: MutexFor::AllLeases,
            ..Deviation::NONE
        }))
    }),
    ..CURATOR
};
