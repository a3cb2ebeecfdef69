//! `same_name`, except that the node is a persistent one: nothing ties it to its maker. Must be caught by
//! `incidents/hbase-16144`.

use super::same_name::SameName;
use crate::clients::zookeeper::CreateMode;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-persistent",
    summary: "The single node, but a persistent one, which outlives the session of its maker.",
    source: "HBASE-16144: the lock of a replication queue, with hbase.zookeeper.useMulti=false",
    flaw: Some("the node of the dead stays for ever"),
    build: Build::ZooKeeper(&|zk, _env, lock| {
        let mut lock = SameName::new(zk, &lock);
        lock.mode = CreateMode::Persistent;
        Box::new(lock)
    }),
    ..super::same_name::RECIPE
};
