//! The ZooKeeper recipe for shared locks: one queue of readers and writers.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, section "Shared Locks". Step numbers are the recipe's. How nodes are made
//! and cleaned up is that of `hardened`.
//!
//! # Steps
//!
//! To read:
//! 1. Create `lock/guid-read-` as an ephemeral sequential node: take a ticket.
//! 2. List the children of `lock`, without a watch.
//! 3. If no writer's ticket is lower than ours, we hold the lock.
//! 4. Otherwise watch the writer's ticket nearest below ours.
//! 5. On any event, go to 2.
//!
//! To write:
//! 1. Create `lock/guid-write-` as an ephemeral sequential node.
//! 2. List the children of `lock`, without a watch.
//! 3. If our ticket is the lowest of all, we hold the lock.
//! 4. Otherwise watch the ticket just ahead of ours, a reader's or a writer's.
//! 5. On any event, go to 2.
//!
//! # Guarantees
//!
//! - A writer owns the lock alone, and readers own it together (`mutual-exclusion`).
//! - Tickets are served in their order, and readers with readers: no writer starves (`fifo`).
//! - The end of a writer wakes all the readers that wait for it: they can all go on. The end of a reader wakes one at
//!   the most.
//!
//! # Hazards
//!
//! - As of `hardened`: a stalled holder believes for too long (scenario `zookeeper/shared-locks-pause`). A reader has
//!   no token, for it writes nothing; what it has read may be old.
//! - Readers that do not wait for a writer that waits starve it, and writers that do not wait for a reader that waits
//!   starve that (`shared_locks_readers_first`, scenario `zookeeper/starved-writer`; `shared_locks_writers_first`).
//! - To swap the rules of steps 3 and 4 lets a writer in with readers (`shared_locks_writers_only`, scenario
//!   `zookeeper/shared-locks`); to count later writers makes a reader and a writer wait for each other
//!   (`shared_locks_later_writers`).

use std::rc::Rc;

use async_trait::async_trait;

use super::hardened::{CleanupGuard, delete_for_certain, down_or_gone, take_ticket};
use super::queue::{Ticket, child};
use crate::clients::zookeeper::{Children, Path, ZkError, ZkResult, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Place, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-shared-locks",
    summary: "A queue of readers and writers: a reader waits for the writer ahead of it, a writer for either.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Shared Locks'",
    ownership: OWNERSHIP,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(SharedLocks::new(zk, env, lock, WAITS_FOR))),
    ..super::hardened::RECIPE
};

/// Who owns a queue of such tickets.
pub(super) const OWNERSHIP: OwnershipRule =
    OwnershipRule::readers_and_writers(|name| Some(Place::of_reader_if(name.contains(READ))));

/// Marks in the names of tickets.
pub(super) const READ: &str = "-read-";
pub(super) const WRITE: &str = "-write-";

/// The ticket to wait for, of all that there are in order, of which ours has the index `usize`.
pub(super) type Ahead = fn(&[Rc<str>], usize) -> Option<&Rc<str>>;

/// The tickets for which a reader and a writer wait.
#[derive(Clone, Copy)]
pub(super) struct WaitsFor {
    pub(super) reader: Ahead,
    pub(super) writer: Ahead,
}

/// Steps 3 and 4 of the recipe.
pub(super) const WAITS_FOR: WaitsFor = WaitsFor {
    reader: nearest_writer,
    writer: nearest,
};

/// The ticket just ahead.
pub(super) fn nearest(queue: &[Rc<str>], ours: usize) -> Option<&Rc<str>> {
    queue[..ours].last()
}

/// The nearest writer ahead.
pub(super) fn nearest_writer(queue: &[Rc<str>], ours: usize) -> Option<&Rc<str>> {
    queue[..ours].iter().rev().find(|name| is_writer(name))
}

/// Whether a ticket of this name is a writer's.
pub(super) fn is_writer(name: &str) -> bool {
    name.contains(WRITE)
}

/// The lock.
pub(super) struct SharedLocks {
    pub(super) zk: ZooKeeper,
    pub(super) env: Env,
    pub(super) lock: Path,
    waits_for: WaitsFor,
}

impl SharedLocks {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path, waits_for: WaitsFor) -> Self {
        Self {
            zk,
            env,
            lock,
            waits_for,
        }
    }

    /// Step 1, with this mark in the name, what is to be done as soon as the node is made, and steps 2 to 5.
    pub(super) async fn queue(
        &self,
        mark: &str,
        when_made: impl AsyncFnOnce(&Path) -> ZkResult<()>,
    ) -> Result<Ticket, LockError> {
        let exit = CleanupGuard::new(self.zk.clone(), self.env.clone(), Path::clone(&self.lock));
        let prefix: Path = [&*self.lock, "/", &exit.guid, mark].concat().into();
        let ticket = take_ticket(&self.zk, &self.lock, &exit.guid, &prefix).await?; // Step 1.
        when_made(&ticket.path).await?;
        let ahead = match mark {
            READ => self.waits_for.reader,
            _ => self.waits_for.writer,
        };
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?; // Step 2.
            let queue = in_order(&children);
            let ours = queue.iter().position(|name| **name == *ticket.name());
            let ours = ours.ok_or(LockError::PlaceLost)?;
            let Some(ahead) = ahead(&queue, ours) else {
                exit.not_needed();
                return Ok(ticket); // Step 3.
            };
            let ahead = child(&self.lock, ahead);
            match until_answered(|| self.zk.data_and_watch(&ahead)).await {
                Ok((_, _, gone)) => {
                    gone.next().await; // Steps 4 and 5.
                }
                Err(ZkError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The names of all tickets, in the order of their numbers.
pub(super) fn in_order(children: &Children) -> Vec<Rc<str>> {
    let queue = children.sorted_by_sequence();
    let names = (0..children.len()).filter_map(|position| queue.get(position));
    names.cloned().collect()
}

#[async_trait(?Send)]
impl Lock for SharedLocks {
    /// Takes the lock to write.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = self.queue(WRITE, async |_| Ok(())).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        Ok(Held::at(self.queue(READ, async |_| Ok(())).await?.path))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_for_certain(&self.zk, &self.env, held.path_or_key).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        down_or_gone(&self.zk, &held.path_or_key).await
    }
}
