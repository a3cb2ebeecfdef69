//! The search that aims: it learns from a run in which nothing breaks which moments there are, and tries faults at
//! them, the most promising first.

use picklock_sim::SeenMoment;
use picklock_sim::plan::{FaultKind, Plan};

use super::candidate::Candidate;
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
pub(super) struct CandidatePlans {
    pub(super) plans: Vec<Candidate>,
    /// So many of them are a fair sample: two of each kind of faults, and eight at least.
    pub(super) sample: usize,
}

impl CandidatePlans {
    /// So many plans are no fewer than a sample with so many kinds of faults.
    pub(super) fn sample_at_most(kinds: usize) -> usize {
        kinds * 2 + 16
    }
}

/// The order in which to try plans, the most promising first: a sample, twice as many, and so on, from the first each
/// time. What chance decides differs from run to run, so the most promising come again before the least promising come
/// at all. The very first comes three times within the first four runs if chance can spare its victim.
pub(super) struct TryOrder {
    /// What comes before all else, the last first.
    at_first: Vec<usize>,
    /// So many are tried before it begins again with the first.
    width: usize,
    next: usize,
}

impl TryOrder {
    /// None at all.
    pub(super) fn nothing() -> Self {
        Self {
            at_first: Vec::new(),
            width: 0,
            next: 0,
        }
    }

    /// This one, once.
    pub(super) fn once(index: usize) -> Self {
        Self {
            at_first: vec![index],
            ..Self::nothing()
        }
    }

    /// That of these plans, and of those after them.
    pub(super) fn of(plans: &CandidatePlans) -> Self {
        let width = plans.sample;
        let elusive = plans.plans.first().is_some_and(|first| first.elusive);
        let at_first = match (elusive, plans.plans.len()) {
            (false, _) => Vec::new(),
            (true, 1) => vec![0, 0],
            (true, _) => vec![0, 1, 0, 0],
        };
        Self {
            next: if elusive { 2 } else { 0 },
            at_first,
            width,
        }
    }

    /// How many are tried before it begins again with the first, of so many plans.
    pub(super) fn first_look(&self, plans: usize) -> usize {
        self.at_first.len() + plans.min(self.width).saturating_sub(self.next)
    }

    /// The place of the next to try. `plans` says how many there are, but need not count beyond a number.
    pub(super) fn next(&mut self, mut plans: impl FnMut(usize) -> usize) -> Option<usize> {
        if let Some(index) = self.at_first.pop() {
            return Some(index);
        }
        if self.next >= plans(self.width).min(self.width) {
            let twice = self.width.saturating_mul(2);
            if self.width == 0 || plans(twice) <= self.width {
                return None;
            }
            (self.width, self.next) = (twice, 0);
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

/// What to try in the world of a plan without faults, the most promising first, given the moments of a run of it: so
/// many plans.
///
/// Every kind comes to its turn before any comes again. Two or three kinds are also tried together, each struck by the
/// one before it: twice as often as alone, for a command that names a few kinds wants them together. What takes a
/// leader away is tried, too, with what strikes when another leads.
pub(super) fn shots(profile: &Profile<'_>, kinds: &[FaultKind], most: usize) -> CandidatePlans {
    let back: Vec<FaultKind> = kinds.iter().rev().copied().collect();
    let alone = kinds.iter().map(std::slice::from_ref);
    let alone: Vec<_> = alone.map(|kind| (kind, profile.aims(kind, most))).collect();
    let mut together = Vec::new();
    if (2..=TOGETHER).contains(&kinds.len()) {
        let orders = [kinds, &back[..]];
        together.extend(orders.map(|kinds| (kinds, profile.aims(kinds, most))));
        let elections = orders.map(|kinds| (kinds, profile.aims_by_election(kinds, most)));
        together.extend(elections.into_iter().filter(|(_, aims)| !aims.is_empty()));
    }
    let longest = alone.iter().chain(&together).map(|(_, aims)| aims.len());
    let in_turns = (0..longest.max().unwrap_or(0)).flat_map(|turn| {
        let twice = [turn * 2, turn * 2 + 1].into_iter();
        let first = twice.flat_map(|turn| together.iter().map(move |list| (list, turn)));
        first.chain(alone.iter().map(move |list| (list, turn)))
    });
    let chains = in_turns.filter_map(|((kinds, aims), turn)| {
        let chain = profile.chain(aims.get(turn)?, kinds);
        Some(chain.in_world(profile.plan))
    });
    CandidatePlans {
        plans: chains.take(most).collect(),
        sample: (alone.len() * 2 + together.len() * 4).max(8),
    }
}

/// Of what there is to try with a kind of faults alone, the `nth` (from zero), and then from the first again.
pub(super) fn shot(
    plan: &Plan,
    seen: &[SeenMoment],
    kind: FaultKind,
    nth: usize,
) -> Option<Candidate> {
    let chain = Profile::of(plan, seen).one(kind, nth)?;
    Some(chain.in_world(plan))
}
