//! Why did it happen? Three answers, each by running the same plan again with one thing changed.
//!
//! - *Without*: which of the faults it needed. The plan is run with many seeds, without each fault in turn.
//! - *The turning point*: when it became inevitable, or close to it. The choices are kept up to a moment and drawn anew
//!   from there on; where that makes it more likely by the most, something happened.
//! - *The past*: of all that happened, what the violating event can have depended on.

mod past;
mod turning;

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::{Evidence, Invariant, Verdict};
use picklock_sim::plan::Plan;
use picklock_sim::{Simulated, simulate};
use rayon::prelude::*;

use crate::shrink::without_fault;

pub use past::past;
pub use turning::{Moment, Turning, turning};

/// How often something was violated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Runs in which it was.
    pub violated: u64,
    /// Runs that could not tell.
    pub undecided: u64,
    /// All runs.
    pub of: u64,
}

impl Share {
    /// Runs in which it held.
    pub fn held(&self) -> u64 {
        self.of - self.violated - self.undecided
    }

    fn of(invariant: &Invariant, runs: impl ParallelIterator<Item = Simulated>) -> Self {
        let one = |simulated: Simulated| {
            let verdict = (invariant.check)(&Evidence::of(&simulated.run));
            Self {
                violated: u64::from(matches!(verdict, Verdict::Violated(_))),
                undecided: u64::from(matches!(verdict, Verdict::Undecided(_))),
                of: 1,
            }
        };
        let sum = |one: Self, other: Self| Self {
            violated: one.violated + other.violated,
            undecided: one.undecided + other.undecided,
            of: one.of + other.of,
        };
        runs.map(one).reduce(Self::default, sum)
    }
}

/// What becomes of a plan without one of its faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Without {
    /// The fault, by its place from zero; `None` for the whole plan.
    pub fault: Option<usize>,
    /// The faults that waited for it and are gone, too.
    pub with_it: Vec<usize>,
    /// How often it was violated.
    pub share: Share,
}

/// Runs the plan with so many seeds, and then without each of its faults.
pub fn without(plan: &Plan, invariant: &Invariant, seeds: u64, stop: &AtomicBool) -> Vec<Without> {
    let share = |plan: &Plan| {
        let seeds = (0..seeds).into_par_iter();
        let seeds = seeds.filter(|_| !stop.load(Ordering::Relaxed));
        Share::of(invariant, seeds.map(|seed| simulate(plan, seed)))
    };
    let whole = Without {
        fault: None,
        with_it: Vec::new(),
        share: share(plan),
    };
    let less = (0..plan.faults.len()).map(|fault| {
        let (less, with_it) = without_fault(plan, fault);
        Without {
            fault: Some(fault),
            with_it,
            share: share(&less),
        }
    });
    std::iter::once(whole).chain(less).collect()
}

#[cfg(test)]
mod tests;
