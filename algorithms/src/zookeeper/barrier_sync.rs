//! `barrier`, whose waiters have their server catch up first.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, section "Barriers"; *Programmer's Guide*, "Consistency Guarantees": a
//! client that must see what another client was told calls `sync` before it reads.
//!
//! # Steps
//!
//! As `barrier`, with `sync(b)` before each step 1.
//!
//! # Guarantees
//!
//! - No contender passes while the barrier stands (`barrier`), unless the leader that answers the `sync` has been
//!   deposed and does not know (scenario `zookeeper/sync-at-a-deposed-leader`).
//! - All go on when it is removed (`progress`).
//!
//! # Hazards
//!
//! - Those of `barrier`, but for the server that is behind (scenario `zookeeper/barrier-at-a-server-behind`).

use super::barrier::Barrier;
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
    RequestKind::Sync,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-barrier-sync",
    summary: "The same, but a waiter has its server catch up before each look.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Barriers'; Programmer's Guide, 'Consistency Guarantees'",
    flaw: None,
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, _env, path| {
        let mut barrier = Barrier::new(zk, &path);
        barrier.syncs = true;
        Box::new(barrier)
    }),
    ..super::barrier::RECIPE
};
