//! `shared_locks`, except that a reader takes its ticket only when there is no writer, also none that waits. Must be
//! caught by `zookeeper/starved-reader`.
//!
//! # Source
//!
//! Courtois, Heymans, and Parnas, *Concurrent Control with "Readers" and "Writers"*, 1971, problem 2: once a writer is
//! ready to write, it writes as soon as possible.
//!
//! # Steps
//!
//! Those of `shared_locks_readers_first`, with readers and writers swapped: readers announce themselves, and give way.
//!
//! # Hazards
//!
//! - As long as writers come before the last one has left, no reader gets its turn (`bounded-bypass`, scenario
//!   `zookeeper/starved-reader`).

use super::shared_locks_readers_first::Preference;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-shared-locks-writers-first",
    summary: "A queue of readers and writers, which a reader joins only when there is no writer.",
    source: "Courtois, Heymans, Parnas, 'Concurrent Control with Readers and Writers', 1971, problem 2",
    flaw: Some("a reader waits for as long as writers come"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(Preference::writers_first(zk, env, lock))),
    ..super::shared_locks_readers_first::RECIPE
};
