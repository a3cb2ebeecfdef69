//! Curator's old `InterProcessSemaphore`, which `InterProcessSemaphoreV2` has replaced.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessSemaphore`, deprecated; `LockInternals` with `maxLeases`.
//!
//! # Steps
//!
//! As `curator_mutex`, but for two:
//! 1. Whose node is among the first `maxLeases` of the queue has a lease.
//! 2. A client whose node has the index `i` otherwise watches the one at `i - maxLeases`.
//!
//! # Guarantees
//!
//! - No more hold a lease than the service says there are. A node that goes wakes one at the most.
//!
//! # Hazards
//!
//! - Of the leases ahead, it is not the watched one that need go first. If it is another, the next in the queue has a
//!   permit and is not told, until the watched one goes, too: a permit lies idle (scenario
//!   `zookeeper/semaphore-idle-permit`). `curator_semaphore` watches all leases.
//! - Those of `curator_mutex`.

use std::time::Duration;

use async_trait::async_trait;

use super::curator_mutex::{Deviation, InterProcessMutex};
use crate::clients::curator::{Curator, CuratorConfig};
use crate::lock::BASIC_CLAIMS;
use crate::ownership_rule::{as_many_as_permits, every_child};
use crate::{Build, Env, Held, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore-v1",
    summary: "Curator's old InterProcessSemaphore: a queue of which the first few hold a lease, and a listener.",
    source: "Apache Curator 5.4, InterProcessSemaphore, LockInternals",
    flaw: Some("a waiter watches one of the leases ahead, and is not told when another goes"),
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::of_leases(LockKind::Semaphore, every_child, as_many_as_permits),
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let client = Curator::of_process(zk, env, CuratorConfig::default());
        let internals = InterProcessMutex::on(client, path, Deviation::NONE);
        Box::new(InterProcessSemaphore(internals.leasing(max_leases)))
    }),
    ..super::curator_mutex::RECIPE
};

/// The semaphore. A contender takes one lease at a time, so that the mutex never counts a second entry.
struct InterProcessSemaphore(InterProcessMutex);

#[async_trait(?Send)]
impl Lock for InterProcessSemaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.acquire().await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.0.acquire_within(time).await
    }

    /// `returnLease`.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.0.lost(held).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }

    fn for_task(&self, _env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Self(self.0.of_thread())))
    }
}
