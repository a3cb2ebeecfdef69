//! Who wants the lock, how often, for how long, and what for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::key::Holds;
use super::setting_type::{SettingType, variants, words};
use super::settings::settings;
use super::{
    ContenderName, ContenderSettings, Conversion, Hold, LockName, LockOrder, Reads, Section,
};

settings! {
    /// Who wants the lock, and what for.
    #[derive(Clone, Debug, PartialEq)]
    Workload {
        contenders: u32 = "contenders" {
            holds: Holds::WholeOrRange(1, 100_000),
            default: 3,
            means: "How many want the lock, each a process with a client of its own, if the next two do not say \
                    otherwise.",
        }

        tasks_per_process: u32 = "tasks-per-process" {
            holds: Holds::WholeOrRange(1, 64),
            default: 1,
            written: IfAnother,
            means: "How many contenders are tasks (threads) of one process, or a range that each seed draws from, \
                    `\"1..3\"`: see [several tasks of a process](scenarios.md#several-tasks-of-a-process).",
        }

        share: Share = "share" {
            holds: Holds::OneOrList(&Share::HOLDS),
            default: Share::Nothing,
            written: IfAnother,
            means: "What the tasks of a process share: `\"session\"`, `\"connection\"`, or `\"lock\"`; a list is \
                    drawn from.",
        }

        locks: u32 = "locks" {
            holds: Holds::WholeOrRange(1, LockName::MOST as i64),
            default: 1,
            written: IfAnother,
            means: "How many locks there are, `lock-a`, `lock-b`, and so on, 26 at most, or a range that each seed \
                    draws from, `\"1..2\"`: see [several locks](scenarios.md#several-locks).",
        }

        locks_at_once: u32 = "locks-at-once" {
            holds: Holds::WholeOrRange(1, LockName::MOST as i64),
            default: 1,
            written: IfAnother,
            means: "How many of the locks a section holds at once, each acquired while those before it are held, or \
                    a range that each seed draws from, `\"1..2\"`: see [several locks at \
                    once](scenarios.md#several-locks-at-once).",
        }

        lock_order: LockOrder = "lock-order" {
            holds: Holds::OneOrList(&LockOrder::HOLDS),
            default: LockOrder::ByName,
            written: IfAnother,
            means: "In which order a section acquires them: `\"by-name\"`, `\"in-turn\"`, or `\"drawn\"`; a list is \
                    drawn from.",
        }

        arrive: Arrival = "arrive" {
            holds: Holds::OneOrList(&Arrival::HOLDS),
            default: Arrival::Together,
            means: "How they come.",
        }

        rounds: u32 = "rounds" {
            holds: Holds::WholeOrRange(1, 1_000_000),
            default: 1,
            means: "How often each wants the lock.",
        }

        reads: Reads = "reads" {
            default: Reads::Never,
            written: IfAnother,
            means: "In how many of its rounds a contender takes the lock to read, with others that read: a share \
                    such as `\"50%\"`, each round by chance, or `\"always\"`. Only for read-write locks (`kind` in \
                    `picklock list algorithms --json`); a reader writes nothing.",
        }

        permits: Option<u32> = "permits" {
            holds: Holds::WholeOrRange(1, 100_000),
            default: None,
            without: "none",
            means: "How many may hold the lock at once, or a range that each seed draws from, `\"1..3\"`: needed for \
                    semaphores, and only for them, see [semaphores](scenarios.md#semaphores).",
        }

        permits_per_acquire: u32 = "permits-per-acquire" {
            holds: Holds::Whole(1, 1_000),
            default: 1,
            written: IfAnother,
            means: "How many permits a contender takes by one call, and gives back by one: of semaphores that have \
                    such a call, see [semaphores](scenarios.md#semaphores).",
        }

        count: Option<u32> = "count" {
            holds: Holds::Whole(1, 99_999),
            default: None,
            without: "none",
            means: "How many of the contenders, the first, count down; all others wait for zero, and no contender \
                    has a second turn at one latch. Needed for count-down latches, and only for them, see \
                    [barriers](scenarios.md#barriers).",
        }

        acquire_timeout: Option<Duration> = "acquire-timeout" {
            holds: Holds::DurationOrZero,
            default: None,
            without: "for ever",
            formerly: "patience",
            means: "How long a contender waits before it gives up; it comes again after 50 ms. A recipe without a \
                    call for that is dropped where it waits. `\"0s\"` is `tryLock()`: one attempt, of a recipe that \
                    has it.",
        }

        reentrancy_depth: u32 = "reentrancy-depth" {
            holds: Holds::Whole(1, 1_000),
            default: 1,
            written: IfAnother,
            formerly: "entries",
            means: "How often a section enters the lock, one call inside the other; all but the outermost are left \
                    before it does its work; locks that promise `reentrancy` are then looked at for it.",
        }

        hold: Hold = "hold" {
            default: Hold::For(Duration::from_millis(10)),
            means: "How long a section lasts, apart from what it does to the resource; `\"settled\"`: until nothing is \
                    under way any more, one release at a time.",
        }

        think: (Duration, Duration) = "think" {
            holds: Holds::OneOrList(&Holds::Range),
            default: (Duration::ZERO, Duration::ZERO),
            means: "A range: time between a release and the next acquire of the same contender.",
        }

        processing: (Duration, Duration) = "processing" {
            holds: Holds::OneOrList(&Holds::Range),
            default: (Duration::ZERO, Duration::ZERO),
            written: IfAnother,
            means: "A range: time that passes in a contender between what arrives (an answer, a notification, the \
                    end of a sleep) and what its code does about it; a fault can strike meanwhile (`received`). An \
                    `acquire-timeout` has to leave time for it: a call makes a handful of such steps.",
        }

        section: Section = "section" {
            default: Section::Write,
            means: "What a section does to the resource.",
        }

        bystanders: u32 = "bystanders" {
            holds: Holds::Whole(0, 10_000),
            default: 0,
            means: "Clients that only read something else on the same service: a node of ZooKeeper, a key of Redis \
                    (in a cluster, in the slot of the lock's key; on several independent servers, each on one of \
                    them in turn).",
        }

        bystander_every: Duration = "bystander-every" {
            default: Duration::from_millis(10),
            means: "Time between two reads of a bystander.",
        }

        progress_bound: Option<Duration> = "progress-bound" {
            default: None,
            without: "by the scenario",
            means: "How long every contender has to get the lock once the storm is over, and all have come.",
        }

        bypass_bound: Option<u32> = "bypass-bound" {
            holds: Holds::Whole(0, 1_000_000),
            default: None,
            without: "none",
            means: "How often a waiter may be overtaken; then each case is looked at for `bounded-bypass`, see \
                    [who is overtaken](scenarios.md#who-is-overtaken).",
        }

        starvation_bound: Option<u32> = "starvation-bound" {
            holds: Holds::Whole(0, 1_000_000),
            default: None,
            without: "none",
            means: "How often others may be let in while one asks in vain; then each case is looked at for \
                    `no-starvation`, see [who is overtaken](scenarios.md#who-is-overtaken).",
        }

        storm: Option<Duration> = "storm" {
            default: None,
            without: "by the faults",
            means: "The storm ends at this time at the latest.",
        }
    }
    and {
        /// What single contenders do otherwise.
        contender_settings: BTreeMap<ContenderName, ContenderSettings>,
    }
}

