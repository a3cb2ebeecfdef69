//! `kazoo_semaphore` without its lock: it counts, and then creates. Must be caught by `zookeeper/semaphore`.

use super::kazoo_semaphore::{RECIPE as KAZOO, Semaphore};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-semaphore-unlocked",
    summary: "kazoo's Semaphore without the lock around the count.",
    source: "Semaphores of one's own: a read, and then a write",
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::Exists,
        RequestKind::GetChildren,
    ],
    flaw: Some("two count the leases before either has made its own"),
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let mut semaphore = Semaphore::new(zk, env, path, max_leases);
        semaphore.locks = false;
        Box::new(semaphore)
    }),
    ..KAZOO
};
