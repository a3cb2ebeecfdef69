//! What a fault leaves behind: moments that come only because of it, at which a second one is aimed.
//!
//! A run without faults teaches nothing of the code that runs when something has gone wrong: the look-up after a lost
//! answer, the requests of a new session in the middle of an `acquire`, the second way to set a key. So a run with one
//! fault teaches, too, and a second fault strikes whomever the first has struck, between that and its next hold.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use picklock_checker::{EventKind, FaultId, VirtualTime};
use picklock_sim::engine::Tape;
use picklock_sim::plan::{ContenderName, FaultKind, Plan, Strategy, Trigger};
use picklock_sim::{SeenMoment, Simulated, simulate_seen};

use super::fault_sequences::Aim;
use super::fault_variants::Variant;
use super::followup_faults::FollowupTiming;
use super::moment_class::{MomentClass, read};
use super::next_run::NextRun;
use super::profile::{InjectionPoint, MomentOwner, Profile};
use crate::fault_fields::Parts;

/// So many second faults are tried after each first one, each of another kind, before the next has its turn.
const TRIED: usize = 5;

/// So many first faults of a kind teach.
const OF_A_KIND: usize = 16;

/// How much more promising a request is that comes right behind something else than in a run without faults, and how
/// much less each further moment of a kind.
const NEW: u32 = 100;

/// How much more promising any other request is that the victim makes now.
const AGAIN: u32 = 25;

/// First faults, and what is tried after them.
#[derive(Default)]
pub(super) struct Aftermath {
    first: Vec<Plan>,
    /// How many of them have taught, over and over.
    taught: usize,
    /// What comes right behind what, for one contender, in the run without faults.
    known: Vec<Step>,
    next: VecDeque<Plan>,
    /// The seed of the run that taught: the moments come again with it.
    seed: u64,
}

impl Aftermath {
    /// After faults of each of these kinds, given the moments of a run without faults.
    pub(super) fn of(profile: &Profile<'_>, kinds: &[FaultKind]) -> Self {
        let mut first = Vec::new();
        for kind in kinds {
            let single = profile.single_faults(*kind, OF_A_KIND).into_iter();
            first.extend(single.enumerate().map(|(turn, (place, aim))| {
                let key = (turn, !has_consequences(*kind), place);
                let chain = profile.chain(&aim, &[*kind]);
                (key, chain.in_world(profile.plan).plan)
            }));
        }
        first.sort_by_key(|(key, _)| *key);
        let seen = profile.seen;
        let mut known: Vec<Step> = Vec::new();
        for (step, _) in steps(seen) {
            if !known.contains(&step) {
                known.push(step);
            }
        }
        Self {
            first: first.into_iter().map(|(_, plan)| plan).collect(),
            known,
            ..Self::default()
        }
    }

    /// What comes next; `None` if there is no first fault. What teaches is run at once.
    pub(super) fn next(
        &mut self,
        kinds: &[FaultKind],
        chance: Strategy,
        seed: u64,
    ) -> Option<NextRun> {
        if let Some(plan) = self.next.pop_front() {
            return Some(NextRun::Planned(plan, self.seed));
        }
        let all = self.first.len();
        let (index, pass) = (self.taught.checked_rem(all)?, self.taught.checked_div(all)?);
        self.taught += 1;
        let mut plan = self.first[index].clone();
        plan.network.chance = chance;
        let (simulated, seen) = simulate_seen(&plan, Tape::explored(chance, seed));
        let kinds = FaultKind::tried_in(&plan, kinds);
        self.next = self.seconds(&plan, (&simulated, &seen), &kinds, pass * TRIED);
        self.seed = seed;
        Some(NextRun::Ran(plan, Box::new(simulated)))
    }

