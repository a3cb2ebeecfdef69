//! `shared_locks`, except that readers do not wait for a writer that waits: it takes its ticket only when there is no
//! reader. Must be caught by `zookeeper/starved-writer`.
//!
//! # Source
//!
//! Courtois, Heymans, and Parnas, *Concurrent Control with "Readers" and "Writers"*, 1971, problem 1: no reader is kept
//! waiting for the sole reason that a writer waits.
//!
//! # Steps
//!
//! To read: as in `shared_locks`. A reader does not wait for a writer that has only announced itself.
//!
//! To write:
//! 1. Create `lock/guid-intent-write-` as an ephemeral sequential node: announce that we want to write.
//! 2. List the children of `lock`. If there is a reader's ticket, watch the last of them, and do this again when it has
//!    gone.
//! 3. Take the announcement back, and take a writer's ticket. From here on all is as in `shared_locks`: later readers
//!    wait for it, too.
//!
//! # Guarantees
//!
//! - Those of `shared_locks`, without the order.
//!
//! # Hazards
//!
//! - As long as readers come before the last one has left, no writer gets its turn (`bounded-bypass`, scenario
//!   `zookeeper/starved-writer`).
//! - The mirror image, in which readers give way to writers that wait, starves readers (`shared_locks_writers_first`).

use std::rc::Rc;

use async_trait::async_trait;

use super::hardened::{CleanupGuard, delete_for_certain, take_ticket};
use super::queue::child;
use super::shared_locks::{READ, SharedLocks, WRITE, WaitsFor, in_order, is_writer};
use crate::clients::zookeeper::{Path, ZkError, ZooKeeper, until_answered};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Place, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-shared-locks-readers-first",
    summary: "A queue of readers and writers, which a writer joins only when there is no reader.",
    source: "Courtois, Heymans, Parnas, 'Concurrent Control with Readers and Writers', 1971, problem 1",
    flaw: Some("a writer waits for as long as readers come"),
    claims: CLAIMS,
    ownership: OWNERSHIP,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(Preference::readers_first(zk, env, lock))),
    ..super::hardened::RECIPE
};

/// What a queue promises that not all join as soon as they come.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

/// Who owns such a queue.
pub(super) const OWNERSHIP: OwnershipRule = OwnershipRule::readers_and_writers(|name| {
    Some(match Place::of_reader_if(name.contains(READ)) {
        Place::Sequential(mode) if name.contains(INTENT) => Place::Announced(mode),
        place => place,
    })
});

/// What marks an announcement, before the mark of a reader or of a writer.
const INTENT: &str = "-intent-";

/// Announcements are no tickets: the queue does not wait for them.
const WAITS_FOR: WaitsFor = WaitsFor {
    reader: |queue, ours| tickets(&queue[..ours]).rev().find(|name| is_writer(name)),
    writer: |queue, ours| tickets(&queue[..ours]).next_back(),
};

fn tickets(queue: &[Rc<str>]) -> impl DoubleEndedIterator<Item = &Rc<str>> {
    queue.iter().filter(|name| !name.contains(INTENT))
}

/// A shared lock in which one side gives way to the other for as long as that comes.
pub(super) struct Preference {
    locks: SharedLocks,
    /// The mark of the side that gives way, and of the side that goes first.
    gives_way: &'static str,
    goes_first: &'static str,
}

impl Preference {
    pub(super) fn readers_first(zk: ZooKeeper, env: Env, lock: Path) -> Self {
        Self {
            locks: SharedLocks::new(zk, env, lock, WAITS_FOR),
            gives_way: WRITE,
            goes_first: READ,
        }
    }

    pub(super) fn writers_first(zk: ZooKeeper, env: Env, lock: Path) -> Self {
        Self {
            gives_way: READ,
            goes_first: WRITE,
            ..Self::readers_first(zk, env, lock)
        }
    }

    /// On the side that gives way: announces itself, and waits until the other side has no ticket.
    async fn give_way(&self, mark: &str) -> Result<(), LockError> {
        if mark != self.gives_way {
            return Ok(());
        }
        let SharedLocks { zk, env, lock, .. } = &self.locks;
        let exit = CleanupGuard::new(zk.clone(), env.clone(), Path::clone(lock));
        let prefix: Path = [&**lock, "/", &exit.guid, INTENT, &mark[1..]]
            .concat()
            .into();
        let announced = take_ticket(zk, lock, &exit.guid, &prefix).await?; // Step 1.
        loop {
            let children = until_answered(|| zk.children(lock)).await?; // Step 2.
            let queue = in_order(&children);
            let first = tickets(&queue)
                .rev()
                .find(|name| name.contains(self.goes_first));
            let Some(first) = first else {
                delete_for_certain(zk, env, announced.path).await?; // Step 3.
                exit.not_needed();
                return Ok(());
            };
            let first = child(lock, first);
            match until_answered(|| zk.data_and_watch(&first)).await {
                Ok((_, _, gone)) => {
                    gone.next().await;
                }
                Err(ZkError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for Preference {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.give_way(WRITE).await?;
        self.locks.acquire().await
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.give_way(READ).await?;
        self.locks.acquire_shared().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.locks.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.locks.lost(held).await
    }
}
