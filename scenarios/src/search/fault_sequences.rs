//! Sequences of faults: at which moment the first strikes, and when and how the others follow.

use std::cmp::Reverse;

use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, FaultKind, Plan, PlannedFault, Trigger};

use super::candidate::Candidate;
use super::fault_parameters::AimedFault;
use super::fault_targets::{depends_on_server, strikes_request};
use super::fault_variants::{Variant, variants};
use super::fault_weights::{promise, promise_of_lapse, promise_of_outage};
use super::followup_faults::{FollowupFault, FollowupTiming};
use super::moment_class::MomentClass;
use super::profile::{InjectionPoint, MomentOwner, Profile, START};
use crate::describe;

/// Where faults are aimed at of which one strikes after the other.
pub(super) struct Aim<'s> {
    pub(super) point: InjectionPoint<'s>,
    /// What those after the first do.
    pub(super) follows: Variant,
    pub(super) then: FollowupTiming,
}

impl<'s> Aim<'s> {
    /// One fault there.
    pub(super) fn alone(point: InjectionPoint<'s>) -> Self {
        Self {
            point,
            follows: Variant::Follows,
            then: FollowupTiming::AtOnce,
        }
    }
}

/// Faults of which one strikes after the other.
pub(super) struct Chain {
    pub(super) faults: Vec<PlannedFault>,
    pub(super) depends_on_server: bool,
    pub(super) as_seen: bool,
    pub(super) elusive: bool,
}

impl Chain {
    /// The world with these faults.
    pub(super) fn in_world(&self, world: &Plan) -> Candidate {
        let mut plan = world.clone();
        plan.faults.extend(self.faults.iter().cloned());
        Candidate {
            plan,
            depends_on_server: self.depends_on_server,
            as_seen: self.as_seen,
            elusive: self.elusive,
        }
    }
}

/// So much less promising is a moment for each of its class that comes before it.
const WORN: u32 = 12;

/// What a kind of fault comes down to. A server without the lock on its disk forgets the holder when it dies.
fn like(plan: &Plan, kind: FaultKind) -> FaultKind {
    if !plan.service.row().replicates_asynchronously {
        return kind;
    }
    match kind {
        FaultKind::CrashServer | FaultKind::PowerLoss => FaultKind::EvictKey,
        // What its clients are told, its replicas are not.
        FaultKind::IsolateServer | FaultKind::Partition => FaultKind::HoldLink,
        // And what they are told, its disk is not.
        FaultKind::FullDisk => FaultKind::HoldLink,
        _ => kind,
    }
}

/// Whether it takes a leader away, or a primary, so that another may come to lead.
fn removes_leader(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::CrashServer
            | FaultKind::PowerLoss
            | FaultKind::HangServer
            | FaultKind::IsolateServer
    )
}

