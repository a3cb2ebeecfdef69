//! A queue of sequential nodes of which every waiter keeps a copy, by one watch on all of it that stays: a herd that
//! reads nothing.
//!
//! # Source
//!
//! Apache Curator 5, `CuratorCache` over `PersistentWatcher`, and locks on top of such a cache: one list, and from then
//! on events alone.
//!
//! # Steps
//!
//! 1. Leave a watch on `lock` that stays and is recursive.
//! 2. Create `lock/guid-lock-` as an ephemeral sequential node.
//! 3. List the children of `lock`, and note those that are ahead of ours.
//! 4. If none is ahead of ours, take back the watch: we hold the lock.
//! 5. Otherwise wait for an event. A deletion: strike that node out, and go to 4. A connection again: there are no
//!    events for what happened meanwhile, so go to 3.
//!
//! # Guarantees
//!
//! - As for the predecessor watch: `mutual-exclusion`, `fifo`. What was ahead when we listed is all that can ever be
//!   ahead, and the event of a change comes after the change.
//!
//! # Hazards
//!
//! - Every waiter gets an event of every arrival and every departure: quadratic notifications, though no waiter reads
//!   the list again (scenario `zookeeper/herd`).
//! - A waiter that does not list again after a reconnect waits for what is long gone (scenario
//!   `zookeeper/missed-while-away`, and `recursive_watch_trusting`).
//! - A cancelled `acquire` leaves its ticket, as that of the predecessor watch does.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::queue::{Ticket, delete_own, make_ticket_with_guid, number, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    EventType, Path, SessionState, Watch, WatchSide, ZooKeeper, until_answered,
};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-recursive-watch",
    summary: "A queue of which every waiter keeps a copy, by one recursive watch that stays.",
    source: "Apache Curator 5, CuratorCache and PersistentWatcher",
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::Exists,
        RequestKind::GetChildren,
        RequestKind::AddWatch,
        RequestKind::RemoveWatches,
    ],
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(RecursiveWatch::new(zk, env, lock))),
    ..super::predecessor_watch::RECIPE
};

/// The lock; its sibling sets `lists_again` to false.
pub(super) struct RecursiveWatch {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    pub(super) lists_again: bool,
}

impl RecursiveWatch {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path) -> Self {
        Self {
            zk,
            env,
            lock,
            lists_again: true,
        }
    }

    /// Step 3: the numbers of the tickets ahead of ours.
    async fn ahead_of(&self, ticket: &Ticket) -> Result<BTreeSet<u64>, LockError> {
        let children = until_answered(|| self.zk.children(&self.lock)).await?;
        if !children.names().any(|name| **name == *ticket.name()) {
            return Err(LockError::PlaceLost);
        }
        let mut ahead: BTreeSet<u64> = children.names().map(|name| number(name)).collect();
        ahead.split_off(&ticket.sequence());
        Ok(ahead)
    }

    /// Steps 3 to 5.
    async fn wait_for_turn(&self, ticket: &Ticket, changes: &Watch) -> Result<(), LockError> {
        let mut ahead = self.ahead_of(ticket).await?;
        while !ahead.is_empty() {
            let event = changes.next().await;
            match event.kind {
                EventType::NodeDeleted if event.path == ticket.path => {
                    return Err(LockError::PlaceLost);
                }
                EventType::NodeDeleted => {
                    ahead.remove(&number(&event.path));
                }
                EventType::Session(SessionState::Connected) if self.lists_again => {
                    ahead = self.ahead_of(ticket).await?;
                }
                EventType::Session(SessionState::Closed) => return Err(LockError::SessionExpired),
                // A later ticket is behind ours.
                EventType::Session(_)
                | EventType::NodeCreated
                | EventType::NodeDataChanged
                | EventType::NodeChildrenChanged
                | EventType::DataWatchRemoved
                | EventType::ChildWatchRemoved
                | EventType::PersistentWatchRemoved => {}
            }
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Lock for RecursiveWatch {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let changes = until_answered(async || self.zk.add_watch(&self.lock, true).await).await?; // Step 1.
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?; // Step 2.
        self.wait_for_turn(&ticket, &changes).await?;
        // Whatever becomes of the connection, we do not listen any more.
        self.zk
            .remove_all_watches(&self.lock, WatchSide::Any, true)
            .await?; // Step 4.
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
