//! `predecessor_watch` that counts its entries for each thread, and begins to count only if it had to wait. Must be
//! caught by `zookeeper/counter-not-set`: the first in the queue has nothing to count down, and `unlock` throws before
//! it has deleted the node.
//!
//! Seen in the wild: `ZkDistributedLock` of many tutorials, re-entrant by `static final ThreadLocal<Integer>
//! THREAD_LOCAL`. The counter is one for all locks, too (`counter_of_all_locks`).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use async_trait::async_trait;

use super::queue::{delete_own, if_there, make_ticket_with_guid, predecessor, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-counter-not-set",
    summary: "The predecessor watch with a counter for each thread, which only a thread that had to wait sets.",
    source: "ZkDistributedLock of many tutorials, re-entrant by a static ThreadLocal",
    flaw: Some("the first in the queue has nothing to count down, and its node stays"),
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(ZkDistributedLock::new(zk, env, lock, Flaw::NotSet))
    }),
    ..super::predecessor_watch::RECIPE
};

/// What is wrong with the counter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Only a thread that had to wait sets it.
    NotSet,
    /// It is set by every thread that enters, and is one for all locks.
    OfAllLocks,
}

/// `THREAD_LOCAL`: the count of each thread that has one.
#[derive(Default)]
struct ThreadLocal(RefCell<BTreeMap<u64, u32>>);

/// The lock, with the names that it was published with.
pub(super) struct ZkDistributedLock {
    flaw: Flaw,
    zoo_keeper: ZooKeeper,
    env: Env,
    root_path: Path,
    /// What this object holds.
    held: Option<Held>,
}

impl ZkDistributedLock {
    pub(super) fn new(zoo_keeper: ZooKeeper, env: Env, root_path: Path, flaw: Flaw) -> Self {
        Self {
            flaw,
            zoo_keeper,
            env,
            root_path,
            held: None,
        }
    }

    /// What a thread that counts already enters again: of a counter for all locks, whatever it holds.
    fn entered_again(&self) -> Option<Held> {
        match self.flaw {
            Flaw::NotSet => self.held.clone(),
            Flaw::OfAllLocks => {
                let without_node = || Held::at(Path::clone(&self.root_path));
                Some(self.held.clone().unwrap_or_else(without_node))
            }
        }
    }

    fn thread_local(&self) -> Rc<ThreadLocal> {
        self.env.process_wide(ThreadLocal::default)
    }

    /// `THREAD_LOCAL.get()`.
    fn count(&self) -> Option<u32> {
        let ThreadLocal(counts) = &*self.thread_local();
        counts.borrow().get(&self.env.thread()).copied()
    }

    /// `THREAD_LOCAL.set(count)`; with zero, `remove()`.
    fn set_count(&self, count: u32) {
        let ThreadLocal(counts) = &*self.thread_local();
        let thread = self.env.thread();
        match count {
            0 => counts.borrow_mut().remove(&thread),
            _ => counts.borrow_mut().insert(thread, count),
        };
    }
}

#[async_trait(?Send)]
impl Lock for ZkDistributedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if let (Some(flag), Some(held)) = (self.count(), self.entered_again()) {
            self.set_count(flag + 1);
            return Ok(held);
        }
        let (zk, lock) = (&self.zoo_keeper, &self.root_path);
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(zk, lock, &guid).await?;
        loop {
            let children = until_answered(|| zk.children(lock)).await?;
            let Some(ahead) = predecessor(children, lock, &ticket)? else {
                let held = Held::at(ticket.path).with_token(ticket.czxid.0);
                if self.flaw == Flaw::OfAllLocks {
                    self.set_count(1);
                }
                return Ok(self.held.insert(held).clone());
            };
            let watch = until_answered(|| zk.exists_and_watch(&ahead)).await?;
            if let Some(gone) = if_there(watch) {
                gone.next().await;
                if self.flaw == Flaw::NotSet {
                    self.set_count(1); // Only here.
                }
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        // A NullPointerException.
        let count = self.count().ok_or(LockError::NotHeld)? - 1;
        self.set_count(count);
        if count > 0 {
            return Ok(());
        }
        self.held = None;
        delete_own(&self.zoo_keeper, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zoo_keeper).await
    }
}
