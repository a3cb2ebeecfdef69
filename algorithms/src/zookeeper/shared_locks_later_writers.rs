//! `shared_locks`, except that a reader waits for any writer there is, also for one that came after it and waits for it
//! in turn. Must be caught by `zookeeper/shared-locks`.
//!
//! Seen in the wild: kazoo #649. Its `ReadLock` counted all write nodes as its contenders until commit 9bb8499.

use std::rc::Rc;

use super::shared_locks::{SharedLocks, WAITS_FOR, WaitsFor, is_writer, nearest_writer};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-shared-locks-later-writers",
    summary: "Readers and writers in one queue, in which a reader waits until there is no writer at all.",
    source: "kazoo #649",
    flaw: Some("a reader waits for a writer that waits for it"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        let waits_for = WaitsFor {
            reader: any_writer,
            ..WAITS_FOR
        };
        Box::new(SharedLocks::new(zk, env, lock, waits_for))
    }),
    ..super::shared_locks::RECIPE
};

/// The nearest writer ahead, or else the flaw: one behind.
fn any_writer(queue: &[Rc<str>], ours: usize) -> Option<&Rc<str>> {
    let ahead = nearest_writer(queue, ours);
    ahead.or_else(|| queue[ours..].iter().find(|name| is_writer(name)))
}
