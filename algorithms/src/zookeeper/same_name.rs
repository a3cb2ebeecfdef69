//! One ephemeral node: the contender that makes it holds the lock, and all others watch it: a herd of writes.
//!
//! # Source
//!
//! The "simple lock" of countless tutorials.
//!
//! # Steps
//!
//! 1. Create `lock/holder` as an ephemeral node. If it was made, we hold the lock.
//! 2. If it exists, watch it, and wait until it changes.
//! 3. Go to 1.
//!
//! # Guarantees
//!
//! - One node, so one owner (`mutual-exclusion`).
//!
//! # Hazards
//!
//! - Each release wakes every waiter, and each of them sends a create, of which all but one fail; a failed create is
//!   a transaction like any other (scenario `zookeeper/herd`).
//! - The quickest client gets it: not `fifo`, and a slow client may starve.
//! - The node belongs to its session. Another thread that shares the session takes it for its own (scenario
//!   `zookeeper/shared-session`).
//! - The name is used again. A client that deletes it by name, without looking whose it is, deletes another's lock
//!   (`blind_unlock`, scenario `zookeeper/lost-delete-reply`), and so does an operator who takes it for stale (scenario
//!   `zookeeper/stale-lock-clean-up`).

use async_trait::async_trait;

use super::queue::{child, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{CreateMode, Path, Stat, ZkError, ZooKeeper, until_answered};
use crate::{Build, Claim, Held, Lock, LockError, OwnershipRule, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-same-name",
    summary: "One ephemeral node: the contender that makes it holds the lock, all others watch it.",
    source: "The simple lock of many tutorials",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::NODE,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, _env, lock| Box::new(SameName::new(zk, &lock))),
};

/// What it promises: no order.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

pub(super) struct SameName {
    pub zk: ZooKeeper,
    pub node: Path,
    /// What kind of node it makes.
    pub mode: CreateMode,
}

impl SameName {
    pub fn new(zk: ZooKeeper, lock: &str) -> Self {
        Self {
            zk,
            node: child(lock, "holder"),
            mode: CreateMode::Ephemeral,
        }
    }
}

/// The hold of the contender that created the node.
pub(super) fn held(node: &Path, stat: &Stat) -> Held {
    Held::at(Path::clone(node)).with_token(stat.czxid.0)
}

#[async_trait(?Send)]
impl Lock for SameName {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Self { zk, node, mode } = self;
        loop {
            match zk.create_with_stat(node, b"", *mode).await {
                Ok((_, stat)) => return Ok(held(node, &stat)), // Step 1.
                Err(
                    ZkError::NodeExists
                    | ZkError::ConnectionLoss
                    | ZkError::NoServer
                    | ZkError::RequestTimeout,
                ) => {}
                Err(error) => return Err(error.into()),
            }
            let (there, changed) = until_answered(|| zk.exists_and_watch(node)).await?;
            match there {
                // A create of ours whose answer was lost.
                Some(stat) if stat.ephemeral_owner == zk.session() => {
                    return Ok(held(node, &stat));
                }
                Some(_) => {
                    changed.next().await; // Step 2.
                }
                None => {} // It is gone already.
            }
        }
    }

    /// After a lost answer the node may be another's already, so look whose it is before deleting again.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        loop {
            match self.zk.delete(&held.path_or_key, None).await {
                Ok(()) | Err(ZkError::NoNode) => return Ok(()),
                Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                    let there = until_answered(|| self.zk.exists(&held.path_or_key)).await?;
                    if there.is_none_or(|stat| Some(stat.czxid.0) != held.token) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
