//! Sequences of faults: at which moment the first strikes, and when and how the others follow.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, FaultKind, Plan, PlannedFault, Service, Trigger};

use super::candidate::Candidate;
use super::failovers::fails_over;
use super::fault_parameters::AimedFault;
use super::fault_targets::{depends_on_server, strikes_request};
use super::fault_variants::{Variant, variants};
use super::fault_weights::{promise, promise_of_lapse, promise_of_outage};
use super::followup_faults::{FollowupFault, FollowupTiming};
use super::moment_class::{MomentClass, read};
use super::profile::{InjectionPoint, Profile};
use super::request_roles::RequestRole;
use crate::describe;

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

/// Before anybody has asked for anything: clients look for a server, and open their sessions.
static START: SeenMoment = SeenMoment {
    at: VirtualTime::ZERO,
    trigger: Trigger::At(Duration::ZERO),
    waiting: 0,
    held: false,
    leads: false,
};

/// So much less promising is a moment for each of its class that comes before it.
const WORN: u32 = 12;

/// What a kind of fault comes down to. A server that has not got it on its disk forgets who holds
/// the lock when it dies.
fn like(plan: &Plan, kind: FaultKind) -> FaultKind {
    match (&plan.service, kind) {
        (Service::Redis(_), FaultKind::CrashServer | FaultKind::PowerLoss) => FaultKind::EvictKey,
        // What its clients are told, its replicas are not.
        (Service::Redis(_), FaultKind::IsolateServer | FaultKind::Partition) => FaultKind::HoldLink,
        // And what they are told, its disk is not.
        (Service::Redis(_), FaultKind::FullDisk) => FaultKind::HoldLink,
        (_, kind) => kind,
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
    /// The first of these kinds at each moment, and the others at once when the one before has struck.
    pub(super) fn chains(&self, kinds: &[FaultKind]) -> Vec<Chain> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        if !self.can_follow(*first, rest) {
            return Vec::new();
        }
        let mut chains: Vec<(u32, Chain)> = Vec::new();
        for shot in self.ranked(*first, FollowupTiming::AtOnce) {
            let follows = match shot.variant {
                Variant::OneLink => Variant::WithReplicas,
                _ => Variant::Follows,
            };
            let mut variants = vec![follows];
            if rest.contains(&FaultKind::Pause) {
                // Whoever has lost a request goes on when it says it again.
                let first = usize::from(!strikes_request(*first));
                variants.insert(first, Variant::Briefly);
            }
            for (variant, worn) in variants.into_iter().zip((0..).step_by(WORN as usize)) {
                let chain = self.chain(&shot, kinds, variant, FollowupTiming::AtOnce);
                chains.push((shot.score.saturating_sub(worn), chain));
            }
        }
        chains.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        chains.into_iter().map(|(_, chain)| chain).collect()
    }

    /// One fault of a kind: of its moments the `nth` (from zero), and then from the first again.
    pub(super) fn one(&self, kind: FaultKind, nth: usize) -> Option<Chain> {
        let shot = match nth {
            0 => self.best(kind)?,
            _ => {
                let mut ranked = self.ranked(kind, FollowupTiming::AtOnce);
                ranked.swap_remove(nth.checked_rem(ranked.len())?)
            }
        };
        Some(self.chain(&shot, &[kind], Variant::Follows, FollowupTiming::AtOnce))
    }

    /// The first of these kinds takes the leader away, and the others strike when another leads. None where nobody else
    /// comes to.
    pub(super) fn chains_by_election(&self, kinds: &[FaultKind]) -> Vec<Chain> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        if !removes_leader(*first) || !self.can_follow(*first, rest) || !fails_over(self.plan) {
            return Vec::new();
        }
        let moments = self.ranked(*first, FollowupTiming::Elected).into_iter();
        moments
            .map(|shot| self.chain(&shot, kinds, Variant::WhenElected, FollowupTiming::Elected))
            .collect()
    }

    /// How much less promising it is that a stream of replication stands still if the lock is not given away any more.
    fn loses_nothing(&self, kind: FaultKind, moment: &SeenMoment, by: ContenderName) -> u32 {
        let on_redis = matches!(self.plan.service, Service::Redis(_));
        let loses =
            kind != FaultKind::HoldLink || self.entry_after(moment, |it| it == by).is_some();
        u32::from(on_redis && !loses) * 40
    }

    /// Whether its server is the leader, and that matters: one that turns read-only may have led before.
    fn is_at_leader(&self, moment: &SeenMoment) -> bool {
        let read_only = matches!(&self.plan.service, Service::ZooKeeper(it) if it.read_only);
        moment.leads && !read_only
    }

    /// Whether replicas stand against each other for the place of a primary, so that none may come to lead in time.
    fn may_split_votes(&self, kinds: &[FaultKind]) -> bool {
        let cluster = self.plan.service.cluster();
        let several = cluster.is_some_and(|cluster| cluster.replicas > 1);
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
        let on_redis = matches!(self.plan.service, Service::Redis(_));
        !(on_redis && dies && rest.contains(&FaultKind::HoldLink))
    }

    /// The first kind at a moment, and the others after it.
    pub(super) fn chain(
        &self,
        shot: &InjectionPoint<'s>,
        kinds: &[FaultKind],
        follows: Variant,
        then: FollowupTiming,
    ) -> Chain {
        let plan = self.plan;
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
                _ => self.next_strike(shot, (kinds, nth), follows, then),
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

    /// Whose moment it is, and what it is to them: to the one whose it is, and, when it gives the lock back, to the one
    /// who has it next.
    fn moment_owners(
        &self,
        moment: &'s SeenMoment,
    ) -> impl Iterator<
        Item = (
            &'s SeenMoment,
            (MomentClass, ContenderName, u32),
            RequestRole,
        ),
    > + use<'s> {
        let role = self.request_roles.role(&moment.trigger);
        let own = read(&moment.trigger).map(|(class, by, nth)| (role.class(class), by, nth));
        let missed = moment.waiting > 0 && self.holds.can_miss_its_turn();
        let next = own.filter(|(class, ..)| *class == MomentClass::Releasing && missed);
        let next = next.and_then(|(_, by, nth)| {
            let entry = self.entry_after(moment, |it| it != by)?;
            read(&entry.trigger).map(|(_, by, _)| (MomentClass::Succeeding, by, nth))
        });
        let own = own.map(|own| (moment, own, role));
        let next = next.map(|next| (moment, next, RequestRole::Entry));
        own.into_iter().chain(next)
    }

    /// How promising one of the things that a kind of fault can do is at a moment; `None` if it would do nothing.
    fn score(
        &self,
        (kind, variant): (FaultKind, Variant),
        moment: &SeenMoment,
        (class, by, nth): (MomentClass, ContenderName, u32),
        role: RequestRole,
    ) -> Option<u32> {
        let (plan, holds) = (self.plan, &self.holds);
        let promise = match variant {
            Variant::Outage => promise_of_outage(class),
            Variant::Away | Variant::Unheard => promise_of_lapse(class),
            _ => promise(like(plan, kind), class),
        };
        if promise == 0 {
            return None;
        }
        let score = promise * 10 + holds.suspense(moment, (by, nth), role);
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
        let whose = self
            .seen
            .iter()
            .flat_map(|moment| self.moment_owners(moment));
        let connecting = (0..self.plan.workload.contenders).map(|by| {
            let by = ContenderName(by);
            (&START, (MomentClass::Connecting, by, 1), RequestRole::Whole)
        });
        let whose = connecting.chain(whose);
        whose.flat_map(move |(moment, whose, role)| {
            let (class, by, _) = whose;
            let worn = (0..).step_by(WORN as usize);
            variants
                .iter()
                .zip(worn)
                .filter_map(move |(variant, worn)| {
                    let score = self.score((kind, *variant), moment, whose, role)?;
                    let shot = InjectionPoint {
                        score: score.saturating_sub(worn),
                        moment,
                        by,
                        variant: *variant,
                    };
                    Some(((class.kin(), *variant), shot))
                })
        })
    }

    /// The first of [`ranked`](Self::ranked), without the others, where all strike at once.
    fn best(&self, kind: FaultKind) -> Option<InjectionPoint<'s>> {
        let mut best_of_classes: Vec<((MomentClass, Variant), InjectionPoint)> = Vec::new();
        // Not a loop: iterators of iterators go faster from within.
        self.suiting(kind, FollowupTiming::AtOnce)
            .for_each(|(class, shot)| {
                let mut known = best_of_classes.iter_mut();
                match known.find(|(known, _)| *known == class) {
                    Some((_, best)) if shot.score > best.score => *best = shot,
                    Some(_) => {}
                    None => best_of_classes.push((class, shot)),
                }
            });
        // Of those that are as promising, the first.
        let best = best_of_classes.into_iter().rev();
        best.max_by_key(|(_, shot)| shot.score)
            .map(|(_, shot)| shot)
    }

    /// The moments that suit a kind of fault, the most promising first. Each of a class makes those after it less
    /// promising, so that the best of another comes between.
    fn ranked(&self, kind: FaultKind, then: FollowupTiming) -> Vec<InjectionPoint<'s>> {
        let mut classes: Vec<((MomentClass, Variant), Vec<InjectionPoint>)> = Vec::new();
        for (class, shot) in self.suiting(kind, then) {
            match classes.iter_mut().find(|(known, _)| *known == class) {
                Some((_, of_class)) => of_class.push(shot),
                None => classes.push((class, vec![shot])),
            }
        }
        let mut ranked: Vec<(u32, InjectionPoint)> = Vec::new();
        for (_, mut of_class) in classes {
            of_class.sort_by_key(|shot| std::cmp::Reverse(shot.score));
            let worn = (0..).step_by(WORN as usize).zip(of_class);
            ranked.extend(worn.map(|(worn, mut shot)| {
                shot.score = shot.score.saturating_sub(worn);
                (worn, shot)
            }));
        }
        // Of two that are as promising, the one that is new in its class comes first.
        ranked.sort_by_key(|(worn, shot)| (std::cmp::Reverse(shot.score), *worn));
        ranked.into_iter().map(|(_, shot)| shot).collect()
    }
}
