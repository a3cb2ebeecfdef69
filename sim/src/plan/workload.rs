//! Who wants the lock, how often, for how long, and what for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{ContenderName, LockName, LockOrder, Rate};

/// Who wants the lock, and what for.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many contenders there are: `contender-1` and so on.
    pub contenders: u32,
    /// How many of them are tasks of one process: the first so many of the first process, and so on.
    pub tasks_per_process: u32,
    /// What the tasks of a process share.
    pub share: Share,
    /// How many locks there are. Where a contender does not say otherwise, it takes one of them in each round, in turn:
    /// `contender-1` begins with the first, `contender-2` with the second, and so on.
    pub locks: u32,
    /// How many locks a section holds at once: each is acquired while those before it are held.
    pub locks_at_once: u32,
    /// In which order a section acquires them.
    pub lock_order: LockOrder,
    /// How they come.
    pub arrive: Arrival,
    /// How often each wants the lock.
    pub rounds: u32,
    /// How often a contender takes the lock to read, in shared mode, where the recipe has one.
    pub reads: Reads,
    /// How many may hold the lock at once, if it is a semaphore. `None`: it is none.
    pub permits: Option<u32>,
    /// How many permits a contender takes by one call.
    pub permits_per_acquire: u32,
    /// How many of the contenders, the first, count down, if it is a latch: all others wait for that. `None`: it is
    /// none.
    pub count: Option<u32>,
    /// How long each waits for the lock before it gives up, and comes again. `None`: for as long as it takes.
    pub acquire_timeout: Option<Duration>,
    /// How often a section enters the lock, one call inside the other; all but the outermost entry are left before the
    /// section does its work.
    pub reentrancy_depth: u32,
    /// How long a section lasts, apart from what it does to the resource.
    pub hold: Hold,
    /// Time between a release and the next acquire of the same contender: from, to.
    pub think: (Duration, Duration),
    /// Time that passes in a contender between what arrives (an answer, a notification, the end of a sleep) and what it
    /// does about it: from, to.
    pub processing: (Duration, Duration),
    /// What a section does to the resource.
    pub section: Section,
    /// Clients that read something else on the same service all the time.
    pub bystanders: u32,
    /// Time between two reads of a bystander.
    pub bystander_every: Duration,
    /// What single contenders do otherwise.
    pub contender_settings: BTreeMap<ContenderName, ContenderSettings>,
    /// How long everybody has to get the lock once the storm is over. `None`: computed from the scenario.
    pub progress_bound: Option<Duration>,
    /// How often a request that waits may be overtaken by later ones. `None`: nobody looks.
    pub bypass_bound: Option<u32>,
    /// How often others may be let in while a contender asks in vain. `None`: it is not looked at.
    pub starvation_bound: Option<u32>,
    /// The storm ends at this time at the latest. `None`: when every fault has fired and healed, or cannot any more.
    pub storm: Option<Duration>,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            contenders: 3,
            tasks_per_process: 1,
            share: Share::Nothing,
            locks: 1,
            locks_at_once: 1,
            lock_order: LockOrder::ByName,
            arrive: Arrival::Together,
            rounds: 1,
            reads: Reads::Never,
            permits: None,
            permits_per_acquire: 1,
            count: None,
            acquire_timeout: None,
            reentrancy_depth: 1,
            hold: Hold::For(Duration::from_millis(10)),
            think: (Duration::ZERO, Duration::ZERO),
            processing: (Duration::ZERO, Duration::ZERO),
            section: Section::Write,
            bystanders: 0,
            bystander_every: Duration::from_millis(10),
            contender_settings: BTreeMap::new(),
            progress_bound: None,
            bypass_bound: None,
            starvation_bound: None,
            storm: None,
        }
    }
}

impl Workload {
    /// What a contender does otherwise than the others, if anything.
    pub(super) fn settings_of(&self, name: ContenderName) -> Option<&ContenderSettings> {
        self.contender_settings.get(&name)
    }

    /// The lock that a contender takes in a round, counted from zero.
    pub fn lock_of(&self, name: ContenderName, round: u32) -> LockName {
        let own = self.settings_of(name).map_or(&[][..], |own| &own.locks);
        if own.is_empty() {
            let turn = u64::from(name.0) + u64::from(round);
            let index = turn % u64::from(self.locks.max(1));
            return LockName(index as u32);
        }
        own[round as usize % own.len()]
    }

