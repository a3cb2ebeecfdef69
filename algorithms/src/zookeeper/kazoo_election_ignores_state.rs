//! `kazoo_election`, except that the leader function does not listen to the connection. Must be caught by
//! `zookeeper/cut-off-leader`.

use super::kazoo_election::{Election, LeaderFunction};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-election-ignores-state",
    summary: "kazoo's Election whose leader function ignores the state of the connection.",
    source: "kazoo 2.11, recipe/election.py, Election.run: the example in its documentation",
    flaw: Some("the leader function is not told that its connection, or its session, is lost"),
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(Election::new(zk, &env, path, LeaderFunction::GoesOn))
    }),
    ..super::kazoo_election::RECIPE
};
