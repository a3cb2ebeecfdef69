//! A queue of sequential nodes in which every waiter watches the whole queue: a herd.
//!
//! # Source
//!
//! The first version that most people write, and the contrast in Apache ZooKeeper, *Recipes and Solutions*, "Locks":
//! "there will be no herd effect".
//!
//! # Steps
//!
//! 1. Create `lock/guid-lock-` as an ephemeral sequential node.
//! 2. List the children of `lock`, and watch them.
//! 3. If our node is the lowest, we hold the lock.
//! 4. Otherwise wait until a child comes or goes, and go to 2.
//!
//! # Guarantees
//!
//! - As for the predecessor watch: `mutual-exclusion`, `fifo`.
//!
//! # Hazards
//!
//! - Every arrival and every departure wakes every waiter, and each reads the whole list: quadratic notifications,
//!   cubic bytes (scenario `zookeeper/herd`).

use async_trait::async_trait;

use super::queue::{delete_own, make_ticket_with_guid, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-children-watch",
    summary: "A queue of sequential nodes in which every waiter watches the whole queue.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Locks' (as the contrast)",
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::GetChildren,
    ],
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(ChildrenWatch { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct ChildrenWatch {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for ChildrenWatch {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?; // Step 1.
        loop {
            let (children, changed) =
                until_answered(|| self.zk.children_and_watch(&self.lock)).await?; // Step 2.
            let index = children.sorted_by_sequence().position(ticket.name());
            drop(children);
            match index {
                None => return Err(LockError::PlaceLost),
                Some(0) => {
                    return Ok(Held::at(ticket.path).with_token(ticket.czxid.0)); // Step 3.
                }
                Some(_) => {
                    changed.next().await; // Step 4.
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
