//! `curator_double_barrier`, except that a process that is woken enters, as Curator's did until July 2026. Must be
//! caught by `zookeeper/barrier-reconnect`.

use super::curator_double_barrier::{DistributedDoubleBarrier, Wakes};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-double-barrier-any-wake",
    summary: "Curator's DistributedDoubleBarrier before GH-1290: a process that is woken enters.",
    source: "Apache Curator 5.9, DistributedDoubleBarrier.internalEnter; GH-1290",
    flaw: Some(
        "the watcher wakes for the connection, too, and a process that is woken enters without a look",
    ),
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(DistributedDoubleBarrier::new(zk, env, path, Wakes::Enter))
    }),
    ..super::double_barrier::RECIPE
};
