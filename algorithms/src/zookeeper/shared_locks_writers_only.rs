//! `shared_locks`, except that the rules of readers and writers are swapped: a writer waits for writers alone, and so
//! comes in with the readers that are ahead of it. Must be caught by `zookeeper/shared-locks`.
//!
//! Seen in the wild: read-write locks written from memory, in which "wait for the write node ahead" is the rule of
//! both.

use super::shared_locks::{SharedLocks, WAITS_FOR, WaitsFor, nearest_writer};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-shared-locks-writers-only",
    summary: "Readers and writers in one queue, in which both wait for the writer ahead of them.",
    source: "Read-write locks written from memory",
    flaw: Some("a writer does not wait for the readers ahead of it"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        // The flaw: a writer waits as a reader does.
        let waits_for = WaitsFor {
            writer: nearest_writer,
            ..WAITS_FOR
        };
        Box::new(SharedLocks::new(zk, env, lock, waits_for))
    }),
    ..super::shared_locks::RECIPE
};
