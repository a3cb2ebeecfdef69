//! `no_recheck`, except that the latch opens on any event, and not on one of the node alone. Must be caught by
//! `zookeeper/waiter-blip`: the waiter's connection is lost and found again, and its watcher gets these events.
//!
//! Seen in the wild: `ZkDistributedLock` of many tutorials, whose watcher is `watchedEvent ->
//! countDownLatch.countDown()`, and whose `lock` returns behind `countDownLatch.await()`.

use async_trait::async_trait;

use super::queue::{delete_own, if_there, make_ticket_with_guid, predecessor, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-latch-any-event",
    summary: "The predecessor watch, but any event counts as holding.",
    source: "ZkDistributedLock of many tutorials, with a watch on the node ahead",
    flaw: Some(
        "a watcher is told when the connection is lost, too, and the node ahead is still there",
    ),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(LatchAnyEvent { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct LatchAnyEvent {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for LatchAnyEvent {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        let children = until_answered(|| self.zk.children(&self.lock)).await?;
        if let Some(ahead) = predecessor(children, &self.lock, &ticket)? {
            let watch = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
            if let Some(count_down_latch) = if_there(watch) {
                // The flaw, and no look at the queue after it.
                count_down_latch.next().await;
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
