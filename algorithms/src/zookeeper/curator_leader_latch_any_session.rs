//! `curator_leader_latch` as it was before CURATOR-696: the latch whose node is the first leads, even if another
//! session has made the node. Must be caught by `incidents/curator-696`.

use super::curator_leader_latch::{Deviation, LeaderLatch};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-latch-any-session",
    summary: "Curator's LeaderLatch that leads by a node of an older session.",
    source: "CURATOR-653, CURATOR-696: LeaderLatch before Curator 5.7",
    flaw: Some("our node may be of a session that is about to end"),
    build: Build::ZooKeeper(&|zk, env, path| {
        let deviation = Deviation {
            checks_owner: false,
            ..Deviation::NONE
        };
        Box::new(LeaderLatch::new(zk, env, path, deviation))
    }),
    ..super::curator_leader_latch::RECIPE
};
