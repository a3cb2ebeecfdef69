//! `same_name`, except that a waiter heeds nothing but the deletion of the node. Must be caught by
//! `zookeeper/recreated-while-away`: a waiter that was away while the node was deleted and made again is told, when it
//! is back, that its data has changed.
//!
//! Seen in the wild: watchers that ask for `EventType.NodeDeleted`, and do not watch again otherwise.

use async_trait::async_trait;

use super::queue::session_lost;
use super::same_name::{SameName, held};
use crate::clients::zookeeper::{EventType, ZkError, until_answered};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-same-name-deleted-only",
    summary: "The single node, whose waiters wait for NodeDeleted and for nothing else.",
    source: "Tutorials whose watcher asks for EventType.NodeDeleted",
    flaw: Some("a watch fires once, and after a reconnect it may say NodeDataChanged"),
    build: Build::ZooKeeper(&|zk, _env, lock| Box::new(DeletedOnly(SameName::new(zk, &lock)))),
    ..super::same_name::RECIPE
};

struct DeletedOnly(SameName);

#[async_trait(?Send)]
impl Lock for DeletedOnly {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let SameName { zk, node, mode } = &self.0;
        loop {
            match zk.create_with_stat(node, b"", *mode).await {
                Ok((_, stat)) => return Ok(held(node, &stat)),
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
                Some(stat) if stat.ephemeral_owner == zk.session() => {
                    return Ok(held(node, &stat));
                }
                // The flaw: after any other event, the node is no longer watched.
                Some(_) => {
                    while changed
                        .next_about_node()
                        .await
                        .map_err(|_| LockError::SessionExpired)?
                        .kind
                        != EventType::NodeDeleted
                    {}
                }
                None => {}
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.0.zk).await
    }
}
