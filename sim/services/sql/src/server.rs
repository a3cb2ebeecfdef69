//! A server as a machine.

use std::collections::BTreeSet;

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::ids::Holder;
use crate::io::{Input, Output};
use crate::lock_manager::Tag;
use crate::log::Replication;
use crate::settings::Settings;
use crate::state::Instance;
use crate::timeout::Due;

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    id: ServerId,
    instance: Instance,
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
        let instance = Instance::new(settings, None);
        Self { id, instance }
    }

    /// A standby of another server.
    pub fn standby(id: ServerId, primary: ServerId, settings: Settings) -> Self {
        let instance = Instance::new(settings, Some(primary));
        Self { id, instance }
    }

    /// Which it is.
    pub fn id(&self) -> ServerId {
        self.id
    }

    /// Whether it takes writes.
    pub fn is_primary(&self) -> bool {
        self.instance.is_primary()
    }

    /// How it is configured.
    pub fn settings(&self) -> &Settings {
        &self.instance.settings
    }

    /// How many records its log has on the disk.
    pub fn flushed(&self) -> usize {
        self.instance.wal.flushed
    }

    /// Whether a session waits for a lock.
    pub fn is_waiting(&self, connection: ConnectionId) -> bool {
        self.instance
            .locks
            .waiting
            .contains_key(&Holder::Session(connection))
    }

    /// What waits and what is held.
    pub fn lock_counts(&self) -> LockCounts {
        let (locks, mut counts) = (&self.instance.locks, LockCounts::default());
        for tag in locks.waiting.values() {
            counts.waiting += 1;
            counts.waiting_for_table += usize::from(matches!(tag, Tag::Relation(_)));
            counts.waiting_for_user_lock += usize::from(matches!(tag, Tag::UserLock(_)));
        }
        for tag in locks
            .locks
            .keys()
            .filter(|tag| matches!(tag, Tag::Advisory(_)))
        {
            let holders: BTreeSet<Holder> = locks.holders(tag).collect();
            counts.advisory += holders.len();
        }
        counts
    }
}

impl Instance {
    /// The process starts again, with what is on its disk.
    fn restart(&mut self) {
        self.wal.crash();
        self.sessions.clear();
        self.ready.clear();
        self.serializable.clear();
        self.recover();
        self.replication = Replication::of(self.replication.primary);
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
        let all = self.sessions.values().map(|s| {
            let (at, due) = self.due(s);
            (at, s.me, due)
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
        let server = &mut self.instance;
        (server.now, server.wall) = (now.monotonic, now.wall_micros);
        if let Input::Restart = input {
            server.restart();
        } else {
            server.do_all_due(chance);
        }
        match input {
            Input::Restart | Input::Wake => {}
            Input::Opened(connection) => server.opened(connection),
            Input::Client(connection, message) => server.message(connection, message),
            Input::Closed(connection) => server.client_gone(connection),
            Input::Unreachable(connection) => server.reaches(connection, false),
            Input::Reachable(connection) => server.reaches(connection, true),
            Input::Peer(from, message) => server.peer(from, message),
            Input::Promote => server.promote(),
            Input::Follow(primary) => server.follow(primary),
        }
        server.settle(chance);
        out.append(&mut server.out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let server = &self.instance;
        let due = server.next_due().map_or(VirtualTime::NEVER, |(at, ..)| at);
        due.min(server.wal.next_flush())
            .min(server.replication.next_status())
    }
}
