//! Of the seeds that violate a promise: in how many ways they do, and the smallest run of each way.

use std::collections::BTreeMap;

use picklock_checker::Invariant;
use picklock_checker::outcome::{SimilarSeeds, Violation};
use picklock_sim::plan::{FaultKind, Plan};

use super::Shrunk;
use super::unasked::Unasked;
use crate::scenario::Case;

/// So many seeds are shrunk at most.
const LOOKED_INTO: usize = 6;

/// A way to violate a promise: the argument, and the kinds of faults that are left of the plan.
pub(super) struct ShrunkFailure {
    /// The digest of the argument.
    pub(super) argument: String,
    /// The seed of the smallest run.
    pub(super) seed: u64,
    pub(super) smallest: Shrunk,
    /// How many seeds were shrunk to this.
    pub(super) need_these: u64,
}

/// The ways in which the seeds of a case violate a promise, the first seed's first, and by argument how many seeds were
/// shrunk to tell. One share of what is spent unasked is for the first seed, and another for all others.
pub(super) fn ways(
    case: &Case,
    violation: &Violation,
    invariant: &'static Invariant,
    unasked: &mut Unasked<'_>,
) -> (Vec<ShrunkFailure>, BTreeMap<String, u64>) {
    let mut ways: Vec<ShrunkFailure> = Vec::new();
    let (for_first, mut left) = unasked.share();
    let mut looked_into: BTreeMap<String, u64> = BTreeMap::new();
    for (argument, seed) in in_turns(&violation.alike).take(LOOKED_INTO) {
        let first = ways.is_empty();
        let its = if first { for_first } else { left };
        let settled = &*case.settled(seed);
        let Some(shrunk) = unasked.shrink(settled, seed, invariant, its) else {
            continue;
        };
        if !first {
            left = left.less(shrunk.tried, shrunk.events);
            // A plan that is not as small as it can be may be one of those before.
            if shrunk.cut.is_some() {
                break;
            }
        }
        *looked_into.entry(argument.to_owned()).or_default() += 1;
        add(&mut ways, argument, seed, shrunk);
        if ways[0].smallest.cut.is_some() {
            break;
        }
    }
    (ways, looked_into)
}

/// Adds a shrunk run to those of its way.
fn add(ways: &mut Vec<ShrunkFailure>, argument: &str, seed: u64, shrunk: Shrunk) {
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
        None => ways.push(ShrunkFailure {
            argument: argument.to_owned(),
            seed,
            smallest: shrunk,
            need_these: 1,
        }),
    }
}

/// The seeds that are kept of each argument: the first of each, then the second of each, and so on, the argument of the
/// lowest seed first.
fn in_turns(alike: &BTreeMap<String, SimilarSeeds>) -> impl Iterator<Item = (&str, u64)> {
    let mut rows: Vec<_> = alike.iter().collect();
    rows.sort_by_key(|(_, alike)| alike.first.first().copied());
    (0..SimilarSeeds::KEPT).flat_map(move |turn| {
        let row = rows.clone().into_iter();
        row.filter_map(move |(argument, alike)| {
            Some((argument.as_str(), alike.first.get(turn)?.seed))
        })
    })
}

/// The kinds of the faults of a plan, sorted.
pub(super) fn shape(plan: &Plan) -> Vec<String> {
    let faults = plan.faults.iter();
    let kinds = faults.map(|fault| FaultKind::of(&fault.inject).name().to_owned());
    let mut kinds: Vec<String> = kinds.collect();
    kinds.sort_unstable();
    kinds
}

#[cfg(test)]
mod tests;
