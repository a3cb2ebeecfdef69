//! `curator_read_write_lock` before 5.5, whose downgraded reads stand behind the writers that wait.
//!
//! # Source
//!
//! Apache Curator 5.4; CURATOR-276, CURATOR-621.
//!
//! # Steps
//!
//! As those of [`curator_read_write_lock`], but for one: the read node of a thread that holds the write lock is made as
//! any other, and has the next number.
//!
//! # Hazards
//!
//! - A writer that waits has the lower number. When the thread gives back the write, the writer is the first, and comes
//!   in beside the read (scenario `zookeeper/lock-downgrade`).

use super::curator_read_write_lock::{self, BY_NUMBER, InterProcessReadWriteLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-read-write-lock-new-place",
    summary: "curator-read-write-lock before 5.5, where a read under the write gets the next number.",
    source: "Apache Curator 5.4, InterProcessReadWriteLock; CURATOR-276, CURATOR-621",
    flaw: Some("a writer that waits comes in beside the read that a writer has downgraded to"),
    build: Build::ZooKeeper(&|zk, env, path| {
        let lock = InterProcessReadWriteLock::new(zk, env, path, &BY_NUMBER);
        Box::new(lock.with_new_places())
    }),
    ..curator_read_write_lock::RECIPE
};
