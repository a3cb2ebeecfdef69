//! `curator_leader_selector`, except that the `stateChanged` of its listener cancels leadership when the connection is
//! lost, and not when it is suspended. Must be caught by `zookeeper/cut-off-leader`.

use super::curator_leader_selector::{self, LeaderSelector, StateChanged};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-selector-lost-only",
    summary: "Curator's LeaderSelector whose listener cancels leadership on LOST alone.",
    source: "A LeaderSelectorListener that waits for ConnectionState.LOST; Tech Notes 10, 14",
    flaw: Some(
        "the session is given up when the connection has been lost for its whole timeout: long after the server has",
    ),
    build: Build::ZooKeeper(&|zk, env, path| {
        let state_changed = StateChanged::CancelsWhenLost;
        Box::new(LeaderSelector::new(zk, env, path, state_changed))
    }),
    ..curator_leader_selector::RECIPE
};
