//! The search that aims: it learns from a run in which nothing breaks which moments there are, and tries faults at
//! them, the most promising first.

use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, Plan, PlannedFault, Service, Trigger};

use super::blow::{Blow, Variant, minds_server, strikes_request, variants};
use super::fits::{Class, promise, read};
use super::parts::Parts;
use super::roles::Roles;
use crate::describe;
use crate::kind::FaultKind;

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

/// A plan to try.
#[derive(Clone)]
pub struct Try {
    /// The plan.
    pub plan: Plan,
    /// It matters which servers chance leads to.
    pub minds_server: bool,
    /// It was chosen for what chance had decided in the run that taught, and fits best if chance decides it again.
    pub as_seen: bool,
}

/// Faults of which one strikes after the other.
struct Chain {
    faults: Vec<PlannedFault>,
    minds_server: bool,
    as_seen: bool,
}

/// What to try in a world, the most promising first.
pub struct Shots {
    /// The plans.
    pub plans: Vec<Try>,
    /// So many of them are a fair sample: two of each kind of faults, and eight at least.
    pub sample: usize,
}

impl Shots {
    /// The order in which to try them: a sample, twice as many, and so on, from the first each time. What chance
    /// decides differs from run to run, so the most promising come again before the least promising come at all. The
    /// very first comes three times within the first four runs if chance can lead its victim past it.
    pub fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let all = self.plans.len();
        let widths = std::iter::successors(Some(self.sample), move |width| {
            (*width < all).then(|| width.saturating_mul(2))
        });
        let in_turn = widths.flat_map(move |width| 0..width.min(all));
        let elusive = self.plans.first().is_some_and(|first| first.minds_server);
        let at_first = if elusive { all.min(2) } else { 0 };
        let at_first = (0..at_first).flat_map(|place| [place, 0]);
        at_first.chain(in_turn.skip(if elusive { 2 } else { 0 }))
    }
}

/// What to try in the world of a plan without faults, the most promising first, given the moments of a run of it.
///
/// Every kind comes to its turn before any comes again. Two or three kinds are also tried together, each struck by the
/// one before it: twice as often as alone, for who names a few thinks of them together.
pub fn shots(plan: &Plan, seen: &[SeenMoment], kinds: &[FaultKind]) -> Shots {
    let lesson = Lesson {
        plan,
        seen,
        roles: Roles::of(plan, seen),
        parts: Parts::of(seen),
    };
    let alone: Vec<Vec<Chain>> = kinds.iter().map(|kind| lesson.chains(&[*kind])).collect();
    let mut together: Vec<Vec<Chain>> = Vec::new();
    if matches!(kinds.len(), 2 | 3) {
        let back: Vec<FaultKind> = kinds.iter().rev().copied().collect();
        together.push(lesson.chains(kinds));
        together.push(lesson.chains(&back));
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
            let mut plan = plan.clone();
            plan.faults.extend(chain.faults.iter().cloned());
            plans.push(Try {
                plan,
                minds_server: chain.minds_server,
                as_seen: chain.as_seen,
            });
        }
    }
    let sample = (alone.len() * 2 + together.len() * 4).max(8);
    Shots { plans, sample }
}

/// When the one at whom a shot is aimed has the lock next. A stream of replication that stands still hurts nobody
/// before the primary has answered what the replica is not told.
fn entry_after(seen: &[SeenMoment], shot: &Shot) -> Option<Trigger> {
    let later = seen.iter().filter(|moment| moment.at >= shot.moment.at);
    let mut triggers = later.map(|moment| &moment.trigger);
    let entry = triggers.find(|it| matches!(it, Trigger::Acquired { by, .. } if *by == shot.by));
    entry.cloned()
}

/// A moment to aim at.
struct Shot<'s> {
    /// How promising it is.
    score: u32,
    moment: &'s SeenMoment,
    /// Whose moment it is.
    by: ContenderName,
    variant: Variant,
}

/// So much less promising is a moment for each of its class that comes before it.
const WORN: u32 = 12;

