//! `predecessor_watch` whose watcher looks at the queue itself, in its callback, on the client's event thread.
//!
//! # Source
//!
//! ZooKeeper Programmer's Guide, *Java Binding*: watchers are called on one thread, one after the other; a synchronous
//! call from a callback is answered, and holds up all other events meanwhile. ZooKeeper's own `WriteLock` works so.
//!
//! # Steps
//!
//! 1. Create `lock/guid-lock-` as an ephemeral sequential node: take a ticket.
//! 2. List the children of `lock`, and leave a watch on the node just ahead of ours. If there is none, we hold the
//!    lock.
//! 3. When the watch fires, its callback goes to 2 and returns, whether another is ahead or not.
//!
//! # Guarantees
//!
//! - Those of [`predecessor_watch`](super::predecessor_watch).
//!
//! # Hazards
//!
//! - Those of [`predecessor_watch`](super::predecessor_watch).
//! - While a callback asks, all other events of the process wait. One that waits for an event waits for ever
//!   ([`acquire_in_callback`](super::acquire_in_callback), scenario `zookeeper/acquire-in-callback`).

use async_trait::async_trait;

use super::queue::{
    Ticket, delete_own, if_there, make_ticket_with_guid, predecessor, session_lost,
};
use crate::clients::zookeeper::{Path, Watch, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-callback-watch",
    summary: "The predecessor watch whose watcher looks at the queue itself, in its callback, and returns.",
    source: "ZooKeeper Programmer's Guide, Java Binding; ZooKeeper's recipes, WriteLock",
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(CallbackWatch::new(zk, env, lock))),
    ..super::predecessor_watch::RECIPE
};

pub(super) struct CallbackWatch {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    /// The callback of step 3 returns, or waits until the lock is held.
    pub callback_returns: bool,
}

impl CallbackWatch {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path) -> Self {
        Self {
            zk,
            env,
            lock,
            callback_returns: true,
        }
    }

    /// Step 2: a watch on the node ahead, or `None` if ours is the first.
    async fn look(&self, ticket: &Ticket) -> Result<Option<Watch>, LockError> {
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?;
            let Some(ahead) = predecessor(children, &self.lock, ticket)? else {
                return Ok(None);
            };
            let watch = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
            if let Some(gone) = if_there(watch) {
                return Ok(Some(gone));
            }
        }
    }

    /// Looks, and waits for the ticket ahead, until none is ahead.
    async fn wait_for_turn(&self, ticket: &Ticket) -> Result<(), LockError> {
        while let Some(gone) = self.look(ticket).await? {
            gone.next().await;
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Lock for CallbackWatch {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?; // Step 1.
        let mut ahead = self.look(&ticket).await?;
        while let Some(gone) = ahead {
            gone.next().await;
            ahead = match self.callback_returns {
                true => self.zk.in_callback(self.look(&ticket)).await?, // Step 3.
                false => {
                    self.zk.in_callback(self.wait_for_turn(&ticket)).await?;
                    None
                }
            };
        }
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
