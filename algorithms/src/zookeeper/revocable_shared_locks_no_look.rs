//! `revocable_shared_locks` as it is printed: the first read of its own node is for the watch alone. Must be caught by
//! `zookeeper/revoked-early`.

use super::revocable_shared_locks::{FirstRead, RevocableSharedLocks};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-revocable-shared-locks-no-look",
    summary: "Revocable shared locks that do not look at the data when they set their watch.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Revocable Shared Locks', as printed",
    flaw: Some("a request that comes before the watch is set is never seen"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        // The flaw: what is read is thrown away.
        let first_read = FirstRead::WatchesOnly;
        Box::new(RevocableSharedLocks::new(zk, env, lock, first_read))
    }),
    ..super::revocable_shared_locks::RECIPE
};
