//! `curator_mutex_revocable`, except that the client reads a request without the watcher. Must be caught by
//! `zookeeper/revoked-twice`.

use super::curator_mutex::SecondRead;
use super::curator_mutex_revocable::RevocableMutex;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-revocable-once",
    summary: "A revocable InterProcessMutex that does not set its watcher again when it reads a request.",
    source: "Apache Curator 5.4, InterProcessMutex.makeRevocable, without usingWatcher in the second read",
    flaw: Some("its watcher sees the first change of its node, and no later one"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        // The flaw: the second read sets no watch.
        let second_read = SecondRead::Once;
        Box::new(RevocableMutex::new(zk, env, lock, second_read))
    }),
    ..super::curator_mutex_revocable::RECIPE
};
