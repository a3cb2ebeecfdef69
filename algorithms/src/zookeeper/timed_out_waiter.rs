//! `predecessor_watch` that waits for as long as a session may be silent, and then gives up without its node. Must be
//! caught by `zookeeper/timed-out-waiter`: the node stays in the queue, for its session lives on.
//!
//! Seen in the wild: `ZooKeeperLock` of latch-based tutorials. `lock` returns false when `countDownLatch.await` does,
//! after the session timeout, and does not delete `currentLock`.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{delete_own, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe, timeout};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-timed-out-waiter",
    summary: "The predecessor watch that gives up after a session timeout, and leaves its node where it is.",
    source: "ZooKeeperLock of latch-based tutorials: lock and waitOtherLock",
    flaw: Some("the node of a waiter that has given up stays in the queue"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(TimedOutWaiter { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct TimedOutWaiter {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for TimedOutWaiter {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        let turn = wait_for_turn(&self.zk, &self.lock, &ticket);
        // The flaw: the node stays.
        let came = timeout(&self.env, self.zk.timeout(), turn).await;
        came.unwrap_or(Err(LockError::AcquireTimeout))?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
