//! `barrier_sync`, except that whoever is told of anything goes on. Must be caught by `zookeeper/barrier-blip`.

use super::barrier::Barrier;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-barrier-any-event",
    summary: "The barrier with sync, of which whoever is told of anything goes on without another look.",
    source: "The latch in a watcher of many tutorials: process() counts it down whatever the event is",
    flaw: Some("a watch is told of the connection, too, and the barrier stands still"),
    build: Build::ZooKeeper(&|zk, _env, path| {
        let mut barrier = Barrier::new(zk, &path);
        barrier.syncs = true;
        barrier.looks_again = false;
        Box::new(barrier)
    }),
    ..super::barrier_sync::RECIPE
};
