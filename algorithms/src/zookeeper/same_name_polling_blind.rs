//! `same_name_polling` as it was published: whatever comes of a create or a delete is printed, and forgotten. Must be
//! caught by `zookeeper/lost-create-reply`: the node exists, its own maker is told so, and waits for it.
//!
//! Seen in the wild: `ZkDistributedLock` of many tutorials, with a session of its own for all locks. Its `lock` goes on
//! when the create has thrown, its `unlock` when the delete has.

use async_trait::async_trait;

use super::queue::session_lost;
use super::same_name::{SameName, held};
use super::same_name_polling::SLEEP;
use crate::clients::RequestKind;
use crate::clients::zookeeper::{CreateMode, Path, ZkError, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[RequestKind::Create, RequestKind::Delete];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-same-name-polling-blind",
    summary: "The single node, polled: whatever a create or a delete throws is printed, and forgotten.",
    source: "ZkDistributedLock of many tutorials, 'basic implementation', as it was meant",
    flaw: Some(
        "a contender whose create has lost its answer waits for itself, and a failed delete is not repeated",
    ),
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(ZkDistributedLock::new(zk, env, &lock))),
    ..super::same_name::RECIPE
};

/// The lock, with the names that it was published with.
pub(super) struct ZkDistributedLock {
    zoo_keeper: ZooKeeper,
    env: Env,
    path: Path,
    /// Whether `lock` returns when the node was made. The printed one does not.
    pub(super) returns: bool,
}

impl ZkDistributedLock {
    pub(super) fn new(zoo_keeper: ZooKeeper, env: Env, lock: &str) -> Self {
        let SameName { zk, node, .. } = SameName::new(zoo_keeper, lock);
        Self {
            zoo_keeper: zk,
            env,
            path: node,
            returns: true,
        }
    }
}

#[async_trait(?Send)]
impl Lock for ZkDistributedLock {
    /// `lock`.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            let mode = CreateMode::Ephemeral;
            let made = self.zoo_keeper.create_with_stat(&self.path, b"", mode);
            match made.await {
                Ok((_, stat)) if self.returns => return Ok(held(&self.path, &stat)),
                // The handle is of no use any more, and the contender makes another.
                Err(error @ ZkError::SessionExpired) => return Err(error.into()),
                Ok(_) | Err(_) => {}
            }
            self.env.sleep(SLEEP).await;
        }
    }

    /// `unlock`. Version zero is that of every node whose data was never set.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let _printed = self.zoo_keeper.delete(&self.path, Some(0)).await;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zoo_keeper).await
    }
}
