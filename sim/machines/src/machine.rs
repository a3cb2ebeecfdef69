//! The contract of every state machine of a service: inputs in, outputs out, and when it wants to be woken.

use picklock_checker::VirtualTime;

use crate::Chance;

/// What the two clocks of a machine show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock.
    pub monotonic: VirtualTime,
    /// The wall clock, in microseconds since the Unix epoch: it jumps.
    pub wall_micros: i64,
}

/// Whether an input may have brought the time forward at which a machine wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// It wants to be woken when it wanted before, or later.
    Unchanged,
    /// It may want to be woken earlier.
    MayBeEarlier,
}

/// A server or a client of a service, without I/O: it handles one input after the other.
pub trait Machine {
    /// What happens to it.
    type Input;
    /// What it wants done.
    type Output;

    /// The time has come at which it wanted to be woken.
    const WAKE: Self::Input;

    /// Handles an input. What it wants done is added to `out`.
    fn handle(
        &mut self,
        now: Now,
        input: Self::Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Self::Output>,
    ) -> Alarm;

    /// When it wants to be woken, by its monotonic clock.
    fn next_wake(&self) -> VirtualTime;

    /// Its alarm is set to this time; never if it has none.
    fn alarm_set(&mut self, _at: VirtualTime) {}
}
