//! Findings: runs that break a promise, told apart by their cause.
//!
//! A promise can be broken for several reasons. Of each run that breaks one it is worked out which faults it needs, and
//! then it is compared with what was found before: a run of a known cause is counted, and one of another is kept. What
//! is worked out for that is bounded, and counted in runs, so that the same search keeps the same on any machine.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use picklock_checker::invariants;

use super::counterexample::Counterexample;
use crate::shrink::{Budget, Extent, SearchLimit, Shrunk, TargetRole, Unasked, needed_faults};

pub use super::cause::Cause;

/// The cause in a line: `pause of the holder, the lock expired, an overlap at least as long as the lease`.
impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let faults = self.faults.iter().map(|struck| {
            let for_good = if struck.for_good { ", for good" } else { "" };
            format!("{}{}{for_good}", struck.kind.name(), of(struck.role))
        });
        let mut words: Vec<String> = faults.collect();
        if words.is_empty() {
            words.push("no fault".to_owned());
        }
        let losses = self.losses.iter().filter_map(|turn| turn.loss());
        words.extend(losses.map(|loss| match loss {
            "expired" => "the lock expired".to_owned(),
            loss => format!("the lock was {loss}"),
        }));
        words.extend(self.overlap.map(|extent| extent.words().to_owned()));
        if self.with_itself {
            words.push("one contender with itself".to_owned());
        }
        f.write_str(&words.join(", "))
    }
}

/// The target of a fault, after its name.
fn of(role: TargetRole) -> &'static str {
    match role {
        TargetRole::Holder => " of the holder",
        TargetRole::Waiter => " of a waiter",
        TargetRole::Idle => " of a contender that neither holds nor waits",
        TargetRole::Leader => " of the leader",
        TargetRole::Follower => " of a follower",
        TargetRole::Observer => " of an observer",
        TargetRole::Primary => " of the primary",
        TargetRole::Replica => " of a replica",
        TargetRole::Sentinel => " of a Sentinel",
        TargetRole::Server => " of a server",
        TargetRole::Service => "",
    }
}

/// To work out which faults a run needs, no more than this is spent.
const BUDGET: Budget = Budget {
    runs: 300,
    events: 1_000_000,
};

/// For so many runs of each finding that may be kept it is worked out.
const LOOKED_INTO: usize = 6;

/// Sorts runs that break a promise by their cause.
pub(super) struct Sorter {
    /// So many of each promise are kept.
    bound: usize,
    pub(super) found: Vec<Counterexample>,
    /// Causes as they were seen, and the place of the finding that they belong to.
    known: BTreeMap<(&'static str, Cause), usize>,
    /// For how many runs of a promise it was worked out which faults they need.
    looked_into: BTreeMap<&'static str, usize>,
    /// Runs that broke a promise in ways that were not looked into.
    pub(super) others: BTreeMap<&'static str, u64>,
}

impl Sorter {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            bound,
            found: Vec::new(),
            known: BTreeMap::new(),
            looked_into: BTreeMap::new(),
            others: BTreeMap::new(),
        }
    }

    /// Whether nothing more of a promise would be kept.
    pub(super) fn is_full(&self, invariant: &str) -> bool {
        let kept = self.found.iter();
        let kept = kept.filter(|kept| kept.invariant == invariant);
        kept.count() >= self.bound
    }

    /// The finding that a run of this cause falls under.
    fn place(&self, invariant: &'static str, cause: &Cause) -> Option<usize> {
        let mut found = self.found.iter();
        let covered = found.position(|own| own.invariant == invariant && own.cause.covers(cause));
        covered.or_else(|| self.known.get(&(invariant, cause.clone())).copied())
    }

    /// Sorts a run: counts it if its cause is known, and keeps it if it is new. Answers whether it is kept.
    pub(super) fn sort(&mut self, run: Counterexample, stop: &AtomicBool) -> bool {
        let invariant = run.invariant;
        if let Some(index) = self.place(invariant, &run.cause) {
            self.found[index].more += 1;
            return false;
        }
        let looked_into = self.looked_into.entry(invariant).or_default();
        if *looked_into >= self.bound * LOOKED_INTO {
            *self.others.entry(invariant).or_default() += 1;
            return false;
        }
        *looked_into += 1;
        let seen = run.cause.clone();
        let cause = needed(&run, stop).unwrap_or_else(|| seen.clone());
        let known = self.place(invariant, &cause);
        if known.is_none() && self.is_full(invariant) {
            *self.others.entry(invariant).or_default() += 1;
            return false;
        }
        match known {
            Some(index) => self.found[index].more += 1,
            None => self.found.push(Counterexample { cause, ..run }),
        }
        let index = known.unwrap_or(self.found.len() - 1);
        self.known.insert((invariant, seen), index);
        known.is_none()
    }
}

/// The cause of a run, with those faults alone that it needs.
fn needed(run: &Counterexample, stop: &AtomicBool) -> Option<Cause> {
    let invariant = invariants::find(run.invariant)?;
    let watch = SearchLimit::until(stop);
    let mechanism = needed_faults(&run.case, run.choices.clone(), invariant, BUDGET, &watch)?;
    Some(Cause::of(&mechanism))
}

/// A finding whose run has been shrunk.
pub struct Finding<'h> {
    /// The run, as it was found.
    pub found: &'h Counterexample,
    /// What is left of it.
    pub shrunk: Shrunk,
    /// Its cause, by what is left.
    pub cause: Cause,
    /// How many other runs fell under it.
    pub more: u64,
}

/// Shrinks what a hunt from this seed on has found. What comes to the same when it is small is one finding.
pub fn shrunk<'h>(
    found: &'h [Counterexample],
    seed: u64,
    unasked: &mut Unasked<'_>,
) -> Vec<Finding<'h>> {
    let mut findings: Vec<Finding<'h>> = Vec::new();
    for found in found {
        let Some(invariant) = invariants::find(found.invariant) else {
            continue;
        };
        let choices = found.choices.clone();
        let Some(shrunk) = unasked.shrink_found(&found.case, seed, choices, invariant) else {
            continue;
        };
        let cause = Cause::of(&shrunk.mechanism);
        let mut before = findings.iter_mut();
        let same = before.find(|old| old.found.invariant == found.invariant && old.cause == cause);
        match same {
            Some(same) => same.more += 1 + found.more,
            None => findings.push(Finding {
                found,
                shrunk,
                cause,
                more: found.more,
            }),
        }
    }
    merged(findings)
}

/// An overlap of a few messages or a small part of the lease says no more than a larger one of the same cause: it
/// counts as one more run of that.
fn merged(findings: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    let is_tiny = |finding: &Finding<'_>| {
        matches!(
            finding.cause.overlap,
            Some(Extent::Messages | Extent::Short)
        )
    };
    let (tiny, mut kept): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_tiny);
    for finding in tiny {
        let mut larger = kept.iter_mut();
        let larger = larger.find(|larger| {
            larger.found.invariant == finding.found.invariant
                && larger.cause.overlap > finding.cause.overlap
                && larger.cause.is_same_but_for_overlap(&finding.cause)
        });
        match larger {
            Some(larger) => larger.more += 1 + finding.more,
            None => kept.push(finding),
        }
    }
    kept.sort_by_key(|finding| finding.found.after);
    kept
}

#[cfg(test)]
mod tests;
