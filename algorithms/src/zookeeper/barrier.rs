//! The ZooKeeper recipe for barriers: all wait while a node is there, and go on when it is removed.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, section "Barriers". Step numbers are the recipe's; the barrier node is
//! `b`. Which client makes and removes it, and how, is left open there.
//!
//! # Steps
//!
//! To set the barrier (`acquire`): `create(b, PERSISTENT)`. If it is there already, the barrier stands.
//!
//! To wait (`acquire_shared`):
//! 1. `exists(b, true)`.
//! 2. If it is false, the barrier is gone: go on.
//! 3. Otherwise wait for a watch event.
//! 4. When there is one, go to 1: it may be of the connection, and the barrier may have been set again.
//!
//! To remove the barrier (`release`): `delete(b)`. If it is not there, it is gone.
//!
//! The node is no session's. When one has expired, the steps go on in a new one.
//!
//! # Guarantees
//!
//! - All go on when the barrier is removed (`progress`).
//! - No contender that reads at a server that has seen the barrier passes while it stands.
//!
//! # Hazards
//!
//! - A server that is behind has not seen the barrier yet, and answers step 1 with false, although its setter has been
//!   told that it stands (scenario `zookeeper/barrier-at-a-server-behind`). `barrier_sync` waits for the server first.
//! - A setter that dies leaves the barrier standing until another client removes it.
//! - A barrier that is set again before a waiter looks again keeps that waiter: step 4 wants to see it gone.
//! - The removal notifies all waiters at once: as many notifications as there are waiters, and a look each.

use std::future::pending;

use async_trait::async_trait;

use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    CreateMode, Path, SessionState, ZkError, ZkResult, ZooKeeper, until_answered,
};
use crate::{Build, Claim, Held, Lock, LockError, OwnershipRule, Recipe};

/// What a barrier promises.
pub(super) const CLAIMS: &[Claim] = &[Claim::Progress, Claim::Barrier];

/// The name of the node below that of the lock.
pub(super) const BARRIER: &str = "barrier";

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-barrier",
    summary: "All wait while a node is there, and look again after every event.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Barriers'",
    flaw: Some(
        "a server that is behind does not show the barrier yet, and is not asked to catch up",
    ),
    claims: CLAIMS,
    ownership: OwnershipRule::BARRIER,
    requests: REQUESTS,
    inputs: &[],
    cancellable: false,
    shareable: false,
    build: Build::ZooKeeper(&|zk, _env, path| Box::new(Barrier::new(zk, &path))),
};

pub(super) struct Barrier {
    zk: ZooKeeper,
    b: Path,
    /// Whether this object has set it, and is to remove it.
    has_set: bool,
    /// Whether the server catches up with the leader before each look.
    pub syncs: bool,
    /// Whether a waiter looks again after an event.
    pub looks_again: bool,
}

impl Barrier {
    pub fn new(zk: ZooKeeper, path: &Path) -> Self {
        Self {
            zk,
            b: child(path, BARRIER),
            has_set: false,
            syncs: false,
            looks_again: true,
        }
    }

    /// Repeats a call until it is answered, in a new session if the last one is over.
    async fn answered<T>(
        &mut self,
        call: impl AsyncFn(&ZooKeeper, &Path) -> ZkResult<T>,
    ) -> ZkResult<T> {
        loop {
            if self.zk.state() == SessionState::Closed {
                self.zk = self.zk.renew();
            }
            match until_answered(|| call(&self.zk, &self.b)).await {
                Err(ZkError::SessionExpired | ZkError::SessionMoved) => {}
                answer => return answer,
            }
        }
    }

    async fn wait(&mut self) -> ZkResult<()> {
        loop {
            if self.syncs {
                self.answered(async |zk, b| zk.sync(b).await).await?;
            }
            let look = async |zk: &ZooKeeper, b: &Path| zk.exists_and_watch(b).await;
            let (there, changed) = self.answered(look).await?; // Step 1.
            if there.is_none() {
                return Ok(()); // Step 2.
            }
            changed.next().await; // Step 3.
            if !self.looks_again {
                return Ok(());
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for Barrier {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let create =
            async |zk: &ZooKeeper, b: &Path| zk.create(b, b"", CreateMode::Persistent).await;
        self.has_set = true;
        match self.answered(create).await {
            Ok(_) | Err(ZkError::NodeExists) => Ok(Held::at(Path::clone(&self.b))),
            Err(error) => Err(error.into()),
        }
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.has_set = false;
        self.wait().await?;
        Ok(Held::at(Path::clone(&self.b)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        if !self.has_set {
            return Ok(());
        }
        match self.answered(async |zk, b| zk.delete(b, None).await).await {
            Ok(()) | Err(ZkError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The setter is not told when another client removes the barrier, or sets it again.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
