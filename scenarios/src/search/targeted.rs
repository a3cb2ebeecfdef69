//! The search that aims: it learns from a run in which nothing breaks which moments there are, and tries faults at
//! them, the most promising first.

use picklock_sim::SeenMoment;
use picklock_sim::plan::{FaultKind, Plan};

use super::candidate::Candidate;
use super::fault_sequences::Chain;
use super::profile::Profile;

/// The kinds of faults that a plan has, each once, in its order.
pub fn kinds_of(plan: &Plan) -> Vec<FaultKind> {
    let mut kinds = Vec::new();
    for fault in &plan.faults {
        let kind = FaultKind::of(&fault.inject);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The same plan without a fault.
#[must_use]
pub fn calm(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.faults.clear();
    plan
}

/// So few kinds are also tried together.
pub(super) const TOGETHER: usize = 3;

/// What to try in a world, the most promising first.
pub struct CandidatePlans {
    /// The plans.
    pub plans: Vec<Candidate>,
    /// So many of them are a fair sample: two of each kind of faults, and eight at least.
    pub sample: usize,
}

impl CandidatePlans {
    /// The order in which to try them: a sample, twice as many, and so on, from the first each time. What chance
    /// decides differs from run to run, so the most promising come again before the least promising come at all. The
    /// very first comes three times within the first four runs if chance can spare its victim.
    pub fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let all = self.plans.len();
        let widths = std::iter::successors(Some(self.sample), move |width| {
            (*width < all).then(|| width.saturating_mul(2))
        });
        let in_turn = widths.flat_map(move |width| 0..width.min(all));
        let elusive = self.plans.first().is_some_and(|first| first.elusive);
        let at_first = if elusive { all.min(2) } else { 0 };
        let at_first = (0..at_first).flat_map(|index| [index, 0]);
        at_first.chain(in_turn.skip(if elusive { 2 } else { 0 }))
    }
}

/// What to try in the world of a plan without faults, the most promising first, given the moments of a run of it.
///
/// Every kind comes to its turn before any comes again. Two or three kinds are also tried together, each struck by the
/// one before it: twice as often as alone, for who names a few thinks of them together. What takes a leader away is
/// tried, too, with what strikes when another leads.
pub fn shots(plan: &Plan, seen: &[SeenMoment], kinds: &[FaultKind]) -> CandidatePlans {
    let lesson = Profile::of(plan, seen);
    let alone: Vec<Vec<Chain>> = kinds.iter().map(|kind| lesson.chains(&[*kind])).collect();
    let mut together: Vec<Vec<Chain>> = Vec::new();
    if (2..=TOGETHER).contains(&kinds.len()) {
        let back: Vec<FaultKind> = kinds.iter().rev().copied().collect();
        together.push(lesson.chains(kinds));
        together.push(lesson.chains(&back));
        let elections = [kinds, &back].map(|kinds| lesson.chains_by_election(kinds));
        together.extend(elections.into_iter().filter(|list| !list.is_empty()));
    }
    let longest = alone.iter().chain(&together).map(Vec::len).max();
    let mut plans = Vec::new();
    for turn in 0..longest.unwrap_or(0) {
        let twice = [turn * 2, turn * 2 + 1];
        let first = twice
            .iter()
            .flat_map(|turn| together.iter().map(move |list| list.get(*turn)));
        let then = alone.iter().map(|list| list.get(turn));
        for chain in first.chain(then).flatten() {
            plans.push(chain.in_world(plan));
        }
    }
    let sample = (alone.len() * 2 + together.len() * 4).max(8);
    CandidatePlans { plans, sample }
}

/// Of what there is to try with a kind of faults alone, the `nth` (from zero), and then from the first again.
pub fn shot(plan: &Plan, seen: &[SeenMoment], kind: FaultKind, nth: usize) -> Option<Candidate> {
    let chain = Profile::of(plan, seen).one(kind, nth)?;
    Some(chain.in_world(plan))
}