impl Workload {
    /// What a contender does otherwise than the others, if anything.
    pub fn settings_of(&self, name: ContenderName) -> Option<&ContenderSettings> {
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
        let rounds = match self.wants_no_lock(name) {
            false => self.rounds_with_locks(self.rounds_of(name)).min(turns),
            true => turns,
        };
        (0..rounds).map(|round| self.lock_of(name, round)).collect()
    }

    /// How long the sections of a contender last.
    pub fn hold_of(&self, name: ContenderName) -> Hold {
        let own = self.settings_of(name).and_then(|own| own.hold);
        own.unwrap_or(self.hold)
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

    /// The values of `of`, and for how many contenders each holds: contenders without settings are asked for once.
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
    /// All, by name.
    pub const ALL: [(&str, Self); 4] = [
        ("session", Self::Session),
        ("connection", Self::Connection),
        ("lock", Self::Lock),
        ("nothing", Self::Nothing),
    ];

    /// Whether the tasks of a process have one client.
    pub fn is_of_client(self) -> bool {
        self != Self::Nothing
    }
}

/// How contenders come to the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All at once; the network decides which is first.
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

words! {
    Share: "way to share",
}

variants! {
    Arrival: "arrival" {
        Together = "together": "All at once.",
        InOrder = "in-order": "Each when the one before it holds the lock or waits for it.",
        BehindHolder = "behind-holder": "The first takes the lock and keeps it until all others wait.",
        InOrderBehindHolder = "in-order-behind-holder": "The same, and the others set out in their order.",
        Within(Duration: Holds::Duration) = "within": "Each at a random moment within this time.",
    }
}
