//! `curator_leader_latch`, except that a lost connection does not end a term, but only a lost session does. Must be
//! caught by `zookeeper/cut-off-leader`.

use super::curator_leader_latch::{Deviation, LeaderLatch};
use crate::clients::curator::ErrorPolicy;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-latch-session-policy",
    summary: "Curator's LeaderLatch whose leader waits until the session is lost.",
    source: "Apache Curator 5.7, SessionConnectionStateErrorPolicy; Tech Note 14",
    flaw: Some(
        "the session is given up when the connection has been lost for its whole timeout: long after the server has",
    ),
    build: Build::ZooKeeper(&|zk, env, path| {
        let deviation = Deviation {
            policy: ErrorPolicy::Session,
            ..Deviation::NONE
        };
        Box::new(LeaderLatch::new(zk, env, path, deviation))
    }),
    ..super::curator_leader_latch::RECIPE
};
