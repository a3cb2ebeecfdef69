//! `predecessor_watch` that takes whatever goes wrong for an empty place ahead. Must be caught by
//! `zookeeper/lost-create-in-lock`: the create has thrown, the node ahead is never looked up, and not waited for.
//!
//! Seen in the wild: `ZooKeeperLock` of latch-based tutorials. `tryLock` prints its exception and returns false, with
//! `waitLock` unset; `waitOtherLock` asks for the node `/locks/null`, which does not exist, and takes that for a lock
//! that is free.

use async_trait::async_trait;

use super::queue::{child, delete_own, if_there, make_ticket, predecessor, session_lost};
use crate::clients::zookeeper::{Path, ZkError, ZooKeeper, until_answered};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-error-is-acquired",
    summary: "The predecessor watch, which waits for the node null if anything was thrown before.",
    source: "ZooKeeperLock of latch-based tutorials: tryLock and waitOtherLock",
    flaw: Some("any exception counts as acquired"),
    build: Build::ZooKeeper(&|zk, _env, lock| {
        Box::new(ZooKeeperLock {
            zk,
            root_lock_node: lock,
        })
    }),
    ..super::predecessor_watch::RECIPE
};

/// The lock, with the names that it was published with.
struct ZooKeeperLock {
    zk: ZooKeeper,
    root_lock_node: Path,
}

impl ZooKeeperLock {
    /// The flaw: what is waited for if `tryLock` has thrown. There is no such node, so the wait is over at once.
    fn null(&self) -> Path {
        child(&self.root_lock_node, "null")
    }
}

#[async_trait(?Send)]
impl Lock for ZooKeeperLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let prefix = child(&self.root_lock_node, "lock-");
        let ticket = match make_ticket(&self.zk, &prefix).await {
            Ok(ticket) => ticket,
            // The handle is of no use any more, and the contender makes another.
            Err(error @ ZkError::SessionExpired) => return Err(error.into()),
            Err(_printed) => return Ok(Held::at(self.null())),
        };
        loop {
            let wait_lock = match self.zk.children(&self.root_lock_node).await {
                Ok(nodes) => predecessor(nodes, &self.root_lock_node, &ticket)?,
                Err(error @ ZkError::SessionExpired) => return Err(error.into()),
                Err(_printed) => None,
            };
            let Some(wait_lock) = wait_lock else {
                return Ok(Held::at(ticket.path).with_token(ticket.czxid.0));
            };
            let watch = until_answered(|| self.zk.exists_and_watch(&wait_lock)).await?;
            if let Some(gone) = if_there(watch) {
                gone.next().await;
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
