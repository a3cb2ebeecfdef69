//! etcd's election as its releases have it: a candidate does not look whether its own key is still there.
//!
//! # Source
//!
//! etcd, `client/v3/concurrency/election.go`, up to 3.6 and later; pull request 22387.
//!
//! # Steps
//!
//! Those of [`election`] without step 5.
//!
//! # Guarantees
//!
//! - Those of [`election`], as long as the session of no candidate ends.
//!
//! # Hazards
//!
//! - A candidate whose session has ended is elected when the key ahead is deleted, though its own key is gone (scenario
//!   `etcd/dead-candidate`).

use super::OverEtcd;
use super::election::{self, Election};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-election-3-6",
    summary: "etcd's election as its releases have it.",
    source: "etcd 3.6, client/v3/concurrency/election.go; pull request 22387",
    flaw: Some("a candidate whose session has ended is elected"),
    build: Build::Other(&OverEtcd(&|client, env, lock| {
        Box::new(Election::new(client, env, lock, false))
    })),
    ..election::RECIPE
};
