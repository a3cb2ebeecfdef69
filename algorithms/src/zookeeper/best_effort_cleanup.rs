//! `predecessor_watch` with a timed acquire, which deletes its node once when it gives up, and does not look
//! whether that was done. Must be caught by `incidents/kazoo-732`.

use std::time::Duration;

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{Ticket, delete_own, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe, timeout};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-best-effort-cleanup",
    summary: "The predecessor watch whose timed acquire deletes its node once, and swallows the error.",
    source: "kazoo #732 and #760: Lock._best_effort_cleanup",
    flaw: Some("a delete that has failed leaves the node of a failed acquire in the queue"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(BestEffortCleanup { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct BestEffortCleanup {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

impl BestEffortCleanup {
    async fn queue_up(&self) -> Result<Ticket, LockError> {
        let guid = self.env.guid();
        Ok(make_ticket_with_guid(&self.zk, &self.lock, &guid).await?)
    }
}

#[async_trait(?Send)]
impl Lock for BestEffortCleanup {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = self.queue_up().await?;
        wait_for_turn(&self.zk, &self.lock, &ticket).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        let ticket = self.queue_up().await?;
        let turn = wait_for_turn(&self.zk, &self.lock, &ticket);
        match timeout(&self.env, time, turn).await {
            Some(came) => came?,
            None => {
                let _swallowed = self.zk.delete(&ticket.path, None).await;
                return Err(LockError::AcquireTimeout);
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
