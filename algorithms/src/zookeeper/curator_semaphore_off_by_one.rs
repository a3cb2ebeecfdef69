//! `curator_semaphore`, except that it does not count its own lease. Must be caught by `zookeeper/semaphore`.

use super::curator_semaphore::{Counts, Deviation, InterProcessSemaphoreV2, RECIPE as CURATOR};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore-off-by-one",
    summary: "Curator's InterProcessSemaphoreV2 that does not count its own lease.",
    source: "Semaphores of one's own that ask whether there are too many others",
    flaw: Some("one more than there are permits is let in"),
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let semaphore = InterProcessSemaphoreV2::new(zk, env, path, max_leases);
        Box::new(semaphore.deviating(Deviation {
            counts: Counts::Others,
            ..Deviation::NONE
        }))
    }),
    ..CURATOR
};
