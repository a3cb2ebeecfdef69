//! Faults that follow another fault: when they strike, and which target.

use std::time::Duration;

use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, FaultKind, Plan, Trigger};

use super::durations::{restart, slot_move, whole};
use super::fault_targets::strikes_contender;
use super::fault_variants::Variant;
use super::moment_class::read;
use super::profile::{InjectionPoint, Profile};

/// When the second fault of a chain strikes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowupTiming {
    /// When the first has struck, and has come to show.
    AtOnce,
    /// When another leads because of it.
    Elected,
}

/// When a fault of a chain strikes, and which contender.
pub(super) struct FollowupFault<'s> {
    /// The moment that it goes by.
    pub(super) moment: &'s SeenMoment,
    pub(super) by: ContenderName,
    /// What it waits for; for the fault before it, if there is nothing else.
    pub(super) when: Option<Trigger>,
    pub(super) after: Duration,
    /// How long before the first fault of the chain it strikes.
    pub(super) early: Duration,
}

impl<'s> FollowupFault<'s> {
    /// The first fault of a chain.
    pub(super) fn of(shot: &InjectionPoint<'s>) -> Self {
        Self {
            moment: shot.moment,
            by: shot.by,
            when: Some(shot.moment.trigger.clone()),
            after: Duration::ZERO,
            early: Duration::ZERO,
        }
    }
}

impl<'s> Profile<'s> {
    /// When and at which target one of several kinds strikes, if it is not the first.
    pub(super) fn next_strike(
        &self,
        shot: &InjectionPoint<'s>,
        (kinds, nth): (&[FaultKind], usize),
        follows: Variant,
        then: FollowupTiming,
    ) -> FollowupFault<'s> {
        let (first, kind) = (kinds[0], kinds[nth]);
        if then == FollowupTiming::Elected {
            return self.when_elected(shot, (kind, nth));
        }
        let after = match nth {
            1 => shows_after(self.plan, first),
            _ => Duration::ZERO,
        };
        let at_once = FollowupFault {
            when: None,
            after,
            ..FollowupFault::of(shot)
        };
        let late = self.plan.service.row().replicates_asynchronously;
        if late && matches!(first, FaultKind::HoldLink | FaultKind::FullDisk) {
            let entry = self.entry_after(shot.moment, |by| by == shot.by);
            let Some(moment) = entry else {
                return at_once;
            };
            let when = (nth == 1).then(|| moment.trigger.clone());
            return FollowupFault {
                moment,
                when,
                ..at_once
            };
        }
        let dead = self.removes_target(first, shot.variant);
        let dies = self.removes_target(kind, follows);
        if !strikes_contender(self.plan, kind) || !(dead || dies) {
            return at_once;
        }
        let Some((by, moment)) = self.successor(shot, follows) else {
            return at_once;
        };
        match dead {
            // Nothing more can befall it.
            true => FollowupFault {
                moment,
                by,
                when: Some(moment.trigger.clone()),
                ..at_once
            },
            // What has befallen it is not to end with it.
            false => FollowupFault { by, ..at_once },
        }
    }

    /// A fault that strikes after an election. It needs two contenders: one finds the new leader, and one stays with
    /// the old.
    fn when_elected(
        &self,
        shot: &InjectionPoint<'s>,
        (kind, nth): (FaultKind, usize),
    ) -> FollowupFault<'s> {
        let mut strike = FollowupFault {
            when: (nth == 1).then_some(Trigger::Elected { nth: 1 }),
            by: self.another(shot.by),
            ..FollowupFault::of(shot)
        };
        if kind == FaultKind::Crash {
            // One that comes back when another leads is dead while the lock is free, so that nothing that it has asked
            // waits for the old leader to go on.
            let held = self.until(shot.moment).iter().rev();
            let acquired = |seen: &&SeenMoment| matches!(seen.trigger, Trigger::Acquired { by, .. } if by == shot.by);
            let entry = { held }.find(acquired);
            strike.when = entry.map(|entry| entry.trigger.clone());
            strike.early = entry.map_or(Duration::ZERO, |entry| shot.moment.at.since(entry.at));
        }
        strike
    }

    /// The next holder, and a moment of its turn: what lasts long comes when it is about to write.
    fn successor(
        &self,
        shot: &InjectionPoint<'s>,
        follows: Variant,
    ) -> Option<(ContenderName, &'s SeenMoment)> {
        let entry = self.entry_after(shot.moment, |by| by != shot.by)?;
        let (_, whose, _) = read(&entry.trigger)?;
        let mut later = self.since(entry).iter();
        let writes =
            |seen: &&SeenMoment| matches!(seen.trigger, Trigger::Writing { by, .. } if by == whose);
        let moment = match follows {
            Variant::Briefly => entry,
            _ => later.find(writes).unwrap_or(entry),
        };
        Some((whose, moment))
    }

    /// Whether its victim is not there any more after a fault.
    fn removes_target(&self, kind: FaultKind, variant: Variant) -> bool {
        match kind {
            FaultKind::Crash => restart(self.plan, variant).is_none(),
            kind => kind == FaultKind::Cancel,
        }
    }

    fn another(&self, by: ContenderName) -> ContenderName {
        let all = self.plan.workload.contenders.max(1);
        ContenderName((by.0 + 1) % all)
    }

    /// When one of these contenders has the lock next. A stream of replication that stands still does no harm before
    /// the primary has answered what the replica lacks.
    pub(super) fn entry_after(
        &self,
        moment: &SeenMoment,
        of: impl Fn(ContenderName) -> bool,
    ) -> Option<&'s SeenMoment> {
        let mut later = self.since(moment).iter();
        later.find(|seen| matches!(seen.trigger, Trigger::Acquired { by, .. } if of(by)))
    }

    /// What comes before a moment, and at it.
    fn until(&self, moment: &SeenMoment) -> &'s [SeenMoment] {
        let end = self.seen.partition_point(|seen| seen.at <= moment.at);
        &self.seen[..end]
    }

    /// What comes at a moment and after it.
    fn since(&self, moment: &SeenMoment) -> &'s [SeenMoment] {
        // Moments are in the order of time.
        let first = self.seen.partition_point(|seen| seen.at < moment.at);
        &self.seen[first..]
    }
}

/// How long it takes until what a fault has done shows, so that what follows meets it. A deaf client is told by answers
/// all the same, and what it asked when it came in is answered by then. The first key follows its slot late.
fn shows_after(plan: &Plan, kind: FaultKind) -> Duration {
    match kind {
        FaultKind::BlockEvents => plan.service.lease() / 10,
        FaultKind::MoveSlot => whole(slot_move(plan) * 17 / 64),
        _ => Duration::ZERO,
    }
}