    /// The locks that a contender takes, each once.
    pub fn locks_of(&self, name: ContenderName) -> BTreeSet<LockName> {
        let own = self
            .settings_of(name)
            .map_or(0, |own| own.locks.len() as u32);
        let turns = if own == 0 { self.locks } else { own };
        let rounds = self.rounds_with_locks(self.rounds_of(name)).min(turns);
        (0..rounds).map(|round| self.lock_of(name, round)).collect()
    }

    /// How long the sections of a contender last.
    pub fn hold_of(&self, name: ContenderName) -> Hold {
        let own = self.settings_of(name).and_then(|own| own.hold);
        own.unwrap_or(self.hold)
    }

    /// How often a contender wants the lock.
    pub fn rounds_of(&self, name: ContenderName) -> u32 {
        let own = self.settings_of(name).and_then(|own| own.rounds);
        own.unwrap_or(self.rounds)
    }

    /// How often a contender takes the lock to read.
    pub fn reads_of(&self, name: ContenderName) -> Reads {
        let own = self.settings_of(name).and_then(|own| own.reads);
        own.unwrap_or(self.reads)
    }

    /// In which other mode a contender goes on holding the lock when a section is done, if it does.
    pub fn conversion_of(&self, name: ContenderName) -> Option<Conversion> {
        self.settings_of(name).and_then(|own| own.conversion)
    }

    /// Whether any contender takes the lock to read some time.
    pub fn has_reads(&self) -> bool {
        self.each(|name| self.reads_of(name))
            .any(|(reads, of)| of > 0 && reads != Reads::Never)
    }

    /// Time between a release and the next acquire of a contender: from, to.
    pub fn think_of(&self, name: ContenderName) -> (Duration, Duration) {
        let own = self.settings_of(name).and_then(|own| own.think);
        own.unwrap_or(self.think)
    }

    /// Time that passes in a contender between what arrives and what it does about it: from, to.
    pub fn processing_of(&self, name: ContenderName) -> (Duration, Duration) {
        let own = self.settings_of(name).and_then(|own| own.processing);
        own.unwrap_or(self.processing)
    }

    /// How many processes have contenders.
    pub fn processes(&self) -> u32 {
        self.contenders.div_ceil(self.tasks_per_process.max(1))
    }

    /// The number of the process that a contender is a task of.
    pub fn process_of(&self, name: ContenderName) -> u32 {
        name.0 / self.tasks_per_process.max(1)
    }

    /// Whether two contenders are tasks of one process.
    pub fn is_one_process(&self, one: ContenderName, other: ContenderName) -> bool {
        self.process_of(one) == self.process_of(other)
    }

    /// The tasks of the process of a contender, itself among them.
    pub fn tasks_with(&self, name: ContenderName) -> impl Iterator<Item = ContenderName> + use<> {
        let each = self.tasks_per_process.max(1);
        let first = self.process_of(name) * each;
        (first..first.saturating_add(each).min(self.contenders)).map(ContenderName)
    }

    /// By how many milliseconds the wall clock of a contender's machine is ahead, as far as its own settings say.
    pub fn clock_offset_of(&self, name: ContenderName) -> Option<i64> {
        let own = self.settings_of(name).map(|own| own.clock_offset_millis);
        own.filter(|offset| *offset != 0)
    }

    /// How long a contender waits for the lock before it gives up. `None`: for as long as it takes.
    pub fn acquire_timeout_of(&self, name: ContenderName) -> Option<Duration> {
        let own = self.settings_of(name).and_then(|own| own.acquire_timeout);
        own.or(self.acquire_timeout)
    }

    /// Whether any contender gives up waiting some time.
    pub fn has_acquire_timeout(&self) -> bool {
        let mut own = self.contender_settings.values();
        self.acquire_timeout.is_some() || own.any(|own| own.acquire_timeout.is_some())
    }

    /// How many sections there are to come, of all contenders together.
    pub fn sections(&self) -> u32 {
        let rounds = self.each(|name| u64::from(self.rounds_of(name)));
        u32::try_from(
            rounds
                .map(|(rounds, of)| rounds.saturating_mul(of))
                .sum::<u64>(),
        )
        .unwrap_or(u32::MAX)
    }

