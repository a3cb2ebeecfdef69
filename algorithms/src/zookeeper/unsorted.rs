//! `predecessor_watch`, except that it takes the list of children for the queue. Must be caught by
//! `zookeeper/unsorted-children`: the list is in no particular order.

use async_trait::async_trait;

use super::queue::{child, delete_own, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-unsorted",
    summary: "The predecessor watch, but in the order in which the children happen to be listed.",
    source: "Apache ZooKeeper, Programmer's Guide: 'getChildren' promises no order",
    flaw: Some("the list of children is in no particular order"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(Unsorted { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct Unsorted {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for Unsorted {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?;
            let names: Vec<_> = children.names().collect();
            match names.iter().position(|name| name.as_ref() == ticket.name()) {
                None => return Err(LockError::PlaceLost),
                Some(0) => {
                    return Ok(Held::at(ticket.path).with_token(ticket.czxid.0));
                }
                Some(index) => {
                    let ahead = child(&self.lock, names[index - 1]);
                    let (there, gone) = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
                    if there.is_some() {
                        gone.next().await;
                    }
                }
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
