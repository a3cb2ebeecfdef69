//! BROKEN ON PURPOSE. `callback_watch` whose callback waits until the lock is held.
//!
//! # Source
//!
//! Apache Curator, Tech Note 1 (*ZooKeeper watches are single threaded*): a lock must not be acquired in a watcher.
//!
//! # Steps
//!
//! Those of [`callback_watch`], but the callback of step 3 waits for the node ahead to go.
//!
//! # Guarantees
//!
//! - All that its sibling has, but for `progress` and `no-orphan`.
//!
//! # Hazards
//!
//! - The event that it waits for comes on the thread that it waits on. If the node that went was a waiter's and not the
//!   holder's, no event wakes the waiter again: it waits for ever, and so does every contender behind it (scenario
//!   `zookeeper/acquire-in-callback`).

use super::callback_watch::{self, CallbackWatch};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-acquire-in-callback",
    summary: "BROKEN: the predecessor watch whose watcher waits in its callback until the lock is held.",
    source: "Apache Curator, Tech Note 1",
    flaw: Some("only the event thread can bring what its callback waits for"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        let mut lock = CallbackWatch::new(zk, env, lock);
        lock.callback_returns = false;
        Box::new(lock)
    }),
    ..callback_watch::RECIPE
};
