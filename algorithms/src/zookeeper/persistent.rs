//! `same_name`, except that the node is a persistent one: nothing ties it to its maker. Must be caught by
//! `incidents/hbase-16144`.

use super::same_name::{CLAIMS, SameName};
use crate::clients::zookeeper::CreateMode;
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-persistent",
    summary: "The single node, but a persistent one, which outlives the session of its maker.",
    source: "HBASE-16144: the lock of a replication queue, with hbase.zookeeper.useMulti=false",
    flaw: Some("the node of the dead stays for ever"),
    claims: CLAIMS,
    ownership: OwnershipRule::NODE,
    requests: super::same_name::REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, _env, lock| {
        let mut lock = SameName::new(zk, &lock);
        lock.mode = CreateMode::Persistent;
        Box::new(lock)
    }),
};
