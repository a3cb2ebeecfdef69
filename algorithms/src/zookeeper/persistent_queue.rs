//! `predecessor_watch`, except that its nodes are persistent: nothing ties a place in the queue to its maker. Must be
//! caught by `zookeeper/persistent-nodes`.
//!
//! Seen in the wild: tutorials that give every request a child of the lock's node, and the lock to the lowest ("option
//! 2"), before they come to speak of ephemeral nodes.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{Ticket, delete_own, look_up_by_guid, prefix, session_lost};
use crate::clients::zookeeper::{CreateMode, Path, ZkError, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-persistent-queue",
    summary: "The predecessor watch in a queue of persistent nodes.",
    source: "Tutorials that give the lock to the lowest child, before they speak of ephemeral nodes",
    flaw: Some("the place of the dead stays in the queue for ever"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(PersistentQueue { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct PersistentQueue {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

impl PersistentQueue {
    async fn queue_up(&self) -> ZkResult<Ticket> {
        let guid = self.env.guid();
        let prefix = prefix(&self.lock, &guid);
        loop {
            // The flaw: not EphemeralSequential.
            let mode = CreateMode::PersistentSequential;
            match self.zk.create_with_stat(&prefix, b"", mode).await {
                Ok((path, stat)) => return Ok(Ticket::new(path, stat.czxid)),
                Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                    if let Some(ticket) = look_up_by_guid(&self.zk, &self.lock, &guid).await? {
                        return Ok(ticket);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for PersistentQueue {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = self.queue_up().await?;
        wait_for_turn(&self.zk, &self.lock, &ticket).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
