//! `predecessor_watch`, except that the fencing token is the ticket's sequence number. Must be caught by
//! `zookeeper/parent-recreated`: a lock node that was deleted and is made again counts from zero.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{delete_own, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-sequence-token",
    summary: "The predecessor watch, with the sequence number as fencing token.",
    source: "Tutorials that call the sequence number a fencing token",
    flaw: Some("the numbers start again at zero when the lock's own node is made again"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(SequenceToken { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct SequenceToken {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for SequenceToken {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        wait_for_turn(&self.zk, &self.lock, &ticket).await?;
        let token = ticket.sequence();
        Ok(Held::at(ticket.path).with_token(token))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
