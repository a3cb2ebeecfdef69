//! `curator_mutex`, except that a contender whose node is first asks which session made it before it enters. Must hold
//! in `zookeeper/curator-outlived-session` and `zookeeper/curator-unheard-session`, where `curator_mutex` is caught.

use super::curator_mutex::{Deviation, InterProcessMutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-owner-check",
    summary: "Curator's InterProcessMutex that does not enter on the node of a session that it has given up.",
    source: "CURATOR-604; Apache Curator 5.4, LeaderLatch.checkLeadership (CURATOR-653)",
    build: Build::ZooKeeper(&|zk, env, lock| {
        let deviation = Deviation {
            checks_owner: true,
            ..Deviation::NONE
        };
        Box::new(InterProcessMutex::new(zk, env, lock, deviation))
    }),
    ..super::curator_mutex::RECIPE
};
