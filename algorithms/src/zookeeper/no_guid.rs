//! `predecessor_watch`, except that step 1 creates again when the answer is lost, without a guid to tell whether the
//! first create was done. Must be caught by `zookeeper/lost-create-reply`.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{child, delete_own, make_ticket, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-no-guid",
    summary: "The predecessor watch, but without a guid in the node's name.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Recoverable Errors and the GUID'",
    flaw: Some("a create whose answer was lost leaves a node that its own maker waits behind"),
    build: Build::ZooKeeper(&|zk, _env, lock| Box::new(NoGuid { zk, lock })),
    ..super::predecessor_watch::RECIPE
};

struct NoGuid {
    zk: ZooKeeper,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for NoGuid {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let prefix = child(&self.lock, "lock-");
        let ticket = until_answered(async || make_ticket(&self.zk, &prefix).await).await?;
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
