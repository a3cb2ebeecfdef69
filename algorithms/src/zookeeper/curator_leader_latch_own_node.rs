//! `curator_leader_latch`, except that it leads by its present node alone, and by none that it has begun to delete.

use super::curator_leader_latch::{Deviation, LeaderLatch};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-latch-own-node",
    summary: "Curator's LeaderLatch that leads by its present node alone.",
    source: "Apache Curator 5.7, LeaderLatch; CURATOR-644, on two resets at once",
    build: Build::ZooKeeper(&|zk, env, path| {
        let deviation = Deviation {
            own_node_alone: true,
            ..Deviation::NONE
        };
        Box::new(LeaderLatch::new(zk, env, path, deviation))
    }),
    ..super::curator_leader_latch::RECIPE
};
