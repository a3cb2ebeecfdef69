//! `recursive_watch`, except that it takes a watch that stays for one that misses nothing, and does not list again
//! after a reconnect. Must be caught by `zookeeper/missed-while-away`.

use super::recursive_watch::RecursiveWatch;
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-recursive-watch-trusting",
    summary: "The recursive watch, without another look after a reconnect.",
    source: "Apache ZooKeeper, DataTree.setWatches: for watches that stay nothing is made up",
    flaw: Some("a watch that stays gets no events for what happened while its client was away"),
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::GetChildren,
        RequestKind::AddWatch,
        RequestKind::RemoveWatches,
    ],
    build: Build::ZooKeeper(&|zk, env, lock| {
        let mut trusting = RecursiveWatch::new(zk, env, lock);
        trusting.lists_again = false;
        Box::new(trusting)
    }),
    ..super::predecessor_watch::RECIPE
};
