//! Faults that strike one after the other: at which moments the first, and when and how those that follow.

use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, Plan, PlannedFault, Service, Trigger};

use super::aim::Try;
use super::blow::{Blow, minds_server, strikes_request};
use super::failovers::fails_over;
use super::fits::{Class, promise, promise_of_outage, read};
use super::parts::Parts;
use super::roles::Roles;
use super::variant::{Variant, variants};
use crate::describe;
use crate::kind::FaultKind;

/// Faults of which one strikes after the other.
pub(super) struct Chain {
    pub(super) faults: Vec<PlannedFault>,
    pub(super) minds_server: bool,
    pub(super) as_seen: bool,
}

impl Chain {
    /// The world with these faults.
    pub(super) fn in_world(&self, world: &Plan) -> Try {
        let mut plan = world.clone();
        plan.faults.extend(self.faults.iter().cloned());
        Try {
            plan,
            minds_server: self.minds_server,
            as_seen: self.as_seen,
        }
    }
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
        // What its clients are told, its replicas are not.
        (Service::Redis(_), FaultKind::IsolateServer | FaultKind::Partition) => FaultKind::HoldLink,
        // And what they are told, its disk is not.
        (Service::Redis(_), FaultKind::FullDisk) => FaultKind::HoldLink,
        (_, kind) => kind,
    }
}

/// What a run in which nothing breaks has taught.
pub(super) struct Lesson<'s> {
    plan: &'s Plan,
    seen: &'s [SeenMoment],
    roles: Roles,
    parts: Parts,
}

/// When the second fault of a chain strikes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// When the first has struck.
    AtOnce,
    /// When another leads because of it.
    Elected,
}

impl<'s> Lesson<'s> {
    pub(super) fn of(plan: &'s Plan, seen: &'s [SeenMoment]) -> Self {
        Self {
            plan,
            seen,
            roles: Roles::of(plan, seen),
            parts: Parts::of(seen),
        }
    }

