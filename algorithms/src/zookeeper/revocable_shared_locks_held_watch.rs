//! `revocable_shared_locks`, except that it begins to watch its own node when it holds the lock. Must be caught by
//! `zookeeper/revoked-waiter`.
//!
//! Seen in the wild: posts that have "the client that holds the lock" listen for `unlock` in the data of its node.

use super::revocable_shared_locks::{FirstRead, RevocableSharedLocks};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-revocable-shared-locks-held-watch",
    summary: "Revocable shared locks that watch their node once they are held, and not before.",
    source: "Posts on locks over ZooKeeper, revocation by an 'unlock' message",
    flaw: Some("a request that comes while it waits is never seen"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        // The flaw: a waiter does not watch for requests.
        let first_read = FirstRead::WatchesWhenHeld;
        Box::new(RevocableSharedLocks::new(zk, env, lock, first_read))
    }),
    ..super::revocable_shared_locks::RECIPE
};
