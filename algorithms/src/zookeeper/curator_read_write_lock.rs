//! Curator's `InterProcessReadWriteLock`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! Apache Curator 5.9: `InterProcessReadWriteLock`. Function names are Curator's.
//!
//! # Steps
//!
//! Two mutexes (`curator_mutex`) on one path, whose nodes have the marks `__READ__` and `__WRIT__` in their names. They
//! are sorted by the number behind either mark.
//!
//! - The write mutex goes by the rule of every mutex: the first node has the lock, and each other watches the one
//!   ahead.
//! - The read mutex has the lock if no write node is ahead of its node (`readLockPredicate`). Otherwise it watches the
//!   *first* write node in the list, and looks again when that has gone.
//! - A thread that holds the write lock has the read lock at once, and its read node has the number of its write node:
//!   when it gives back the write, it goes on reading at that place (since 5.5, CURATOR-621).
//!
//! # Guarantees
//!
//! - As of `curator_mutex`; readers hold the lock together, and no writer starves (`fifo`).
//!
//! # Hazards
//!
//! - Those of `curator_mutex`. There is no token.
//! - With several writers ahead, a reader is woken by the end of each; the recipe of ZooKeeper's documentation
//!   (`shared_locks`) watches the nearest one, and is woken once.
//! - A thread that holds the read lock and asks for the write lock waits for itself (scenario
//!   `zookeeper/lock-upgrade`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::curator_mutex::{
    Deviation, HeldWrite, InterProcessMutex, LockInternalsDriver, PredicateResults, after_mark,
    our_index,
};
use crate::clients::curator::{Curator, CuratorConfig};
use crate::clients::zookeeper::{Path, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Place, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-read-write-lock",
    summary: "Curator's InterProcessReadWriteLock: two mutexes in one queue, and a listener.",
    source: "Apache Curator 5.9, InterProcessReadWriteLock",
    ownership: OWNERSHIP,
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(InterProcessReadWriteLock::new(zk, env, path, &BY_NUMBER))
    }),
    ..super::curator_mutex::RECIPE
};

/// Who owns a queue of such nodes.
pub(super) const OWNERSHIP: OwnershipRule = OwnershipRule::readers_and_writers(|name| {
    Some(Place::of_reader_if(name.contains(READ_LOCK_NAME)))
});

const READ_LOCK_NAME: &str = "__READ__";
const WRITE_LOCK_NAME: &str = "__WRIT__";

/// The lock.
pub(super) struct InterProcessReadWriteLock {
    read_mutex: InterProcessMutex,
    write_mutex: InterProcessMutex,
    /// Whether a read beside the write keeps its place.
    keeps_place: bool,
}

impl InterProcessReadWriteLock {
    /// A lock whose read and write mutex go by these drivers.
    pub(super) fn new(
        zk: ZooKeeper,
        env: Env,
        path: Path,
        Drivers { read, write }: &'static Drivers,
    ) -> Self {
        let client = Curator::of_process(zk, env, CuratorConfig::default());
        let mutex = |name, driver: &'static dyn LockInternalsDriver| {
            let (client, path) = (client.clone(), Path::clone(&path));
            InterProcessMutex::with_driver(client, path, (name, driver), Deviation::NONE)
        };
        Self {
            read_mutex: mutex(READ_LOCK_NAME, read),
            write_mutex: mutex(WRITE_LOCK_NAME, write),
            keeps_place: true,
        }
    }

    /// The same as it was before 5.5: a read beside the write gets a place of its own.
    pub(super) fn with_new_places(mut self) -> Self {
        self.keeps_place = false;
        self
    }

    /// The read mutex of a thread that may hold the write lock.
    fn read_lock(&mut self) -> &mut InterProcessMutex {
        let write = self.write_mutex.lock_path().map(|path| HeldWrite {
            sorting_sequence: { self.keeps_place }
                .then(|| after_mark(path, WRITE_LOCK_NAME).to_owned()),
        });
        self.read_mutex.beside(write)
    }

    fn mutex_of(&self, held: &Held) -> &InterProcessMutex {
        match held.path_or_key.contains(READ_LOCK_NAME) {
            true => &self.read_mutex,
            false => &self.write_mutex,
        }
    }
}

#[async_trait(?Send)]
impl Lock for InterProcessReadWriteLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.write_mutex.acquire().await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.write_mutex.acquire_within(time).await
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.read_lock().acquire().await
    }

    async fn acquire_shared_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.read_lock().acquire_within(time).await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        match held.path_or_key.contains(READ_LOCK_NAME) {
            true => self.read_mutex.release(held).await,
            false => self.write_mutex.release(held).await,
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.mutex_of(held).lost(held).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }

    fn for_task(&self, _env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Self {
            read_mutex: self.read_mutex.of_thread(),
            write_mutex: self.write_mutex.of_thread(),
            keeps_place: self.keeps_place,
        }))
    }
}

/// What nodes are sorted by, of a node's name.
type FixForSorting = fn(&str) -> &str;

/// The drivers of the two mutexes, which sort nodes alike.
pub(super) struct Drivers {
    read: ReadDriver,
    write: WriteDriver,
}

impl Drivers {
    pub(super) const fn sorting_by(fix_for_sorting: FixForSorting) -> Self {
        Self {
            read: ReadDriver(fix_for_sorting),
            write: WriteDriver(fix_for_sorting),
        }
    }
}

/// Those of Curator, by the number behind either mark.
pub(super) static BY_NUMBER: Drivers = Drivers::sorting_by(after_either_mark);

fn after_either_mark(name: &str) -> &str {
    after_mark(after_mark(name, READ_LOCK_NAME), WRITE_LOCK_NAME)
}

/// The driver of the write mutex: the standard one, for names with either mark (`SortingLockInternalsDriver`).
struct WriteDriver(FixForSorting);

impl LockInternalsDriver for WriteDriver {
    fn fix_for_sorting<'n>(&self, name: &'n str) -> &'n str {
        (self.0)(name)
    }
}

/// The driver of the read mutex.
struct ReadDriver(FixForSorting);

impl LockInternalsDriver for ReadDriver {
    fn fix_for_sorting<'n>(&self, name: &'n str) -> &'n str {
        (self.0)(name)
    }

    fn gets_the_lock<'c>(
        &self,
        children: &'c [Rc<str>],
        sequence_node_name: &str,
        _max_leases: usize,
    ) -> ZkResult<PredicateResults<'c>> {
        read_lock_predicate(children, sequence_node_name)
    }
}

/// The lock is the reader's if the first write node comes after its own.
fn read_lock_predicate<'c>(
    children: &'c [Rc<str>],
    sequence_node_name: &str,
) -> ZkResult<PredicateResults<'c>> {
    let our_index = our_index(children, sequence_node_name)?;
    let mut ahead = children[..our_index].iter();
    Ok(match ahead.find(|name| name.contains(WRITE_LOCK_NAME)) {
        None => PredicateResults::GetsTheLock,
        Some(first) => PredicateResults::PathToWatch(first),
    })
}