    /// The first of these kinds at each moment, and the others at once when the one before has struck.
    pub(super) fn chains(&self, kinds: &[FaultKind]) -> Vec<Chain> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        if !self.can_follow(*first, rest) {
            return Vec::new();
        }
        let mut chains: Vec<(u32, Chain)> = Vec::new();
        for shot in self.ranked(*first, Then::AtOnce) {
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
                let chain = self.chain(&shot, kinds, variant, Then::AtOnce);
                chains.push((shot.score.saturating_sub(worn), chain));
            }
        }
        chains.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        chains.into_iter().map(|(_, chain)| chain).collect()
    }

    /// One fault of a kind: of its moments the `nth` (from zero), and then from the first again.
    pub(super) fn one(&self, kind: FaultKind, nth: usize) -> Option<Chain> {
        let ranked = self.ranked(kind, Then::AtOnce);
        let shot = ranked.get(nth.checked_rem(ranked.len())?)?;
        Some(self.chain(shot, &[kind], Variant::Follows, Then::AtOnce))
    }

    /// The first of these kinds takes the leader away, and the others strike when another leads. None where nobody else
    /// comes to.
    pub(super) fn chains_by_election(&self, kinds: &[FaultKind]) -> Vec<Chain> {
        let Some((first, rest)) = kinds.split_first() else {
            return Vec::new();
        };
        let takes_leader = matches!(
            first,
            FaultKind::CrashServer
                | FaultKind::PowerLoss
                | FaultKind::HangServer
                | FaultKind::IsolateServer
        );
        if !takes_leader || !self.can_follow(*first, rest) || !fails_over(self.plan) {
            return Vec::new();
        }
        let moments = self.ranked(*first, Then::Elected).into_iter();
        moments
            .map(|shot| self.chain(&shot, kinds, Variant::WhenElected, Then::Elected))
            .collect()
    }

    fn another(&self, by: ContenderName) -> ContenderName {
        let all = self.plan.workload.contenders.max(1);
        ContenderName((by.0 + 1) % all)
    }

    /// When a contender has the lock next. A stream of replication that stands still hurts nobody before the primary
    /// has answered what the replica is not told.
    fn entry_after(&self, moment: &SeenMoment, whose: ContenderName) -> Option<&'s SeenMoment> {
        // Moments are in the order of time.
        let first = self.seen.partition_point(|it| it.at < moment.at);
        let mut later = self.seen[first..].iter();
        later.find(|it| matches!(it.trigger, Trigger::Acquired { by, .. } if by == whose))
    }

    /// How much less promising it is that a stream of replication stands still if the lock is not given away any more.
    fn loses_nothing(&self, kind: FaultKind, moment: &SeenMoment, by: ContenderName) -> u32 {
        let on_redis = matches!(self.plan.service, Service::Redis(_));
        let loses = kind != FaultKind::HoldLink || self.entry_after(moment, by).is_some();
        u32::from(on_redis && !loses) * 40
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
    fn chain(&self, shot: &Shot, kinds: &[FaultKind], follows: Variant, then: Then) -> Chain {
        let plan = self.plan;
        let entry = match (&plan.service, kinds.first()) {
            (Service::Redis(_), Some(FaultKind::HoldLink | FaultKind::FullDisk)) => {
                self.entry_after(shot.moment, shot.by)
            }
            _ => None,
        };
        let second = match then {
            Then::Elected => Some(Trigger::Elected { nth: 1 }),
            Then::AtOnce => entry.map(|moment| moment.trigger.clone()),
        };
        let mut faults: Vec<PlannedFault> = Vec::new();
        for (nth, kind) in kinds.iter().enumerate() {
            let (moment, variant) = match nth {
                0 => (shot.moment, shot.variant),
                _ => (entry.unwrap_or(shot.moment), follows),
            };
            // Whoever asks anew who leads is another than whoever stays with the old leader.
            let by = match (nth, then) {
                (1.., Then::Elected) => self.another(shot.by),
                _ => shot.by,
            };
            let blow = Blow::at(plan, &self.roles, moment, by);
            for (of_kind, (inject, after)) in blow.faults(*kind, variant).into_iter().enumerate() {
                let when = match (nth, of_kind, &second) {
                    (0, 0, _) => shot.moment.trigger.clone(),
                    (1, 0, Some(second)) => second.clone(),
                    _ => Trigger::Fired {
                        fault: plan.faults.len() + faults.len() - 1,
                    },
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
    }

    /// The moments that suit a kind of fault, the most promising first. Each of a class makes those after it less
    /// promising, so that the best of another comes between.
    fn ranked(&self, kind: FaultKind, then: Then) -> Vec<Shot<'s>> {
        let (plan, roles) = (self.plan, &self.roles);
        let variants = match then {
            Then::AtOnce => variants(plan, kind),
            Then::Elected => &[Variant::Outage],
        };
        let mut classes: Vec<((Class, Variant), Vec<Shot>)> = Vec::new();
        for moment in self.seen {
            let Some((class, by, nth)) = read(&moment.trigger) else {
                continue;
            };
            let part = self.parts.part(&moment.trigger);
            let class = class.with(part);
            let promise = match then {
                Then::AtOnce => promise(like(plan, kind), class),
                Then::Elected => promise_of_outage(class),
            };
            if promise == 0 {
                continue;
            }
            let score = promise * 10 + roles.suspense(moment, (by, nth), part);
            // It is not cut off from the leader, and its session does not move there.
            let at_leader = u32::from(minds_server(plan, kind) && moment.leads) * 5;
            let in_vain = roles.too_late(kind, moment, by) + roles.leaves_no_place(kind, moment);
            let worse = match then {
                Then::AtOnce => in_vain + at_leader + self.loses_nothing(kind, moment, by),
                Then::Elected => 0,
            };
            let score = score.saturating_sub(worse);
            for (variant, worn) in variants.iter().zip((0..).step_by(WORN as usize)) {
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
        let mut ranked: Vec<(u32, Shot)> = Vec::new();
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
