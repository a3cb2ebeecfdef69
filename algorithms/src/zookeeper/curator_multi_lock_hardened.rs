//! `curator_multi_lock` over `curator_mutex_owner_check`, which listens to the connection while it waits for a lock.
//!
//! # Source
//!
//! As `curator_multi_lock`; Curator's Tech Note 10, which asks of every user of a lock to listen.
//!
//! # Steps
//!
//! As `curator_multi_lock`, but:
//! 1. Each lock is `curator_mutex_owner_check`. While it waits for a lock, it listens to the connection. If that is
//!    lost (SUSPENDED or LOST), or if a lock throws, it stops.
//!
//! # Guarantees
//!
//! - As `curator_multi_lock`; and what it comes back with it owned at once (`all-or-none`): a session does not end
//!   unheard in the middle of its call.
//!
//! # Hazards
//!
//! - Those of `curator_mutex_owner_check`, of each lock.
//! - As `curator_multi_lock`, but for `zookeeper/multi-lock-session-lost`.

use super::curator_multi_lock::{self, Deviation, InterProcessMultiLock};
use super::curator_mutex::{self, InterProcessMutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-multi-lock-hardened",
    summary: "curator-multi-lock that asks whose node it is, and gives up when the connection is lost while it waits.",
    source: "Apache Curator 5.4, InterProcessMultiLock; Tech Note 10",
    build: Build::MultiLockOverZooKeeper {
        each: &|zk, env, path| {
            let deviation = curator_mutex::Deviation {
                checks_owner: true,
                ..curator_mutex::Deviation::NONE
            };
            Box::new(InterProcessMutex::new(zk, env, path, deviation))
        },
        all: &InterProcessMultiLock {
            deviation: Deviation {
                listens: true,
                ..Deviation::NONE
            },
        },
    },
    ..curator_multi_lock::RECIPE
};
