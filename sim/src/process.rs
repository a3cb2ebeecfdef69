//! Processes: what a contender or a bystander runs in.

use picklock_checker::VirtualTime;

use crate::engine::TaskId;
use crate::event::Event;

/// A process, by its place in the world. Contenders come first, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// When the wall clocks of the simulated world start: 2026-01-01 00:00:00 UTC, in microseconds since the Unix epoch.
pub const WALL_START_MICROS: i64 = 1_767_225_600_000_000;

/// A process with clocks of its own.
#[derive(Debug)]
pub struct Process {
    /// What it does at the moment.
    pub state: ProcessState,
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

/// A monotonic clock that may run fast or slow, and a wall clock that may jump.
#[derive(Clone, Copy, Debug)]
struct LocalClock {
    /// Where the two clocks were when the rate last changed.
    since_world: u64,
    since_local: u64,
    parts_per_million: i64,
    wall_offset: i64,
}

impl Process {
    /// A process that runs, with clocks that are right.
    pub fn new() -> Self {
        let clock = LocalClock {
            since_world: 0,
            since_local: 0,
            parts_per_million: 0,
            wall_offset: 0,
        };
        Self {
            state: ProcessState::Running,
            backlog: Vec::new(),
            sleepers: Vec::new(),
            clock,
        }
    }

    /// What its monotonic clock shows, in microseconds.
    #[inline]
    pub fn monotonic(&self, now: VirtualTime) -> VirtualTime {
        let clock = &self.clock;
        if clock.parts_per_million == 0 && clock.since_world == clock.since_local {
            return now;
        }
        let passed = i128::from(now.micros() - clock.since_world);
        let local = passed * i128::from(1_000_000 + clock.parts_per_million) / 1_000_000;
        VirtualTime::from_micros(clock.since_local + u64::try_from(local).unwrap_or(0))
    }

    /// When, in the world's time, its monotonic clock will show this. Rounded up, so that it has when we look.
    pub fn world_time(&self, local: VirtualTime) -> VirtualTime {
        let clock = &self.clock;
        if local == VirtualTime::NEVER
            || (clock.parts_per_million == 0 && clock.since_world == clock.since_local)
        {
            return local;
        }
        let ahead = u128::from(local.micros().saturating_sub(clock.since_local));
        let rate = u128::try_from(1_000_000 + clock.parts_per_million)
            .unwrap_or(1)
            .max(1);
        let world = (ahead * 1_000_000).div_ceil(rate);
        VirtualTime::from_micros(
            clock
                .since_world
                .saturating_add(u64::try_from(world).unwrap_or(u64::MAX)),
        )
    }

    /// What its wall clock shows, in microseconds since the Unix epoch.
    pub fn wall(&self, now: VirtualTime) -> i64 {
        WALL_START_MICROS + self.monotonic(now).micros().cast_signed() + self.clock.wall_offset
    }

    /// Lets the wall clock jump.
    pub fn jump(&mut self, micros: i64) {
        self.clock.wall_offset = self.clock.wall_offset.saturating_add(micros);
    }

    /// Lets both clocks run fast, or slow, from now on.
    pub fn drift(&mut self, now: VirtualTime, parts_per_million: i64) {
        let local = self.monotonic(now).micros();
        self.clock.since_world = now.micros();
        self.clock.since_local = local;
        self.clock.parts_per_million = parts_per_million.max(-999_999);
    }
}

impl Default for Process {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> VirtualTime {
        VirtualTime::from_micros(micros)
    }

    #[test]
    fn a_fast_clock_gains_and_the_world_knows_when_it_will_show_a_time() {
        let mut process = Process::new();
        process.drift(at(1_000_000), 100_000);
        assert_eq!(process.monotonic(at(2_000_000)), at(2_100_000));
        assert_eq!(process.world_time(at(2_100_000)), at(2_000_000));
        assert!(process.monotonic(process.world_time(at(1_234_567))) >= at(1_234_567));
    }

    #[test]
    fn a_jump_moves_the_wall_clock_alone() {
        let mut process = Process::new();
        process.jump(-5_000_000);
        assert_eq!(process.monotonic(at(7)), at(7));
        assert_eq!(process.wall(at(7)), WALL_START_MICROS + 7 - 5_000_000);
    }
}
