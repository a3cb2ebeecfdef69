//! `curator_read_write_lock`, except that its drivers sort nodes by their whole names, which begin with a guid. Must be
//! caught by `zookeeper/curator-read-write-lock`.
//!
//! Seen in the wild: drivers of one's own for Curator's `LockInternals` that leave out `fixForSorting`, of which the
//! interface says nothing.

use std::rc::Rc;

use super::curator_mutex::{CLAIMS, LockInternalsDriver, PredicateResults, REQUESTS};
use super::curator_read_write_lock::{InterProcessReadWriteLock, OWNERSHIP, read_lock_predicate};
use crate::clients::zookeeper::ZkResult;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-read-write-lock-unsorted",
    summary: "Curator's InterProcessReadWriteLock over drivers that sort nodes by their whole names.",
    source: "Drivers of one's own for Curator's LockInternals",
    flaw: Some("a lower guid comes before a lower number"),
    claims: CLAIMS,
    ownership: OWNERSHIP,
    requests: REQUESTS,
    inputs: &[crate::RecipeInput::WallClock],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, path| {
        let drivers = [&ReadDriver as &dyn LockInternalsDriver, &WriteDriver];
        Box::new(InterProcessReadWriteLock::new(zk, env, path, drivers))
    }),
};

struct WriteDriver;

impl LockInternalsDriver for WriteDriver {
    fn fix_for_sorting<'n>(&self, name: &'n str) -> &'n str {
        name // The flaw.
    }
}

struct ReadDriver;

impl LockInternalsDriver for ReadDriver {
    fn fix_for_sorting<'n>(&self, name: &'n str) -> &'n str {
        name // The flaw.
    }

    fn gets_the_lock<'c>(
        &self,
        children: &'c [Rc<str>],
        sequence_node_name: &str,
    ) -> ZkResult<PredicateResults<'c>> {
        read_lock_predicate(children, sequence_node_name)
    }
}
