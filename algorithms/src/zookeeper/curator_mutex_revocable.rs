//! Curator's `InterProcessMutex` made revocable, with a listener that has its holder give it back.
//!
//! # Source
//!
//! Apache Curator 5.4: `Revocable.makeRevocable`, `RevocationListener`, `RevocationSpec`, `Revoker.attemptRevoke`, and
//! the watcher of `LockInternals`.
//!
//! # Steps
//!
//! Before each `acquire`, the lock is made revocable: to release it takes that back.
//! 1. As `curator_mutex`. As soon as our node is there, read its data, with the watcher.
//! 2. When the watcher is told that the data was set, read it again, with the watcher. If it is `__REVOKE__`, run the
//!    listener.
//! 3. The listener asks `isAcquiredInThisProcess`. If so, it tells the thread that holds the lock to release it: no
//!    other can. If the lock is not held yet, there is nothing to give back.
//!
//! # Guarantees
//!
//! - As of `curator_mutex`.
//! - A holder gives the lock back when it is asked to while it holds it, however often it was asked before
//!   (`progress`).
//!
//! # Hazards
//!
//! - As of `curator_mutex`.
//! - What the read of step 1 answers is thrown away: a request that comes before it is not seen (scenario
//!   `zookeeper/revoked-early`).
//! - To read again without the watcher, or to set it in a call of its own, misses the next request
//!   (`curator_mutex_revocable_once`, scenario `zookeeper/revoked-twice`).
//! - The watcher is told, too, that the node is gone, and acts on changed data alone: the holder goes on (scenario
//!   `zookeeper/holders-node-deleted`).
//! - A request to a node that still waits has no effect, and its sender is not told: it has to ask again when the lock
//!   is held. So it has if the read of step 2 fails for good, which is not repeated.
//!
//! Curator's node of a revocable lock has no data at first. Ours has the address of our host, which is never read.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex};
use super::curator_mutex::{REVOKE_MESSAGE, RevocationSpec, SecondRead};
use super::revocation::RevocationRequest;
use crate::clients::curator::{Curator, CuratorConfig};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe, RecipeInput, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-revocable",
    summary: "Curator's InterProcessMutex made revocable: a listener has it given back when another asks for it.",
    source: "Apache Curator 5.4, InterProcessMutex.makeRevocable, Revoker",
    claims: CLAIMS,
    inputs: INPUTS,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(RevocableMutex::new(zk, env, lock, SecondRead::WithWatcher))
    }),
    ..super::curator_mutex::RECIPE
};

/// What it goes by.
pub(super) const INPUTS: &[RecipeInput] = &[
    RecipeInput::WallClock,
    RecipeInput::LockNode,
    RecipeInput::TryAcquire,
    RecipeInput::Revocation(REVOKE_MESSAGE),
];

/// The mutex, and its listener.
pub(super) struct RevocableMutex {
    mutex: InterProcessMutex,
    second_read: SecondRead,
    is_acquired: Rc<Cell<bool>>,
    request: RevocationRequest,
}

impl RevocableMutex {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path, second_read: SecondRead) -> Self {
        let client = Curator::of_process(zk, env, CuratorConfig::default());
        Self {
            mutex: InterProcessMutex::on(client, lock, Deviation::NONE),
            second_read,
            is_acquired: Rc::default(),
            request: RevocationRequest::default(),
        }
    }

    fn make_revocable(&mut self) {
        self.request = RevocationRequest::default();
        self.mutex.make_revocable(RevocationSpec {
            second_read: self.second_read,
            is_acquired: Rc::clone(&self.is_acquired),
            request: self.request.clone(),
        });
    }
}

#[async_trait(?Send)]
impl Lock for RevocableMutex {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.make_revocable();
        let held = self.mutex.acquire().await?;
        self.is_acquired.set(true);
        Ok(held)
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.make_revocable();
        let held = self.mutex.acquire_within(time).await?;
        self.is_acquired.set(true);
        Ok(held)
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.is_acquired.set(false);
        self.mutex.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        select(self.mutex.lost(held), self.request.made()).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
