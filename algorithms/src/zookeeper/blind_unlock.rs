//! `same_name`, except that a release whose answer was lost is repeated by name, without looking whose node it is by
//! now. Must be caught by `zookeeper/lost-delete-reply`.

use async_trait::async_trait;

use super::queue::{delete_own, session_lost};
use super::same_name::SameName;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-blind-unlock",
    summary: "The single node, but a release whose answer was lost is repeated blindly.",
    source: "Retry wrappers around delete in many client libraries",
    flaw: Some("by the time of the second delete, the node may be the next holder's"),
    build: Build::ZooKeeper(&|zk, _env, lock| Box::new(BlindUnlock(SameName::new(zk, &lock)))),
    ..super::same_name::RECIPE
};

struct BlindUnlock(SameName);

#[async_trait(?Send)]
impl Lock for BlindUnlock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.acquire().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.0.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.0.zk).await
    }
}
