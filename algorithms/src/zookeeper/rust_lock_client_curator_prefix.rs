//! `rust_lock_client`, except that nodes have Curator's prefix, with which `zookeeper-client` 0.11.1 looks for the node
//! of a create that was dropped, and deletes it by its name. Must be caught by `incidents/curator-79`.

use super::curator_mutex::REQUESTS;
use super::rust_lock_client::{LockPrefixKind, RustLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "rust-lock-client-curator-prefix",
    summary: "The LockClient of zookeeper-client for Rust with LockPrefix::new_curator.",
    source: "zookeeper-client 0.11.1 for Rust, LockPrefix::new_curator, delete_ephemeral_background",
    flaw: Some("the node of a create that was dropped is deleted by its name, which is no path"),
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, dir| {
        let kind = LockPrefixKind::Curator;
        Box::new(RustLock { zk, env, dir, kind })
    }),
    ..super::rust_lock_client::RECIPE
};
