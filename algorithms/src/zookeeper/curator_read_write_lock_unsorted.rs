//! `curator_read_write_lock`, except that its drivers sort nodes by their whole names, which begin with a guid. Must be
//! caught by `zookeeper/curator-read-write-lock`.
//!
//! Seen in the wild: drivers of one's own for Curator's `LockInternals` that leave out `fixForSorting`, of which the
//! interface says nothing.

use super::curator_mutex::CLAIMS;
use super::curator_read_write_lock::{Drivers, InterProcessReadWriteLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-read-write-lock-unsorted",
    summary: "Curator's InterProcessReadWriteLock over drivers that sort nodes by their whole names.",
    source: "Drivers of one's own for Curator's LockInternals",
    flaw: Some("a lower guid comes before a lower number"),
    claims: CLAIMS,
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(InterProcessReadWriteLock::new(zk, env, path, &BY_NAME))
    }),
    ..super::curator_read_write_lock::RECIPE
};

/// The flaw: nothing is left out of a name.
static BY_NAME: Drivers = Drivers::sorting_by(|name| name);
