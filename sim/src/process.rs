//! Processes: what a contender or a bystander runs in.

use picklock_checker::{ContenderId, VirtualTime};

use crate::clock::LocalClock;
pub use crate::clock::WALL_START_MICROS;
use crate::engine::TaskId;

/// A process, by its index in the world. Those of contenders come first, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// What runs in a process: the code of a contender, which is a task of it, or of a bystander or an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The process.
    pub process: ProcessId,
    /// The contender; for code of no contender a number that none has.
    pub contender: ContenderId,
}

/// A process with clocks of its own, to which events come.
#[derive(Debug)]
pub struct Process<Event> {
    /// What it does at the moment.
    pub state: ProcessState,
    /// Until when pauses last that have struck it: until the end of the last of them.
    pub paused_until: VirtualTime,
    /// What has arrived while it stood still, in order.
    pub backlog: Vec<Event>,
    /// Tasks that would have run while it stood still.
    pub sleepers: Vec<TaskId>,
    clock: LocalClock,
}

/// What a process does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It stands still.
    Paused,
    /// It is dead.
    Crashed,
}

impl<Event> Process<Event> {
    /// A process that runs, with clocks that are right.
    pub fn new() -> Self {
        Self {
            state: ProcessState::Running,
            paused_until: VirtualTime::ZERO,
            backlog: Vec::new(),
            sleepers: Vec::new(),
            clock: LocalClock::default(),
        }
    }

    /// What its monotonic clock shows, in microseconds.
    #[inline]
    pub fn monotonic(&self, now: VirtualTime) -> VirtualTime {
        self.clock.monotonic(now)
    }

    /// When, in the world's time, its monotonic clock will show this. Rounded up, so that it has when we look.
    pub fn world_time(&self, local: VirtualTime) -> VirtualTime {
        self.clock.world_time(local)
    }

    /// What its wall clock shows, in microseconds since the Unix epoch.
    pub fn wall(&self, now: VirtualTime) -> i64 {
        self.clock.wall(now)
    }

    /// When, in the world's time, its wall clock will show this, if it does not jump before.
    pub fn world_time_of_wall(&self, wall: i64) -> VirtualTime {
        self.clock.world_time_of_wall(wall)
    }

    /// Lets the wall clock jump.
    pub fn jump(&mut self, micros: i64) {
        self.clock.jump(micros);
    }

    /// Lets both clocks run fast, or slow, from now on.
    pub fn drift(&mut self, now: VirtualTime, parts_per_million: i64) {
        self.clock.drift(now, parts_per_million);
    }
}

impl<Event> Default for Process<Event> {
    fn default() -> Self {
        Self::new()
    }
}
