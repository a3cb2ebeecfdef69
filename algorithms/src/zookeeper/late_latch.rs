//! `predecessor_watch`, except that the latch is made when the watch is set. Must be caught by `zookeeper/late-latch`:
//! what the watcher is told before there is a latch opens none.
//!
//! Seen in the wild: `ZooKeeperLock` of latch-based tutorials, which calls `zk.exists(waitLockNode, true)` first, and
//! then `countDownLatch = new CountDownLatch(1)`; its `process` does nothing while that is null.

use async_trait::async_trait;

use super::queue::{delete_own, if_there, make_ticket_with_guid, predecessor, session_lost};
use crate::clients::zookeeper::{Path, Watch, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-late-latch",
    summary: "The predecessor watch, which passes over what it was told before it began to wait.",
    source: "ZooKeeperLock of latch-based tutorials: waitOtherLock and process",
    flaw: Some("the node ahead may go between the answer and the latch"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(LateLatch { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct LateLatch {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

/// The flaw: forgets the events that have come so far.
async fn reset(watch: &Watch) {
    let has_event = async || {
        watch.next().await;
        true
    };
    while select(has_event(), async { false }).await {}
}

#[async_trait(?Send)]
impl Lock for LateLatch {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?;
            let Some(wait_lock) = predecessor(children, &self.lock, &ticket)? else {
                return Ok(Held::at(ticket.path).with_token(ticket.czxid.0));
            };
            let watch = until_answered(|| self.zk.exists_and_watch(&wait_lock)).await?;
            if let Some(gone) = if_there(watch) {
                reset(&gone).await;
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
