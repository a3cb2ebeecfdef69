//! `curator_leader_selector`, except that the `stateChanged` of its listener does nothing. Must be caught by
//! `zookeeper/cut-off-leader`.

use super::curator_leader_selector::{LeaderSelector, StateChanged};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-selector-ignores-state",
    summary: "Curator's LeaderSelector whose listener ignores the state of the connection.",
    source: "A LeaderSelectorListener with an empty stateChanged; Tech Note 10",
    flaw: Some("the leader is not told that its connection, or its session, is lost"),
    build: Build::ZooKeeper(&|zk, env, path| {
        let state_changed = StateChanged::IsIgnored;
        Box::new(LeaderSelector::new(zk, env, path, state_changed))
    }),
    ..super::curator_leader_selector::RECIPE
};
