//! Shared locks whose holders can be asked to give them back, by a message in the data of their nodes.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, "Revocable Shared Locks": the lock of `shared_locks` with one step more.
//! Posts on locks over ZooKeeper describe the same as a way out when a reader holds its lock for too long.
//!
//! # Steps
//!
//! 1. As step 1 of `shared_locks`, as a reader or as a writer. Right after it, read the data of our own node, with a
//!    watch. If it is `unlock` already, the lock was asked for: remember that.
//! 2. As steps 2 to 5 there.
//! 3. When the watch tells that the data was set, read it again, with the watch in the same call. If it is `unlock`,
//!    give the lock back, at once if we hold it, and otherwise as soon as we do. When it tells that the node is gone,
//!    we hold nothing any more.
//!
//! # Guarantees
//!
//! - As of `shared_locks`.
//! - A holder gives the lock back when it is asked to, whenever after step 1 it was asked: others get the lock though
//!   the section would last for longer than they can wait (`progress`). The second sentence of step 1 is not in the
//!   documentation. Without it a request that comes before the watch is not seen (`revocable_shared_locks_no_look`,
//!   scenario `zookeeper/revoked-early`).
//!
//! # Hazards
//!
//! - As of `shared_locks`.
//! - A holder must consent. The documentation lets the revoker delete the node after some time instead; then a holder
//!   that has not noticed goes on beside the next one, as with the fault `delete-node` (scenario
//!   `zookeeper/holders-node-deleted`).
//! - To begin to watch only when the lock is held misses a request that comes while we wait
//!   (`revocable_shared_locks_held_watch`, scenario `zookeeper/revoked-waiter`).

use async_trait::async_trait;

use super::revocation::{OwnNodeEvent, RevocationRequest};
use super::shared_locks::{READ, SharedLocks, WAITS_FOR, WRITE};
use crate::clients::zookeeper::{Path, Watch, ZkError, ZkResult, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe, RecipeInput, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-revocable-shared-locks",
    summary: "Readers and writers in one queue, all of which can be asked by their nodes' data to give the lock back.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Revocable Shared Locks'",
    inputs: INPUTS,
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(RevocableSharedLocks::new(
            zk,
            env,
            lock,
            FirstRead::LooksAtData,
        ))
    }),
    ..super::shared_locks::RECIPE
};

/// What it goes by.
pub(super) const INPUTS: &[RecipeInput] = &[RecipeInput::Revocation(UNLOCK)];

/// The data of a node whose holder is asked to give the lock back.
const UNLOCK: &str = "unlock";

/// When the data is read for the first time, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstRead {
    /// Right after step 1, for the data and the watch.
    LooksAtData,
    /// Right after step 1, for the watch alone.
    WatchesOnly,
    /// When the lock is held, for the watch alone.
    WatchesWhenHeld,
}

/// The lock.
pub(super) struct RevocableSharedLocks {
    locks: SharedLocks,
    first_read: FirstRead,
    /// The request that this hold be given back.
    request: RevocationRequest,
}

impl RevocableSharedLocks {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path, first_read: FirstRead) -> Self {
        Self {
            locks: SharedLocks::new(zk, env, lock, WAITS_FOR),
            first_read,
            request: RevocationRequest::default(),
        }
    }

    /// Steps 1 and 2, with this mark in the name.
    async fn take(&mut self, mark: &str) -> Result<Held, LockError> {
        self.request = RevocationRequest::default();
        let when_made = async |own: &Path| match self.first_read {
            FirstRead::LooksAtData | FirstRead::WatchesOnly => self.listen(own).await,
            FirstRead::WatchesWhenHeld => Ok(()),
        };
        let ticket = self.locks.queue(mark, when_made).await?;
        if self.first_read == FirstRead::WatchesWhenHeld {
            self.listen_when_held(&ticket.path);
        }
        let held = Held::at(ticket.path);
        Ok(match mark {
            READ => held,
            _ => held.with_token(ticket.czxid.0),
        })
    }

    /// The second half of step 1; and step 3 for as long as the node is there.
    async fn listen(&self, own: &Path) -> ZkResult<()> {
        let zk = self.locks.zk.clone();
        let (own, request) = (Path::clone(own), self.request.clone());
        let (is_asked, changed) = read(&zk, &own).await?;
        if is_asked && self.first_read == FirstRead::LooksAtData {
            request.make();
        }
        self.locks.env.spawn(async move {
            // An error here means that the session is gone.
            let _no_more = on_revocation(&zk, &own, changed, &request).await;
        });
        Ok(())
    }

    /// The same, for a lock that first reads when it is held.
    fn listen_when_held(&self, own: &Path) {
        let zk = self.locks.zk.clone();
        let (own, request) = (Path::clone(own), self.request.clone());
        self.locks.env.spawn(async move {
            if let Ok((_, changed)) = read(&zk, &own).await {
                let _no_more = on_revocation(&zk, &own, changed, &request).await;
            }
        });
    }
}

/// Step 3.
async fn on_revocation(
    zk: &ZooKeeper,
    own: &Path,
    mut changed: Watch,
    request: &RevocationRequest,
) -> ZkResult<()> {
    loop {
        match changed.next().await.kind.into() {
            OwnNodeEvent::DataChanged => {}
            OwnNodeEvent::Other => continue,
            OwnNodeEvent::Over => return Ok(()),
            OwnNodeEvent::Deleted => {
                request.node_gone();
                return Ok(());
            }
        }
        let (is_asked, next) = match read(zk, own).await {
            Err(ZkError::NoNode) => {
                request.node_gone();
                return Ok(());
            }
            answer => answer?,
        };
        changed = next;
        if is_asked {
            request.make();
        }
    }
}

/// Whether the data asks for the lock, and the watch of the same call.
async fn read(zk: &ZooKeeper, own: &Path) -> ZkResult<(bool, Watch)> {
    let (data, _, changed) = until_answered(|| zk.data_and_watch(own)).await?;
    Ok((*data == *UNLOCK.as_bytes(), changed))
}

#[async_trait(?Send)]
impl Lock for RevocableSharedLocks {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.take(WRITE).await
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.take(READ).await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.locks.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        select(self.locks.lost(held), self.request.made()).await
    }
}
