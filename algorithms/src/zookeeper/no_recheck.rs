//! `predecessor_watch`, except that step 5 takes being woken for holding. Must be caught by
//! `zookeeper/waiter-death`.
//!
//! Seen in the wild: latch-based tutorials that return from `lock()` as soon as the watched node is gone.

use async_trait::async_trait;

use super::queue::{delete_own, make_ticket_with_guid, predecessor, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-no-recheck",
    summary: "The predecessor watch, but being woken counts as holding.",
    source: "Tutorials that wait on a latch for the predecessor's deletion",
    flaw: Some("the node ahead may have belonged to another waiter, not to the holder"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(NoRecheck { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct NoRecheck {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for NoRecheck {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        let children = until_answered(|| self.zk.children(&self.lock)).await?;
        if let Some(ahead) = predecessor(children, &self.lock, &ticket)? {
            let (there, gone) = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
            if there.is_some() {
                // The flaw: no look at the queue after this.
                gone.next_about_node()
                    .await
                    .map_err(|_| LockError::SessionExpired)?;
            }
        }
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
