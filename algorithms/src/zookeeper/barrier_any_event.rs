//! `barrier_sync`, except that a waiter goes on after any event. Must be caught by `zookeeper/barrier-blip`.

use super::barrier::Barrier;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-barrier-any-event",
    summary: "The barrier with sync, whose waiters go on after any event, without another look.",
    source: "The latch in a watcher of many tutorials: process() counts it down whatever the event is",
    flaw: Some("a watch reports the connection, too, while the barrier still stands"),
    build: Build::ZooKeeper(&|zk, _env, path| {
        let mut barrier = Barrier::new(zk, &path);
        barrier.syncs = true;
        barrier.looks_again = false;
        Box::new(barrier)
    }),
    ..super::barrier_sync::RECIPE
};
