//! A server as a machine.

use std::collections::BTreeMap;

use picklock_checker::VirtualTime;
use picklock_clients::sql::Gid;
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::backend::{Backend, Due};
use crate::heap::Heap;
use crate::io::{Input, Output};
use crate::lock_manager::{LockManager, Tag};
use crate::predicate::Finished;
use crate::prepared::Prepared;
use crate::profile::Profile;
use crate::replication::Replication;
use crate::settings::Settings;
use crate::wal::Wal;

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    id: ServerId,
    pub(crate) settings: Settings,
    pub(crate) profile: &'static Profile,
    pub(crate) heap: Heap,
    pub(crate) locks: LockManager,
    pub(crate) backends: BTreeMap<ConnectionId, Backend>,
    pub(crate) prepared: BTreeMap<Gid, Prepared>,
    pub(crate) serializable: Vec<Finished>,
    pub(crate) wal: Wal,
    pub(crate) replication: Replication,
    /// Sessions whose statements can go on.
    pub(crate) ready: Vec<ConnectionId>,
    /// What the clocks show, and what is to be done, while an input is handled.
    pub(crate) now: VirtualTime,
    pub(crate) wall: i64,
    pub(crate) out: Vec<Output>,
}

/// What waits and what is held at a server, as its views show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockCounts {
    /// Sessions that wait for a lock.
    pub waiting: usize,
    /// Those of them that wait for a table.
    pub waiting_for_table: usize,
    /// Those of them that wait in `GET_LOCK`.
    pub waiting_for_user_lock: usize,
    /// Advisory locks, once for each session that holds one.
    pub advisory: usize,
}

impl Server {
    /// A primary.
    pub fn new(id: ServerId, settings: Settings) -> Self {
        Self::of(id, settings, None)
    }

    /// A standby of another server.
    pub fn standby(id: ServerId, primary: ServerId, settings: Settings) -> Self {
        Self::of(id, settings, Some(primary))
    }

    fn of(id: ServerId, settings: Settings, primary: Option<ServerId>) -> Self {
        Self {
            id,
            profile: Profile::of(settings.dialect),
            heap: Heap::new(settings.tables.clone().into()),
            settings,
            locks: LockManager::default(),
            backends: BTreeMap::new(),
            prepared: BTreeMap::new(),
            serializable: Vec::new(),
            wal: Wal::default(),
            replication: Replication::of(primary),
            ready: Vec::new(),
            now: VirtualTime::ZERO,
            wall: 0,
            out: Vec::new(),
        }
    }

    /// Which it is.
    pub fn id(&self) -> ServerId {
        self.id
    }

    /// Whether it takes writes.
    pub fn is_primary(&self) -> bool {
        self.replication.primary.is_none()
    }

    /// How it is configured.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many records its log has on the disk.
    pub fn flushed(&self) -> usize {
        self.wal.flushed
    }

    /// What waits and what is held.
    pub fn lock_counts(&self) -> LockCounts {
        let mut counts = LockCounts::default();
        for tag in self.locks.waiting.values() {
            counts.waiting += 1;
            counts.waiting_for_table += usize::from(matches!(tag, Tag::Relation(_)));
            counts.waiting_for_user_lock += usize::from(matches!(tag, Tag::UserLock(_)));
        }
        for tag in self
            .locks
            .locks
            .keys()
            .filter(|tag| matches!(tag, Tag::Advisory(_)))
        {
            let mut holders: Vec<_> = self.locks.holders(tag).collect();
            holders.sort();
            holders.dedup();
            counts.advisory += holders.len();
        }
        counts
    }

    /// The process starts again, with what is on its disk.
    fn restart(&mut self) {
        self.wal.crash();
        self.backends.clear();
        self.ready.clear();
        self.recover();
        let primary = self.replication.primary;
        self.replication = Replication::of(primary);
        self.say_status();
    }

    /// Lets those go on that can, in an order that chance decides where several can.
    fn settle(&mut self, chance: &mut dyn Chance) {
        loop {
            self.wake_granted();
            let next = match self.ready.len() {
                0 => return,
                1 => 0,
                several => chance.choose(u32::try_from(several).unwrap_or(u32::MAX)) as usize,
            };
            let next = self.ready.remove(next);
            self.resume(next);
        }
    }

    /// What is due first, and of which session.
    fn next_due(&self) -> Option<(VirtualTime, ConnectionId, Due)> {
        let all = self.backends.iter().map(|(connection, backend)| {
            let (at, due) = self.due(*connection, backend);
            (at, *connection, due)
        });
        all.min_by_key(|(at, ..)| *at)
    }

    fn do_all_due(&mut self, chance: &mut dyn Chance) {
        if self.wal.flush(self.now) {
            self.ship();
            self.log_has_moved();
            self.settle(chance);
        }
        while let Some((at, connection, due)) = self.next_due()
            && at <= self.now
        {
            self.do_due(connection, due);
            self.settle(chance);
        }
        if self.replication.next_status() <= self.now {
            self.say_status();
        }
    }
}

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        (self.now, self.wall) = (now.monotonic, now.wall_micros);
        if let Input::Restart = input {
            self.restart();
        } else {
            self.do_all_due(chance);
        }
        match input {
            Input::Restart | Input::Wake => {}
            Input::Opened(connection) => self.opened(connection),
            Input::Client(connection, message) => self.message(connection, message),
            Input::Closed(connection) => self.client_gone(connection),
            Input::Unreachable(connection) => self.reaches(connection, false),
            Input::Reachable(connection) => self.reaches(connection, true),
            Input::Peer(from, message) => self.peer(from, message),
            Input::Promote => self.promote(),
            Input::Follow(primary) => self.follow(primary),
        }
        self.settle(chance);
        out.append(&mut self.out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let due = self.next_due().map_or(VirtualTime::NEVER, |(at, ..)| at);
        due.min(self.wal.next_flush())
            .min(self.replication.next_status())
    }
}
