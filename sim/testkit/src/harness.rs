//! One machine by itself.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, Machine, Now};

/// A machine, its clocks, and what it has wanted done and no test has taken.
pub struct Harness<M: Machine, C> {
    /// The machine.
    pub machine: M,
    /// What its clocks show.
    pub now: Now,
    /// What is not determined comes from here.
    pub chance: C,
    /// What it has wanted done, in order.
    pub out: Vec<M::Output>,
}

impl<M: Machine, C: Chance> Harness<M, C> {
    /// A machine whose wall clock shows this at first, in microseconds.
    pub fn new(machine: M, wall_micros: i64, chance: C) -> Self {
        Self {
            machine,
            now: Now {
                monotonic: VirtualTime::ZERO,
                wall_micros,
            },
            chance,
            out: Vec::new(),
        }
    }

    /// Something happens to the machine.
    pub fn input(&mut self, input: M::Input) -> Alarm {
        let chance = &mut self.chance;
        self.machine.handle(self.now, input, chance, &mut self.out)
    }

    /// Both clocks go on, and the machine is woken whenever it wants to be.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now.monotonic + time;
        while self.machine.next_wake() <= end && self.wake() {}
        self.skip(end.since(self.now.monotonic));
    }

    /// Both clocks go on to when the machine wants to be woken, and it is. Answers whether it ever wants to be.
    pub fn wake(&mut self) -> bool {
        let wake = self.machine.next_wake();
        if wake == VirtualTime::NEVER {
            return false;
        }
        self.skip(wake.since(self.now.monotonic));
        self.input(M::WAKE);
        true
    }

    /// Both clocks go on, and the machine does not see it.
    pub fn skip(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.wall_micros += time.as_micros() as i64;
    }
}