impl<'s> Profile<'s> {
    /// The first of these kinds at a moment, and the others at once when the one before has struck: so many, the most
    /// promising first.
    pub(super) fn aims(&self, kinds: &[FaultKind], most: usize) -> Vec<Aim<'s>> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        if !self.can_follow(*first, rest) {
            return Vec::new();
        }
        let then = FollowupTiming::AtOnce;
        let mut aims: Vec<Aim> = Vec::new();
        for point in self.ranked(*first, then, most) {
            let follows = match point.variant {
                Variant::OneLink => Variant::WithReplicas,
                _ => Variant::Follows,
            };
            let mut variants = vec![follows];
            if rest.contains(&FaultKind::Pause) {
                // A contender that has lost a request goes on when it sends it again.
                let first = usize::from(!strikes_request(*first));
                variants.insert(first, Variant::Briefly);
            }
            for (follows, worn) in variants.into_iter().zip((0..).step_by(WORN as usize)) {
                let score = point.score.saturating_sub(worn);
                let point = InjectionPoint { score, ..point };
                aims.push(Aim {
                    point,
                    follows,
                    then,
                });
            }
        }
        aims.sort_by_key(|aim| Reverse(aim.point.score));
        aims.truncate(most);
        aims
    }

    /// One fault of a kind: of its moments the `nth` (from zero), and then from the first again.
    pub(super) fn one(&self, kind: FaultKind, nth: usize) -> Option<Chain> {
        let aims = self.aims(&[kind], nth.saturating_add(1));
        let aim = aims.get(nth.checked_rem(aims.len())?)?;
        Some(self.chain(aim, &[kind]))
    }

    /// The first of these kinds takes the leader away, and the others strike when another leads: so many, the most
    /// promising first. None where no other server comes to.
    pub(super) fn aims_by_election(&self, kinds: &[FaultKind], most: usize) -> Vec<Aim<'s>> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        if !removes_leader(*first)
            || !self.can_follow(*first, rest)
            || self.plan.service.failover().is_none()
        {
            return Vec::new();
        }
        let (follows, then) = (Variant::WhenElected, FollowupTiming::Elected);
        let aim = |point| Aim {
            point,
            follows,
            then,
        };
        self.ranked(*first, then, most)
            .into_iter()
            .map(aim)
            .collect()
    }

    /// The so many most promising aims of a kind alone that are one fault, each with its place among all of the kind.
    pub(super) fn single_faults(&self, kind: FaultKind, most: usize) -> Vec<(usize, Aim<'s>)> {
        let at_start = AimedFault::at(self.plan, &self.holds, &START, ContenderName(0));
        let is_single = |variant: Variant| at_start.faults(kind, variant).len() == 1;
        let variants = variants(self.plan, kind).iter().copied();
        let single: Vec<Variant> = variants.filter(|variant| is_single(*variant)).collect();
        let mut looked_at = most;
        loop {
            let aims = self.aims(&[kind], looked_at);
            let is_all = aims.len() < looked_at || single.is_empty();
            let mut aims: Vec<(usize, Aim)> = aims.into_iter().enumerate().collect();
            aims.retain(|(_, aim)| single.contains(&aim.point.variant));
            aims.truncate(most);
            if is_all || aims.len() == most {
                return aims;
            }
            looked_at = looked_at.saturating_mul(2);
        }
    }

    /// How much less promising it is that a stream of replication stands still if the lock is not given away any more.
    fn loses_nothing(&self, kind: FaultKind, moment: &SeenMoment, by: ContenderName) -> u32 {
        let late = self.plan.service.row().replicates_asynchronously;
        let holds_back = late && kind == FaultKind::HoldLink;
        u32::from(holds_back && !self.holds.acquires_again(by, moment.at)) * 40
    }

    /// Whether its server is the leader, and that matters: one that turns read-only may have led before.
    fn is_at_leader(&self, moment: &SeenMoment) -> bool {
        moment.leads && !self.plan.service.reads_without_leader()
    }

    /// Whether replicas stand against each other for the place of a primary, so that none may come to lead in time.
    fn may_split_votes(&self, kinds: &[FaultKind]) -> bool {
        let service = &self.plan.service;
        let several = service.elects() && service.first_replicas().len() > 1;
        several && kinds.iter().any(|kind| removes_leader(*kind))
    }

    /// Whether these faults can do anything after that one.
    fn can_follow(&self, first: FaultKind, rest: &[FaultKind]) -> bool {
        // A fault that strikes one request cannot wait for another fault.
        if rest.iter().any(|kind| strikes_request(*kind)) {
            return false;
        }
        // A primary that is dead tells its replicas nothing, held or not.
        let dies = matches!(first, FaultKind::CrashServer | FaultKind::PowerLoss);
        let late = self.plan.service.row().replicates_asynchronously;
        !(late && dies && rest.contains(&FaultKind::HoldLink))
    }

    /// What is aimed at, worked out for these kinds.
    pub(super) fn chain(&self, aim: &Aim<'s>, kinds: &[FaultKind]) -> Chain {
        let (plan, shot, follows) = (self.plan, &aim.point, aim.follows);
        let mut faults: Vec<PlannedFault> = Vec::new();
        for (nth, kind) in kinds.iter().enumerate() {
            let FollowupFault {
                moment,
                by,
                when,
                after,
                early,
            } = match nth {
                0 => FollowupFault::of(shot),
                _ => self.next_strike(shot, (kinds, nth), follows, aim.then),
            };
            let variant = if nth == 0 { shot.variant } else { follows };
            let blow = AimedFault::at(plan, &self.holds, moment, by).earlier(early);
            for (of_kind, (inject, pause)) in blow.faults(*kind, variant).into_iter().enumerate() {
                let fired = Trigger::Fired {
                    fault: (plan.faults.len() + faults.len()).saturating_sub(1),
                };
                let (when, after) = match of_kind {
                    0 => (when.clone().unwrap_or(fired), after),
                    _ => (fired, pause),
                };
                let text = describe::fault(&inject);
                faults.push(PlannedFault {
                    when,
                    after,
                    repeat: None,
                    inject,
                    text,
                });
            }
        }
        let depends_on_server = kinds.iter().any(|kind| depends_on_server(plan, *kind));
        Chain {
            faults,
            depends_on_server,
            as_seen: depends_on_server && !self.is_at_leader(shot.moment),
            elusive: depends_on_server || self.may_split_votes(kinds),
        }
    }

    /// How promising one of the things that a kind of fault can do is at a moment; `None` if it would do nothing.
    fn score(&self, kind: FaultKind, variant: Variant, owner: &MomentOwner<'_>) -> Option<u32> {
        let (plan, holds) = (self.plan, &self.holds);
        let MomentOwner {
            moment, class, by, ..
        } = *owner;
        let promise = match variant {
            Variant::Outage => promise_of_outage(class),
            Variant::Away | Variant::Unheard => promise_of_lapse(class),
            _ => promise(like(plan, kind), class),
        };
        if promise == 0 {
            return None;
        }
        let score = promise * 10 + owner.suspense;
        if variant == Variant::Outage {
            return Some(score);
        }
        // It is not cut off from the leader, and its session does not move there.
        let leads = self.is_at_leader(moment) && class != MomentClass::Succeeding;
        let at_leader = u32::from(depends_on_server(plan, kind) && leads) * 5;
        let in_vain = holds.too_late(kind, moment, by) + holds.leaves_no_place(kind, moment);
        let worse = in_vain + at_leader + self.loses_nothing(kind, moment, by);
        Some(score.saturating_sub(worse))
    }

    /// The moments that suit a kind of fault, in the order in which they were seen, and what class each is of.
    pub(super) fn suiting(
        &self,
        kind: FaultKind,
        then: FollowupTiming,
    ) -> impl Iterator<Item = ((MomentClass, Variant), InjectionPoint<'s>)> {
        let variants = match then {
            FollowupTiming::AtOnce => variants(self.plan, kind),
            FollowupTiming::Elected => &[Variant::Outage],
        };
        self.owners.iter().flat_map(move |owner| {
            let worn = (0..).step_by(WORN as usize);
            let variants = variants.iter().zip(worn);
            variants.filter_map(move |(variant, worn)| {
                let score = self.score(kind, *variant, owner)?;
                let point = InjectionPoint {
                    score: score.saturating_sub(worn),
                    moment: owner.moment,
                    by: owner.by,
                    variant: *variant,
                };
                Some(((owner.class.kin(), *variant), point))
            })
        })
    }

    /// The so many moments that suit a kind of fault best, the most promising first. Each of a class makes those after
    /// it less promising, so that the best of another comes between.
    fn ranked(
        &self,
        kind: FaultKind,
        then: FollowupTiming,
        most: usize,
    ) -> Vec<InjectionPoint<'s>> {
        let mut classes: Vec<((MomentClass, Variant), MostPromising)> = Vec::new();
        // Not a loop: iterators of iterators go faster from within.
        self.suiting(kind, then).for_each(|(class, point)| {
            match classes.iter_mut().find(|(known, _)| *known == class) {
                Some((_, of_class)) => of_class.add(point, most),
                None => classes.push((class, MostPromising::of(point))),
            }
        });
        let mut ranked: Vec<(u32, InjectionPoint)> = Vec::new();
        for (_, mut of_class) in classes {
            of_class.cut(most);
            let worn = (0..).step_by(WORN as usize).zip(of_class.points);
            ranked.extend(worn.map(|(worn, mut point)| {
                point.score = point.score.saturating_sub(worn);
                (worn, point)
            }));
        }
        // Of two that are as promising, the one that is new in its class comes first.
        ranked.sort_by_key(|(worn, point)| (Reverse(point.score), *worn));
        ranked.truncate(most);
        ranked.into_iter().map(|(_, point)| point).collect()
    }
}

/// The most promising moments of a class: of those that are as promising, the first.
struct MostPromising<'s> {
    points: Vec<InjectionPoint<'s>>,
    /// Whatever comes now and is no more promising than this is not among them.
    least: Option<u32>,
}

impl<'s> MostPromising<'s> {
    fn of(point: InjectionPoint<'s>) -> Self {
        Self {
            points: vec![point],
            least: None,
        }
    }

    fn add(&mut self, point: InjectionPoint<'s>, most: usize) {
        if self.least.is_some_and(|least| point.score <= least) {
            return;
        }
        self.points.push(point);
        // As many more are let in, so that they are seldom sorted.
        if self.points.len() >= most.saturating_mul(2) {
            self.cut(most);
            self.least = self.points.last().map(|last| last.score);
        }
    }

    /// Sorts them, and leaves so many.
    fn cut(&mut self, most: usize) {
        self.points.sort_by_key(|point| Reverse(point.score));
        self.points.truncate(most);
    }
}
