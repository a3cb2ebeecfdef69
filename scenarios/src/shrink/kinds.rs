//! Of the seeds that violate a promise: in how many ways they do, and the smallest run of each way.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use picklock_checker::Invariant;
use picklock_checker::outcome::{Alike, Violation};

use super::telling::shape;
use super::{Budget, Shrunk, shrink};
use crate::scenario::Case;

/// So many seeds are shrunk at most.
const LOOKED_INTO: usize = 6;

/// A way to violate a promise: the argument, and the kinds of faults that are left of the plan.
pub(super) struct Way {
    /// The digest of the argument.
    pub(super) argument: String,
    /// The seed of the smallest run.
    pub(super) seed: u64,
    pub(super) smallest: Shrunk,
    /// How many seeds were shrunk to this.
    pub(super) need_these: u64,
}

/// The ways in which the seeds of a case violate a promise, the first seed's first, and by argument how many seeds were
/// shrunk to tell. One budget is for the first seed, and as much again for all others.
pub(super) fn ways(
    case: &Case,
    violation: &Violation,
    invariant: &'static Invariant,
    budget: Budget,
    stop: &AtomicBool,
) -> (Vec<Way>, BTreeMap<String, u64>) {
    let mut ways: Vec<Way> = Vec::new();
    let mut left = budget;
    let mut looked_into: BTreeMap<String, u64> = BTreeMap::new();
    for (argument, seed) in in_turns(&violation.alike).take(LOOKED_INTO) {
        let first = ways.is_empty();
        let its = if first { budget } else { left };
        let settled = &*case.settled(seed);
        let Some(shrunk) = shrink(settled, seed, invariant, its, stop) else {
            continue;
        };
        if !first {
            left.runs = left.runs.saturating_sub(shrunk.tried);
            left.events = left.events.saturating_sub(shrunk.events);
            // Of a plan that is not as small as it can be nobody can say that it is another.
            if !shrunk.minimal {
                break;
            }
        }
        *looked_into.entry(argument.to_owned()).or_default() += 1;
        add(&mut ways, argument, seed, shrunk);
        if !ways[0].smallest.minimal {
            break;
        }
    }
    (ways, looked_into)
}

/// Adds a shrunk run to those of its way.
fn add(ways: &mut Vec<Way>, argument: &str, seed: u64, shrunk: Shrunk) {
    let size = |shrunk: &Shrunk| (shrunk.plan.faults.len(), shrunk.to.events);
    let mut known = ways.iter_mut();
    let known = known
        .find(|way| way.argument == argument && shape(&way.smallest.plan) == shape(&shrunk.plan));
    match known {
        Some(way) => {
            way.need_these += 1;
            if size(&shrunk) < size(&way.smallest) {
                (way.seed, way.smallest) = (seed, shrunk);
            }
        }
        None => ways.push(Way {
            argument: argument.to_owned(),
            seed,
            smallest: shrunk,
            need_these: 1,
        }),
    }
}

/// The seeds that are kept of each argument: the first of each, then the second of each, and so on, the argument of the
/// lowest seed first.
fn in_turns(alike: &BTreeMap<String, Alike>) -> impl Iterator<Item = (&str, u64)> {
    let mut rows: Vec<_> = alike.iter().collect();
    rows.sort_by_key(|(_, alike)| alike.first.first().copied());
    (0..Alike::KEPT).flat_map(move |turn| {
        let row = rows.clone().into_iter();
        row.filter_map(move |(argument, alike)| {
            Some((argument.as_str(), alike.first.get(turn)?.seed))
        })
    })
}

#[cfg(test)]
mod tests;
