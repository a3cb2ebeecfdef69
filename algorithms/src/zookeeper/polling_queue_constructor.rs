//! `polling_queue`, except that the place is taken when the lock object is made, in a persistent node. Must be caught
//! by `zookeeper/polling-queue`: an object that calls `lock` a second time has no node any more, finds none ahead of
//! it, and enters; and by `zookeeper/place-in-constructor`: an object that never calls it blocks all behind it.
//!
//! Seen in the wild: `ZkDistributedLock` of many tutorials, whose constructor makes a `PERSISTENT_SEQUENTIAL` node.

use std::rc::Rc;

use async_trait::async_trait;

use super::polling_queue::{REQUESTS, SLEEP, pre_node};
use super::queue::{Ticket, child, delete_own, session_lost};
use crate::clients::completion::{Answer, completion};
use crate::clients::zookeeper::{CreateMode, Path, ZkResult, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-polling-queue-constructor",
    summary: "The polled queue of persistent nodes, in which the lock object takes its place when it is made.",
    source: "ZkDistributedLock of many tutorials, with sequential nodes",
    flaw: Some("the place is there before the lock is wanted, and gone when it is wanted again"),
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(ZkDistributedLock::new(zk, env, lock))),
    ..super::polling_queue::RECIPE
};

/// The lock, with the names that it was published with.
struct ZkDistributedLock {
    zoo_keeper: ZooKeeper,
    env: Env,
    root_path: Path,
    path: Place,
}

/// What becomes of the create that the constructor asks for.
enum Place {
    Asked(Answer<ZkResult<Ticket>>),
    Made(Ticket),
    Failed(LockError),
}

impl ZkDistributedLock {
    fn new(zoo_keeper: ZooKeeper, env: Env, root_path: Path) -> Self {
        let (made, path) = completion();
        let (zk, prefix) = (zoo_keeper.clone(), child(&root_path, "lock_"));
        env.spawn(async move {
            let mode = CreateMode::PersistentSequential;
            let created = zk.create_with_stat(&prefix, b"", mode).await;
            made.complete(created.map(|(path, stat)| Ticket::new(path, stat.czxid)));
        });
        Self {
            zoo_keeper,
            env,
            root_path,
            path: Place::Asked(path),
        }
    }

    /// The path that the constructor has kept.
    async fn path(&mut self) -> Result<Ticket, LockError> {
        if let Place::Asked(asked) = &mut self.path {
            self.path = match asked.await {
                Ok(ticket) => Place::Made(ticket),
                Err(error) => Place::Failed(error.into()),
            };
        }
        match &self.path {
            Place::Made(ticket) => Ok(ticket.clone()),
            // It was printed, and there is no path.
            Place::Failed(error) => Err(*error),
            Place::Asked(_) => Err(LockError::NotHeld),
        }
    }
}

#[async_trait(?Send)]
impl Lock for ZkDistributedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let path = self.path().await?;
        loop {
            let children = until_answered(|| self.zoo_keeper.children(&self.root_path)).await?;
            let nodes: Vec<Rc<str>> = children.names().cloned().collect();
            // Whether `path` is among them is not checked.
            if pre_node(&nodes, &path).is_none() {
                return Ok(Held::at(path.path).with_token(path.czxid.0));
            }
            self.env.sleep(SLEEP).await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zoo_keeper, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zoo_keeper).await
    }
}
