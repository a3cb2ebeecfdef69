//! `curator_semaphore`, except that a call of several leases that fails keeps those that it has acquired before. Must
//! be caught by `zookeeper/semaphore-halves-given-back`.

use super::curator_semaphore::{Deviation, InterProcessSemaphoreV2, RECIPE as CURATOR};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore-keeps-leases",
    summary: "Curator's InterProcessSemaphoreV2 whose call of several leases keeps some when it fails.",
    source: "Loops of one's own around a semaphore's acquire",
    flaw: Some("a call whose time is over keeps the leases that it has got so far"),
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let semaphore = InterProcessSemaphoreV2::new(zk, env, path, max_leases);
        Box::new(semaphore.deviating(Deviation {
            returns_earlier: false,
            ..Deviation::NONE
        }))
    }),
    ..CURATOR
};
