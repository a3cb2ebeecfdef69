//! `curator_mutex`, except that a contender that has waited for long enough leaves, and its node stays. Must be caught
//! by `zookeeper/timed-acquire`.

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-leftover",
    summary: "Curator's InterProcessMutex whose timed acquire gives up without deleting its node.",
    source: "CURATOR-79, CURATOR-462; kazoo #732: a waiter that gives up leaves its place behind",
    flaw: Some("the node of a waiter that has given up stays for as long as its session lives"),
    claims: CLAIMS,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let deviation = Deviation {
            deletes_our_path: false,
            ..Deviation::NONE
        };
        Box::new(InterProcessMutex::new(zk, env, lock, deviation))
    }),
    ..super::curator_mutex::RECIPE
};
