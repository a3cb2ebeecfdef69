//! The lock service of etcd, called by a client that does not renew its lease.
//!
//! # Source
//!
//! etcd, `api/v3lock`: "the lock will expire when the lease does"; the member renews nothing for its caller.
//!
//! # Steps
//!
//! Those of [`v3lock`], but step 1 keeps nothing alive.
//!
//! # Guarantees
//!
//! - Those of [`v3lock`], as long as waiting and section together are shorter than the lease.
//!
//! # Hazards
//!
//! - The key goes while its owner is in its section, and the next one enters (scenario `etcd/long-section`).

use super::OverEtcd;
use super::v3lock::{self, V3Lock};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-v3lock-unrenewed",
    summary: "The lock service of etcd, without a renewal of the lease.",
    source: "etcd 3.5, api/v3lock, as clients call it that drive no keep-alive stream",
    flaw: Some("the lease is not renewed, and ends in a section that takes longer"),
    requests: &[
        RequestKind::Lock,
        RequestKind::Unlock,
        RequestKind::LeaseGrant,
    ],
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(V3Lock::new(client, lock, false))
    })),
    ..v3lock::RECIPE
};
