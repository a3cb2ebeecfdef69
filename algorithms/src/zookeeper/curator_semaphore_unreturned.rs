//! `curator_semaphore`, except that a lease stays when the wait for it fails. Must be caught by
//! `zookeeper/semaphore-interrupted`.
//!
//! Seen in the wild: Curator 2.11 to 4.0. An acquire that failed between the create and the count left its lease behind
//! (CURATOR-335); so did an interrupt of the wait (CURATOR-462).

use super::curator_semaphore::{
    Deviation, InterProcessSemaphoreV2, RECIPE as CURATOR, ReturnsLease,
};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore-unreturned",
    summary: "Curator's InterProcessSemaphoreV2 before it gave back a lease whose acquire has failed.",
    source: "CURATOR-335, CURATOR-462",
    flaw: Some("a lease that no contender has takes up a permit for as long as its session"),
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let semaphore = InterProcessSemaphoreV2::new(zk, env, path, max_leases);
        Box::new(semaphore.deviating(Deviation {
            returns_lease: ReturnsLease::Never,
            ..Deviation::NONE
        }))
    }),
    ..CURATOR
};
