//! Why did it happen? Three answers, each by running the same plan again with one thing changed.
//!
//! - *Without*: which of the faults it needed. The plan is run with many seeds, without each fault in turn.
//! - *The turning point*: when it became inevitable, or close to it. The choices are kept up to a moment and drawn
//!   again from there on; where that makes it more likely by the most, something happened.
//! - *The past*: of all that happened, what the violating event can have depended on.

mod divergence;

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::{Evidence, Invariant, Verdict, Witness};
use picklock_sim::plan::Plan;
use picklock_sim::{Simulated, simulate};
use rayon::prelude::*;

use crate::reduced_plan::without_fault;

pub use crate::causal_history::{causes, past, service_past};
pub use divergence::{Moment, TurningMoment, turning_moment};

/// So many runs say what becomes of a plan with other choices, by default.
pub const OTHERS: u64 = 200;

/// How often something was violated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViolationShare {
    /// Runs in which it was.
    pub violated: u64,
    /// Those of them that came about otherwise than it was asked for, if a mechanism was.
    pub otherwise: u64,
    /// Runs that could not tell.
    pub undecided: u64,
    /// All runs.
    pub of: u64,
}

impl ViolationShare {
    /// Runs in which it held.
    pub fn held(&self) -> u64 {
        self.of - self.violated - self.undecided
    }

    fn of(
        invariant: &Invariant,
        runs: impl ParallelIterator<Item = Simulated>,
        is_alike: impl Fn(&Simulated, &Witness) -> bool + Sync,
    ) -> Self {
        let one = |simulated: Simulated| {
            let verdict = match simulated.broken() {
                Some(why) => Verdict::Undecided(why.to_string()),
                None => (invariant.check)(&Evidence::of(&simulated.run)),
            };
            let otherwise = verdict.witness();
            let otherwise = otherwise.is_some_and(|witness| !is_alike(&simulated, witness));
            Self {
                violated: u64::from(matches!(verdict, Verdict::Violated(_))),
                otherwise: u64::from(otherwise),
                undecided: u64::from(matches!(verdict, Verdict::Undecided(_))),
                of: 1,
            }
        };
        let sum = |one: Self, other: Self| Self {
            violated: one.violated + other.violated,
            otherwise: one.otherwise + other.otherwise,
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
    pub share: ViolationShare,
}

/// Whether the run of a plan violates a promise in the way that is asked about.
pub type IsAlike<'a> = &'a (dyn Fn(&Plan, &Simulated, &Witness) -> bool + Sync);

/// Runs the plan with so many seeds, and then without each of its faults, and tells how many violate the promise in
/// another way.
pub fn without(
    plan: &Plan,
    (invariant, is_alike): (&Invariant, IsAlike<'_>),
    seeds: u64,
    stop: &AtomicBool,
) -> Vec<Without> {
    let share = |plan: &Plan| {
        let seeds = (0..seeds).into_par_iter();
        let seeds = seeds.filter(|_| !stop.load(Ordering::Relaxed));
        let runs = seeds.map(|seed| simulate(plan, seed));
        let is_alike = |run: &Simulated, witness: &Witness| is_alike(plan, run, witness);
        ViolationShare::of(invariant, runs, is_alike)
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

/// What becomes of a plan that violates a promise with other choices, and without each of its faults; nothing if it has
/// none.
pub fn needs(
    plan: &Plan,
    of: (&Invariant, IsAlike<'_>),
    seeds: u64,
    stop: &AtomicBool,
) -> Vec<Without> {
    match plan.faults.is_empty() {
        true => Vec::new(),
        false => without(plan, of, seeds, stop),
    }
}

impl Without {
    /// The number of the fault, from one, if the promise is violated without it, too.
    pub fn unneeded(&self) -> Option<usize> {
        (self.share.violated > 0).then_some(self.fault? + 1)
    }

    /// Whether each run that violates the promise does so in another way than it was asked for.
    pub fn is_otherwise(&self) -> bool {
        self.share.violated == self.share.otherwise
    }

    /// `without fault 1: holds in 200 of 200 runs   (crash contender-2 for good)`
    pub fn describe(&self, plan: &Plan) -> String {
        let ViolationShare {
            violated,
            otherwise,
            undecided,
            of,
        } = self.share;
        let held = self.share.held();
        let came = if held == of {
            format!("holds in {held} of {of} runs")
        } else if violated == of {
            format!("violated in {violated} of {of} runs")
        } else {
            let doubt = match undecided {
                0 => String::new(),
                undecided => format!(", undecided in {undecided}"),
            };
            format!("violated in {violated} of {of} runs, holds in {held}{doubt}")
        };
        let came = match (self.fault, otherwise) {
            (None, _) | (_, 0) => came,
            (Some(_), all) if all == violated => format!("{came}, each in another way"),
            (Some(_), some) => format!("{came}, in another way in {some}"),
        };
        let Some(fault) = self.fault else {
            return format!("as planned: {came}");
        };
        let text = plan.faults.get(fault).map_or("", |fault| &fault.text);
        let others = self.with_it.iter().map(|fault| (fault + 1).to_string());
        let others: Vec<String> = others.collect();
        let with_it = match others.as_slice() {
            [] => String::new(),
            [other] => format!(", and {other} that waits for it"),
            others => format!(", and {} that wait for it", others.join(", ")),
        };
        format!("without fault {}{with_it}: {came}   ({text})", fault + 1)
    }
}

#[cfg(test)]
mod tests;