    /// What `of` says of each contender, and of how many it is so: those that do nothing otherwise are asked for once.
    pub fn each<T>(&self, of: impl Fn(ContenderName) -> T) -> impl Iterator<Item = (T, u64)> {
        let unlike = self.contender_settings.len();
        let others = (self.contenders as usize).saturating_sub(unlike) as u64;
        let names = (0..self.contenders).map(ContenderName);
        let mut like_others = names.filter(|name| self.settings_of(*name).is_none());
        let other = like_others.next().map(|name| (name, others));
        let unlike = self.contender_settings.keys().map(|name| (*name, 1));
        unlike
            .chain(other)
            .map(move |(name, number)| (of(name), number))
    }
}

/// What the tasks of one process share, besides its clocks and its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nothing: each has a client of its own.
    Nothing,
    /// One client of ZooKeeper: a handle, its session, and its event thread.
    Session,
    /// One client of Redis: its connections, and what it has subscribed to.
    Connection,
    /// One object of each lock, and with it the client that it stands on.
    Lock,
}

impl Share {
    /// Those that say something, by name.
    pub const NAMED: [(&str, Self); 3] = [
        ("session", Self::Session),
        ("connection", Self::Connection),
        ("lock", Self::Lock),
    ];

    /// Its name, if it says something.
    pub fn name(self) -> Option<&'static str> {
        let named = Self::NAMED.iter().find(|(_, share)| *share == self);
        named.map(|(name, _)| *name)
    }

    /// Whether the tasks of a process have one client.
    pub fn is_of_client(self) -> bool {
        self != Self::Nothing
    }
}

/// What one contender does otherwise than the workload says; what is not given is as there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContenderSettings {
    /// How long its sections last.
    pub hold: Option<Hold>,
    /// How often it wants the lock.
    pub rounds: Option<u32>,
    /// How often it takes the lock to read.
    pub reads: Option<Reads>,
    /// In which other mode it goes on holding the lock.
    pub conversion: Option<Conversion>,
    /// How many permits it takes by one call.
    pub permits_per_acquire: Option<u32>,
    /// The locks that it takes, one in each round, in turn. Empty: all that there are.
    pub locks: Vec<LockName>,
    /// Time between a release and its next acquire: from, to.
    pub think: Option<(Duration, Duration)>,
    /// Time that passes between what arrives and what it does about it: from, to.
    pub processing: Option<(Duration, Duration)>,
    /// How long it waits for the lock before it gives up, and comes again.
    pub acquire_timeout: Option<Duration>,
    /// One-way latency between it and any server, or the resource: from, to (both inclusive).
    pub latency: Option<(Duration, Duration)>,
    /// By how many milliseconds its wall clock is ahead from the start; behind, if negative.
    pub clock_offset_millis: i64,
}

/// How a holder of a read-write lock changes the mode in which it holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// When it has written, it takes the lock to read, gives back the write, and reads.
    Downgrade,
    /// When it has read, it takes the lock to write, as long as it reads.
    Upgrade,
}

impl Conversion {
    /// All, by name.
    pub const NAMED: [(&str, Self); 2] =
        [("downgrade", Self::Downgrade), ("upgrade", Self::Upgrade)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Downgrade => "downgrade",
            Self::Upgrade => "upgrade",
        }
    }
}

/// How often a contender takes the lock to read: in shared mode, with others that read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// It always writes.
    #[default]
    Never,
    /// In so many of its rounds, each by chance.
    Share(Rate),
    /// It never writes.
    Always,
}

/// How contenders come to the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All at once; who is first is up to the network.
    Together,
    /// One after the other: each comes when the one before it holds the lock or is in the queue.
    InOrder,
    /// The first takes the lock and does not start its section before all others wait.
    BehindHolder,
    /// The same, and the others set out in their order; on a network of one latency, they queue up in it.
    InOrderBehindHolder,
    /// Each at a random moment within this time.
    Within(Duration),
}

impl Arrival {
    /// Whether the first holds the lock until all others wait.
    pub fn is_behind_holder(self) -> bool {
        matches!(self, Self::BehindHolder | Self::InOrderBehindHolder)
    }
}

/// How long a section lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// This long.
    For(Duration),
    /// Until nothing is under way any more: one release at a time.
    Settled,
}

/// What a section does to the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Holds, then writes once.
    Write,
    /// Reads a counter, holds, and writes back one more.
    Count,
    /// Reads the stock, holds, and writes back one less, unless nothing is left.
    Sell {
        /// What there is at first.
        stock: i64,
    },
    /// Writes once, at once, and does not wait for the answer; the write travels for a random time up to this before
    /// it reaches the resource.
    DelayedWrite {
        /// How long at most.
        delay: Duration,
    },
    /// Nothing.
    Nothing,
}
