//! `predecessor_watch` that counts its entries for each thread, with one counter for all locks. Must be caught by
//! `zookeeper/counter-of-all-locks`: a thread that holds one lock and acquires another has that without a node.
//!
//! Seen in the wild: `ZkDistributedLock` of many tutorials, re-entrant by `static final ThreadLocal<Integer>
//! THREAD_LOCAL`. Here it is set whichever way a thread was let in, which it is not as it is printed
//! (`counter_not_set`).

use super::counter_not_set::{Flaw, ZkDistributedLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-counter-of-all-locks",
    summary: "The predecessor watch with a counter for each thread, which is one for all locks.",
    flaw: Some("a thread that holds one lock enters all others without asking"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(ZkDistributedLock::new(zk, env, lock, Flaw::OfAllLocks))
    }),
    ..super::counter_not_set::RECIPE
};