/// What a kind of fault comes down to. A server that has not got it on its disk forgets who holds
/// the lock when it dies.
fn like(plan: &Plan, kind: FaultKind) -> FaultKind {
    match (&plan.service, kind) {
        (Service::Redis(_), FaultKind::CrashServer | FaultKind::PowerLoss) => FaultKind::EvictKey,
        (_, kind) => kind,
    }
}

/// What a run in which nothing breaks has taught.
struct Lesson<'s> {
    plan: &'s Plan,
    seen: &'s [SeenMoment],
    roles: Roles,
    parts: Parts,
}

impl<'s> Lesson<'s> {
    /// The first of these kinds at each moment, and the others at once when the one before has struck.
    fn chains(&self, kinds: &[FaultKind]) -> Vec<Chain> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        // A fault that strikes one request cannot wait for another fault.
        if rest.iter().any(|kind| strikes_request(*kind)) {
            return Vec::new();
        }
        let plan = self.plan;
        let moments = self.ranked(*first).into_iter();
        let chain = moments.map(|shot| {
            let blow = Blow::at(plan, &self.roles, shot.moment, shot.by);
            let entry = match (&plan.service, first) {
                (Service::Redis(_), FaultKind::HoldLink) => entry_after(self.seen, &shot),
                _ => None,
            };
            let mut faults: Vec<PlannedFault> = Vec::new();
            for kind in kinds {
                let variant = match faults.is_empty() {
                    true => shot.variant,
                    false => Variant::Follows,
                };
                for (inject, after) in blow.faults(*kind, variant) {
                    let place = plan.faults.len() + faults.len();
                    let when = match (faults.len(), &entry) {
                        (0, _) => shot.moment.trigger.clone(),
                        (1, Some(entry)) => entry.clone(),
                        _ => Trigger::Fired { fault: place - 1 },
                    };
                    let text = describe::fault(&inject);
                    faults.push(PlannedFault {
                        when,
                        after,
                        inject,
                        text,
                    });
                }
            }
            let minds_server = kinds.iter().any(|kind| minds_server(plan, *kind));
            Chain {
                faults,
                minds_server,
                as_seen: minds_server && !shot.moment.leads,
            }
        });
        chain.collect()
    }

    /// The moments that suit a kind of fault, the most promising first. Each of a class makes those after it less
    /// promising, so that the best of another comes between.
    fn ranked(&self, kind: FaultKind) -> Vec<Shot<'s>> {
        let (plan, roles) = (self.plan, &self.roles);
        let mut classes: Vec<((Class, Variant), Vec<Shot>)> = Vec::new();
        for moment in self.seen {
            let Some((class, by, nth)) = read(&moment.trigger) else {
                continue;
            };
            let part = self.parts.part(&moment.trigger);
            let class = class.with(part);
            let promise = promise(like(plan, kind), class);
            if promise == 0 {
                continue;
            }
            let score = promise * 10 + roles.suspense(moment, (by, nth), part);
            // It is not cut off from the leader, and its session does not move there.
            let at_leader = u32::from(minds_server(plan, kind) && moment.leads) * 5;
            let in_vain = roles.too_late(kind, moment, by) + roles.leaves_no_place(kind, moment);
            let worse = in_vain + at_leader;
            let score = score.saturating_sub(worse);
            for (variant, worn) in variants(kind).iter().zip((0..).step_by(WORN as usize)) {
                let score = score.saturating_sub(worn);
                let variant = *variant;
                let shot = Shot {
                    score,
                    moment,
                    by,
                    variant,
                };
                let class = (class.kin(), variant);
                match classes.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, of_class)) => of_class.push(shot),
                    None => classes.push((class, vec![shot])),
                }
            }
        }
        let mut ranked: Vec<Shot> = Vec::new();
        for (_, mut of_class) in classes {
            of_class.sort_by_key(|shot| std::cmp::Reverse(shot.score));
            let worn = (0..).step_by(WORN as usize).zip(of_class);
            ranked.extend(worn.map(|(worn, shot)| Shot {
                score: shot.score.saturating_sub(worn),
                ..shot
            }));
        }
        ranked.sort_by_key(|shot| std::cmp::Reverse(shot.score));
        ranked
    }
}