    /// The plan with a second fault: of all that there are, the most promising first, those after so many.
    fn seconds(
        &self,
        plan: &Plan,
        (simulated, seen): (&Simulated, &[SeenMoment]),
        kinds: &[FaultKind],
        before: usize,
    ) -> VecDeque<Plan> {
        let Some(struck) = struck_at(simulated) else {
            return VecDeque::new();
        };
        let window = Window::of(plan, seen, struck);
        let mut profile = Profile::of(plan, seen);
        profile.owners.retain(|owner| window.holds(owner));
        let new: Vec<&Trigger> = steps(seen)
            .filter(|(step, _)| !self.known.contains(step))
            .map(|(_, moment)| &moment.trigger)
            .collect();
        let mut points: Vec<(FaultKind, InjectionPoint)> = Vec::new();
        for kind in kinds {
            let mut of_kind: Vec<((MomentClass, Variant), InjectionPoint)> = Vec::new();
            for (class, mut point) in profile.suiting(*kind, FollowupTiming::AtOnce) {
                if is_request(&point.moment.trigger) {
                    let is_new = new.contains(&&point.moment.trigger);
                    point.score += if is_new { NEW } else { AGAIN };
                }
                match of_kind.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, best)) if point.score > best.score => *best = point,
                    Some(_) => {}
                    None => of_kind.push((class, point)),
                }
            }
            of_kind.sort_by_key(|(_, point)| Reverse(point.score));
            // The best of each kind, then the next of each, and so on.
            let worn = (0..).step_by(NEW as usize);
            for ((_, mut point), worn) in of_kind.into_iter().zip(worn) {
                point.score = point.score.saturating_sub(worn);
                points.push((*kind, point));
            }
        }
        points.sort_by_key(|(_, point)| Reverse(point.score));
        let points = points.iter().skip(before).take(TRIED);
        let chains = points.map(|(kind, point)| {
            let chain = profile.chain(&Aim::alone(*point), &[*kind]);
            chain.in_world(plan).plan
        });
        chains.collect()
    }
}

/// What a contender came through, and what right before.
type Step = (Option<MomentClass>, MomentClass);

/// The steps of all contenders, with the moments at which they came.
fn steps(seen: &[SeenMoment]) -> impl Iterator<Item = (Step, &SeenMoment)> {
    let mut last: BTreeMap<ContenderName, MomentClass> = BTreeMap::new();
    seen.iter().filter_map(move |moment| {
        let (class, by, _) = read(&moment.trigger)?;
        let before = last.insert(by, class);
        Some(((before, class), moment))
    })
}

/// Whether it is a moment of a request.
fn is_request(trigger: &Trigger) -> bool {
    matches!(
        trigger,
        Trigger::Sent { .. }
            | Trigger::Proposed { .. }
            | Trigger::Committed { .. }
            | Trigger::Answered { .. }
            | Trigger::Received { .. }
    )
}

/// Whether a fault leaves its victim alive, and with something to make good.
fn has_consequences(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::LoseRequest
            | FaultKind::LoseReply
            | FaultKind::SwallowReply
            | FaultKind::DelayReply
            | FaultKind::Cut
            | FaultKind::ExpireSession
            | FaultKind::BlackHole
            | FaultKind::CrashServer
            | FaultKind::HangServer
    )
}

/// When the first fault struck, if it did.
fn struck_at(simulated: &Simulated) -> Option<VirtualTime> {
    let fired =
        |what: &EventKind| matches!(what, EventKind::FaultFired { fault } if *fault == FaultId(0));
    let mut events = simulated.run.history.events.iter();
    let event = events.find(|event| fired(&event.what))?;
    Some(event.at)
}

/// From the first fault to the next hold of its victim.
struct Window {
    from: VirtualTime,
    until: VirtualTime,
    victim: Option<ContenderName>,
}

impl Window {
    fn of(plan: &Plan, seen: &[SeenMoment], from: VirtualTime) -> Self {
        let fault = plan.faults.first();
        let target =
            fault.and_then(|first| Parts::of(&mut first.inject.clone()).contender.copied());
        let moment = fault.and_then(|first| read(&first.when));
        let victim = target.or_else(|| moment.map(|(_, by, _)| by));
        let entry = seen.iter().filter(|moment| moment.at > from).find(|moment| {
            matches!(moment.trigger, Trigger::Acquired { by, .. } if victim.is_none_or(|of| of == by))
        });
        let until = entry.map_or(VirtualTime::NEVER, |entry| entry.at);
        Self {
            from,
            until,
            victim,
        }
    }

    fn holds(&self, owner: &MomentOwner<'_>) -> bool {
        let at = owner.moment.at;
        self.from <= at && at <= self.until && self.victim.is_none_or(|victim| victim == owner.by)
    }
}
