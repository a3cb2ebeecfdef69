//! `same_name_polling_blind` as it is printed: `lock` sleeps and calls itself again whether the node was made or not.
//! Must be caught by `zookeeper/lost-create-reply`: no contender ever holds the lock.
//!
//! Seen in the wild: the listing of a tutorial, in which `return` is missing after the create.

use super::same_name_polling_blind::ZkDistributedLock;
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-same-name-polling-printed",
    summary: "The single node, polled even by the contender that made it.",
    source: "ZkDistributedLock of a tutorial, 'basic implementation', as it is printed",
    flaw: Some("lock() tries again although it has the lock"),
    requests: &[RequestKind::Create],
    build: Build::ZooKeeper(&|zk, env, lock| {
        let mut lock = ZkDistributedLock::new(zk, env, &lock);
        lock.returns = false;
        Box::new(lock)
    }),
    ..super::same_name::RECIPE
};
