//! `predecessor_watch`, except that names begin with the session, and the queue is sorted by whole names. Must be
//! caught by `incidents/zookeeper-2931`.

use async_trait::async_trait;

use super::queue::{child, delete_own, if_there, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-sorted-by-name",
    summary: "The predecessor watch, but sorted by whole names, which begin with the session.",
    source: "ZOOKEEPER-2931: WriteLock of the recipes that come with ZooKeeper, before 3.5.4",
    flaw: Some("a lower session comes before a lower number"),
    build: Build::ZooKeeper(&|zk, _env, lock| Box::new(SortedByName { zk, lock })),
    ..super::predecessor_watch::RECIPE
};

struct SortedByName {
    zk: ZooKeeper,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for SortedByName {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let session = format!("x-{:016x}", self.zk.session().0);
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &session).await?;
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?;
            let mut names: Vec<_> = children.names().collect();
            names.sort_unstable();
            match names.iter().position(|name| name.as_ref() == ticket.name()) {
                None => return Err(LockError::PlaceLost),
                Some(0) => return Ok(Held::at(ticket.path).with_token(ticket.czxid.0)),
                Some(index) => {
                    let ahead = child(&self.lock, names[index - 1]);
                    let watch = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
                    if let Some(gone) = if_there(watch) {
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
