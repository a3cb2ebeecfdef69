//! Shrinking unasked: a command that finds failures makes them smaller before it reports them, and spends no more than
//! a few seconds on all of them together.
//!
//! What it spends is counted in events of the engine, so that a seed gives the same on every machine and every day. A
//! clock stands behind that for machines on which so many events take longer; where it strikes, the report says so.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_checker::Invariant;

use super::limits::{Budget, Cut, SearchLimit};
use super::{Shrunk, shrink_choices};
use crate::clock::Stopwatch;
use crate::runner;
use crate::scenario::Case;

/// What one command spends: about two seconds of it on a slow machine.
const SPENT: Budget = Budget {
    runs: 15_000,
    events: 6_000_000,
};

/// No machine spends longer than this.
const LONGEST: Duration = Duration::from_secs(5);

/// Called with what is shrunk at the moment: the case, the seed, and how many runs it took so far.
pub type OnShrink<'a> = dyn Fn(&str, u64, u32) + Sync + 'a;

/// The work that a command does to failures that it was not asked to shrink.
pub struct Unasked<'a> {
    left: Budget,
    time_left: Duration,
    stop: &'a AtomicBool,
    told: &'a OnShrink<'a>,
    untouched: u32,
    /// What is spent on a run that a search has found at most.
    of_found: Budget,
}

impl<'a> Unasked<'a> {
    /// All that a search spends that has found so many runs: on each what a command spends on the first.
    pub fn of_found(found: usize, stop: &'a AtomicBool, told: &'a OnShrink<'a>) -> Self {
        let times = u32::try_from(found.max(1)).unwrap_or(u32::MAX);
        let unasked = Self::new(stop, told);
        Self {
            left: SPENT.times(times),
            time_left: LONGEST.saturating_mul(times),
            ..unasked
        }
    }

    /// All that one command spends, unless `stop` is set.
    pub fn new(stop: &'a AtomicBool, told: &'a OnShrink<'a>) -> Self {
        Self {
            left: SPENT,
            time_left: LONGEST,
            stop,
            told,
            untouched: 0,
            of_found: SPENT.part(2),
        }
    }

    /// How many promises were broken of which no run was shrunk.
    pub fn untouched(&self) -> u32 {
        self.untouched
    }

    /// What is spent on the next promise: on the first run that breaks it, and on all others.
    pub(super) fn share(&self) -> (Budget, Budget) {
        (self.left.part(2), self.left.part(4))
    }

    /// Nothing is left for a promise.
    pub(super) fn passes_over(&mut self) {
        self.untouched += 1;
    }

    /// Why nothing more will be shrunk, if so.
    pub(super) fn is_over(&self) -> Option<Cut> {
        if self.left.part(4).is_spent() {
            return Some(Cut::Budget);
        }
        let watch = SearchLimit::until(self.stop).for_at_most(self.time_left);
        watch.cut()
    }

    /// Whether runs of so many events still fit in. If so, they are spent.
    pub(super) fn affords(&mut self, events: u64) -> bool {
        let fits = self.is_over().is_none() && events <= self.left.events / 2;
        if fits {
            self.left = self.left.less(0, events);
        }
        fits
    }

    /// Does something that was paid for, and counts the time that it takes.
    pub(super) fn timed<T>(&mut self, work: impl FnOnce(&AtomicBool) -> T) -> T {
        let clock = Stopwatch::start();
        let done = work(self.stop);
        self.time_left = self.time_left.saturating_sub(clock.elapsed());
        done
    }

    /// Shrinks a run of a case for that much at most.
    pub(super) fn shrink(
        &mut self,
        case: &Case,
        seed: u64,
        invariant: &'static Invariant,
        budget: Budget,
    ) -> Option<Shrunk> {
        let choices = runner::simulated(case, seed).choices;
        self.shrink_choices(case, seed, choices, invariant, budget)
    }

    fn shrink_choices(
        &mut self,
        case: &Case,
        seed: u64,
        choices: Vec<u32>,
        invariant: &'static Invariant,
        budget: Budget,
    ) -> Option<Shrunk> {
        let clock = Stopwatch::start();
        let tell = |runs: u32| (self.told)(&case.name, seed, runs);
        let watch = SearchLimit::until(self.stop).for_at_most(self.time_left);
        let watch = watch.with_progress(&tell);
        let shrunk = shrink_choices(case, choices, invariant, budget, &watch)?;
        self.left = self.left.less(shrunk.tried, shrunk.events);
        self.time_left = self.time_left.saturating_sub(clock.elapsed());
        Some(shrunk)
    }

    /// Shrinks the run of these choices that a search has found.
    pub fn shrink_found(
        &mut self,
        case: &Case,
        seed: u64,
        choices: Vec<u32>,
        invariant: &'static Invariant,
    ) -> Option<Shrunk> {
        let budget = self.of_found;
        self.shrink_choices(case, seed, choices, invariant, budget)
    }
}

#[cfg(test)]
mod tests;
