//! What ends shrinking: that nothing more can be taken away, its budget of work, or an interrupt.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Stopwatch;

/// How much work shrinking may be. Both are counted, and neither is a time: what comes out does not depend on the
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs.
    pub runs: u32,
    /// Engine events of all runs together.
    pub events: u64,
}

impl Budget {
    /// A part of it.
    pub(super) fn part(self, of: u32) -> Self {
        Self {
            runs: self.runs / of,
            events: self.events / u64::from(of),
        }
    }

    /// So many times as much.
    pub(super) fn times(self, times: u32) -> Self {
        Self {
            runs: self.runs.saturating_mul(times),
            events: self.events.saturating_mul(times.into()),
        }
    }

    /// What is left of it.
    pub(super) fn less(self, runs: u32, events: u64) -> Self {
        Self {
            runs: self.runs.saturating_sub(runs),
            events: self.events.saturating_sub(events),
        }
    }

    pub(super) fn is_spent(self) -> bool {
        self.runs == 0 || self.events == 0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            runs: 20_000,
            events: 100_000_000,
        }
    }
}

/// Why shrinking ended although something more may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Its budget was used up.
    Budget,
    /// It took too long on this machine: on another, the result may be another.
    Time,
    /// It was told to stop.
    Stopped,
}

/// What may end shrinking before its budget does, and what is called with the number of runs so far.
#[derive(Clone, Copy)]
pub struct SearchLimit<'a> {
    stop: &'a AtomicBool,
    until: Option<(Stopwatch, Duration)>,
    told: Option<&'a dyn Fn(u32)>,
}

impl<'a> SearchLimit<'a> {
    /// Until `stop` is set.
    pub fn until(stop: &'a AtomicBool) -> Self {
        Self {
            stop,
            until: None,
            told: None,
        }
    }

    /// Not for longer than this from now on.
    #[must_use]
    pub fn for_at_most(self, time: Duration) -> Self {
        Self {
            until: Some((Stopwatch::start(), time)),
            ..self
        }
    }

    /// Also reports the number of runs after each of them.
    #[must_use]
    pub fn with_progress(self, told: &'a dyn Fn(u32)) -> Self {
        Self {
            told: Some(told),
            ..self
        }
    }

    pub(super) fn report_progress(&self, runs: u32) {
        if let Some(told) = self.told {
            told(runs);
        }
    }

    /// Why it has to end now, if it has to.
    pub(super) fn cut(&self) -> Option<Cut> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Cut::Stopped);
        }
        let (since, time) = self.until?;
        (since.elapsed() >= time).then_some(Cut::Time)
    }
}
