//! A queue of sequential nodes in which every waiter lists the queue again and again.
//!
//! # Source
//!
//! The second version of many tutorials ("optimisation"): `ZkDistributedLock` with `getpreNode`, as it is meant.
//!
//! # Steps
//!
//! 1. Create `lock/guid-lock-` as an ephemeral sequential node.
//! 2. List the children of `lock`. If there is none with a lower number (`getpreNode`), we hold the lock.
//! 3. Otherwise sleep for 20 ms, and go to 2.
//!
//! # Guarantees
//!
//! - As for the predecessor watch: `mutual-exclusion`, `fifo`.
//!
//! # Hazards
//!
//! - Every waiter reads the whole queue fifty times a second. None is woken.
//! - A place that is taken before the lock is wanted blocks all behind it, and is good for once
//!   (`polling_queue_constructor`); a waiter that compares its own number with itself sees none ahead
//!   (`polling_queue_printed`); one that searches for the highest number above zero misses the number zero
//!   (`polling_queue_from_one`): scenario `zookeeper/polling-queue`.

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::queue::{Ticket, delete_own, make_ticket_with_guid, number, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The requests that it makes, but for the look-up after a lost answer.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::GetChildren,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-polling-queue",
    summary: "A queue of sequential nodes in which every waiter lists the queue fifty times a second.",
    source: "ZkDistributedLock of many tutorials, with sequential nodes, as it was meant",
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(PollingQueue::new(zk, env, lock, pre_node))),
    ..super::predecessor_watch::RECIPE
};

/// How long a waiter sleeps.
pub(super) const SLEEP: Duration = Duration::from_millis(20);

/// `getpreNode`: the node ahead of this one, of all that there are.
pub(super) type PreNode = fn(&[Rc<str>], &Ticket) -> Option<Rc<str>>;

/// The node with the highest number below ours.
pub(super) fn pre_node(nodes: &[Rc<str>], path: &Ticket) -> Option<Rc<str>> {
    let ahead = nodes.iter().filter(|node| number(node) < path.sequence());
    ahead.max_by_key(|node| number(node)).cloned()
}

pub(super) struct PollingQueue {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    pre_node: PreNode,
}

impl PollingQueue {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path, pre_node: PreNode) -> Self {
        Self {
            zk,
            env,
            lock,
            pre_node,
        }
    }
}

#[async_trait(?Send)]
impl Lock for PollingQueue {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?; // Step 1.
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?;
            let nodes: Vec<Rc<str>> = children.names().cloned().collect();
            if !nodes.iter().any(|node| **node == *ticket.name()) {
                return Err(LockError::PlaceLost);
            }
            if (self.pre_node)(&nodes, &ticket).is_none() {
                return Ok(Held::at(ticket.path).with_token(ticket.czxid.0)); // Step 2.
            }
            self.env.sleep(SLEEP).await; // Step 3.
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
