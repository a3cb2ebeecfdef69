//! `predecessor_watch`, except that a process keeps the path of the lock in a static, and sets it once. Must be caught
//! by `zookeeper/one-path-for-all-locks`: a process that has taken another lock before queues in that lock's node.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{delete_own, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-first-path",
    summary: "The predecessor watch in the node of the lock that the process has taken first, whichever it takes.",
    source: "A lock kept as a singleton",
    flaw: Some("the process keeps one path for all of its locks"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(FirstPath { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

/// The path of the lock that the process has taken first.
struct LockPath(Path);

struct FirstPath {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for FirstPath {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let first = || LockPath(Path::clone(&self.lock));
        let LockPath(lock) = &*self.env.process_wide(first);
        let ticket = make_ticket_with_guid(&self.zk, lock, &guid).await?;
        wait_for_turn(&self.zk, lock, &ticket).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
