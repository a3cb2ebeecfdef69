//! The mechanism of a violation: what has to stay as it is for a smaller run to be a smaller version of the failure.
//!
//! Two runs may break the same promise for other reasons: a failover gives a lock away, and so does a primary that
//! restarts with nothing on its disk. An overlap as long as a lease is the fault of the lock, and one of a few message
//! latencies no lock is free of. So a run is held against the one that it came from by
//!
//! - its **argument**, without names and numbers ([`Witness::kind`]);
//! - the **faults** in its causal past ([`past`]): of what kind, and what they struck;
//! - the **turns** on the way, from the call that led to the earlier hold until the promise was broken: how an owner
//!   lost the lock, what became of servers, whose request was sent again, who was asked for the lock in vain, and the
//!   moments that the contenders in it came through;
//! - how large an **overlap** is, measured by the latency of a message and by the lease;
//! - whether the **service** had two owners, too;
//! - whether the overlap is of two contenders, or of **one** that holds the lock twice;
//! - whether a contender that waits to the end waits behind another's node or key, or behind its **own**.

use std::collections::BTreeSet;
use std::time::Duration;

use picklock_checker::{
    ContenderId, Disowned, Event, EventKind, Failure, LockId, Mode, Reached, ServerChange, Token,
    Witness,
};
use picklock_sim::Simulated;
use picklock_sim::plan::Plan;

use super::struck::{Struck, TargetRole, struck, unheeded};
use crate::causal_history::past;

/// An overlap of fewer latencies of a message than this is one that no lock can prevent: no notification is faster.
const LATENCIES: u32 = 20;

/// Moments that many runs come through, and that say nothing of how a promise came to be broken.
const BYSTANDING: [&str; 3] = ["two-wait", "written-too-late", "fenced-out"];

/// How a run breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// The argument of its witness, without names and numbers.
    pub argument: String,
    /// The faults in its causal past.
    pub faults: BTreeSet<Struck>,
    /// What carried it.
    pub turns: BTreeSet<TurningPoint>,
    /// How large the overlap is, if it is one.
    pub overlap: Option<Extent>,
    /// Whether two owned the lock at once, or one more than there are permits.
    pub two_owners: bool,
    /// Whether the overlap is of one contender that holds the lock twice.
    pub with_itself: bool,
    /// Whether a contender waits to the end behind a node or key that is its own.
    pub behind_own: bool,
}

/// Something on the way to a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurningPoint {
    /// An owner's lease or session ended.
    Expired,
    /// Another contender took the lock away from its owner.
    TakenByOther,
    /// Another contender put its hold in the place of the owner's.
    Overwritten,
    /// An eviction or an operator took the lock away from its owner.
    TakenFromOutside,
    /// The service lost the claim of its owner: a failover, or a server that came back without it.
    LostByService,
    /// A server has become another.
    Server(ServerChange),
    /// A client library sent a request again.
    Resent,
    /// A contender that waits to the end, or that it waits behind, has given up a call of `acquire` before, for time.
    TimedOut,
    /// A contender that held the lock, waited, or did neither was asked for it in vain, and holds it to the end.
    Unheeded(TargetRole),
    /// A contender that takes part came through this moment ([`SOMETIMES`](picklock_checker::SOMETIMES)).
    Moment(&'static str),
}

/// How large an overlap is, by what tells a broken lock from a sound one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// A few latencies of a message: a notification in time can be as late as this.
    Messages,
    /// Longer, but only a small part of the lease.
    Short,
    /// At least a tenth of the lease.
    Long,
    /// At least as long as the lease.
    Lease,
}

impl TurningPoint {
    /// How an owner lost the lock by it, if one did.
    pub fn loss(self) -> Option<&'static str> {
        match self {
            Self::Expired => Some("expired"),
            Self::TakenByOther => Some("taken by another"),
            Self::Overwritten => Some("overwritten"),
            Self::TakenFromOutside => Some("taken from outside"),
            Self::LostByService => Some("lost by the service"),
            Self::Server(_)
            | Self::Resent
            | Self::TimedOut
            | Self::Unheeded(_)
            | Self::Moment(_) => None,
        }
    }
}

impl Extent {
    /// The size of an overlap in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Messages => "an overlap of a few messages",
            Self::Short => "a short overlap",
            Self::Long => "an overlap of at least a tenth of the lease",
            Self::Lease => "an overlap of at least the lease",
        }
    }

    /// The class of an overlap.
    pub fn of(overlap: Duration, latency: Duration, lease: Duration) -> Self {
        if overlap >= lease {
            Self::Lease
        } else if overlap <= latency * LATENCIES {
            Self::Messages
        } else if overlap >= lease / 10 {
            Self::Long
        } else {
            Self::Short
        }
    }
}

impl Mechanism {
    /// How this run of a plan breaks the promise of a witness.
    pub fn of(plan: &Plan, simulated: &Simulated, witness: &Witness) -> Self {
        let history = &simulated.run.history;
        let until = history.events.partition_point(|old| old.at <= witness.at);
        let shown = witness.events.iter().copied();
        let shown: Vec<usize> = shown.filter(|index| *index < until).collect();
        let past = past(plan, history, &shown);
        let events = &history.events[..until];
        let way = PathToViolation::of(events, &shown, &past);
        let (latency, lease) = (plan.latency_at_most(), simulated.run.facts.lease);
        Self {
            argument: witness.kind(),
            faults: struck(plan, events, &past),
            turns: { way.turns().into_iter() }
                .chain(
                    unheeded(plan, events)
                        .into_iter()
                        .map(TurningPoint::Unheeded),
                )
                .chain(way.times_out(&shown).then_some(TurningPoint::TimedOut))
                .collect(),
            overlap: witness.overlap.map(|long| Extent::of(long, latency, lease)),
            two_owners: way.has_two_owners(simulated.run.facts.permits),
            with_itself: witness.overlap.is_some() && is_of_one(events, &shown),
            behind_own: shown.iter().any(|index| waits_behind_own(events, *index)),
        }
    }

    /// Whether this is the mechanism of another run, of which it is known whether every kind of fault is needed.
    pub fn is(&self, other: &Self, all_needed: bool) -> bool {
        let Self {
            argument,
            faults,
            turns,
            overlap,
            two_owners,
            with_itself,
            behind_own,
        } = self;
        let faults_fit = match all_needed {
            true => *faults == other.faults,
            false => faults.is_subset(&other.faults),
        };
        faults_fit
            && (argument, turns, overlap) == (&other.argument, &other.turns, &other.overlap)
            && (two_owners, with_itself) == (&other.two_owners, &other.with_itself)
            && *behind_own == other.behind_own
    }
}

/// Whether what is shown is a contender that waits to the end for itself. A service without a queue does not say what
/// is ahead of it: that is the owner.
fn waits_behind_own(events: &[Event], shown: usize) -> bool {
    let EventKind::StillWaiting {
        by, lock, owner, ..
    } = events[shown].what
    else {
        return false;
    };
    let mut changes = events.iter().rev().filter_map(|event| match event.what {
        EventKind::Owned { by, lock: of, .. } => (of == lock).then_some(Some(by)),
        EventKind::Disowned { lock: of, .. } => (of == lock).then_some(None),
        _ => None,
    });
    owner.or_else(|| changes.next().flatten()) == Some(by)
}

/// Whether all that is shown is of one contender.
fn is_of_one(events: &[Event], shown: &[usize]) -> bool {
    let mut by = shown.iter().filter_map(|index| events[*index].what.by());
    let first = by.next();
    by.all(|other| Some(other) == first)
}

/// The part of a history from the call that led up to the first event of a witness until the promise was broken.
struct PathToViolation<'h> {
    events: &'h [Event],
    past: &'h [usize],
    from: usize,
    /// Who takes part: the contenders that the witness is about, and those that took something away from them.
    who: BTreeSet<ContenderId>,
}

impl<'h> PathToViolation<'h> {
    fn of(events: &'h [Event], shown: &[usize], past: &'h [usize]) -> Self {
        let first = shown.first().copied().unwrap_or(0);
        let by = |index: usize| events.get(index).and_then(|event| event.what.by());
        let led_up = |index: &usize| {
            let what = &events[*index].what;
            matches!(what, EventKind::AcquireStarted { .. }) && what.by() == by(first)
        };
        let from = (0..first.min(events.len())).rev().find(led_up);
        let from = from.unwrap_or(first);
        let mut who: BTreeSet<ContenderId> = shown.iter().filter_map(|index| by(*index)).collect();
        let taken = past.iter().filter_map(|index| {
            let EventKind::Disowned { by, how, .. } = events[*index].what else {
                return None;
            };
            match how {
                Disowned::RemovedBy(other) | Disowned::OverwrittenBy(other)
                    if *index >= from && who.contains(&by) =>
                {
                    Some(other)
                }
                Disowned::RemovedBy(_)
                | Disowned::OverwrittenBy(_)
                | Disowned::Released
                | Disowned::Expired
                | Disowned::Reaped
                | Disowned::RemovedFromOutside
                | Disowned::LostByService => None,
            }
        });
        let taken: Vec<ContenderId> = taken.collect();
        who.extend(taken);
        Self {
            events,
            past,
            from,
            who,
        }
    }

    /// The events of the past on the way.
    fn passed(&self) -> impl Iterator<Item = &'h EventKind> {
        let from = self.from;
        let past = self.past.iter().filter(move |index| **index >= from);
        past.map(|index| &self.events[*index].what)
    }

    fn turns(&self) -> BTreeSet<TurningPoint> {
        let mut turns: BTreeSet<TurningPoint> =
            self.passed().filter_map(|event| self.turn(event)).collect();
        let own = self
            .past
            .iter()
            .map(|index| (*index, self.events[*index].what));
        let own = own.filter(|(_, what)| what.by().is_none_or(|by| self.who.contains(&by)));
        let moments = Reached::from(own, self.from).names();
        let moments = moments.filter(|name| !BYSTANDING.contains(name));
        turns.extend(moments.map(TurningPoint::Moment));
        turns
    }

    fn turn(&self, what: &EventKind) -> Option<TurningPoint> {
        if let EventKind::ServerChanged { to, .. } = *what {
            return Some(TurningPoint::Server(to));
        }
        if let EventKind::Resent { .. } = what {
            return Some(TurningPoint::Resent);
        }
        let EventKind::Disowned { by, how, .. } = *what else {
            return None;
        };
        match how {
            Disowned::Released | Disowned::Reaped => None,
            Disowned::Expired => Some(TurningPoint::Expired),
            Disowned::RemovedBy(_) => Some(TurningPoint::TakenByOther),
            Disowned::OverwrittenBy(_) => Some(TurningPoint::Overwritten),
            Disowned::RemovedFromOutside => Some(TurningPoint::TakenFromOutside),
            Disowned::LostByService => Some(TurningPoint::LostByService),
        }
        .filter(|_| self.who.contains(&by))
    }

    /// Whether the lock is waited for to the end, and a contender that takes part has given up a call of `acquire`
    /// before, for time: to come again and again is another way to wait for each other than to wait for ever.
    fn times_out(&self, shown: &[usize]) -> bool {
        let waits =
            |index: &usize| matches!(self.events[*index].what, EventKind::StillWaiting { .. });
        let gives_up = |event: &Event| {
            let EventKind::AcquireFailed { by, why, .. } = event.what else {
                return false;
            };
            why == Failure::TimedOut && self.who.contains(&by)
        };
        shown.iter().any(waits) && self.events.iter().any(gives_up)
    }

    /// Whether on the way the service ever had two owners of one lock, or one more than there are permits.
    fn has_two_owners(&self, permits: u32) -> bool {
        let mut owners: BTreeSet<(LockId, Mode, ContenderId, Token)> = BTreeSet::new();
        for (index, event) in self.events.iter().enumerate() {
            if let EventKind::Owned {
                by,
                lock,
                token,
                mode,
                ..
            } = event.what
            {
                let others = owners
                    .iter()
                    .filter(|(of, in_mode, ..)| *of == lock && mode.excludes(*in_mode));
                if others.count() >= permits as usize && index >= self.from {
                    return true;
                }
                owners.insert((lock, mode, by, token));
            } else if let EventKind::Disowned {
                by, lock, token, ..
            } = event.what
            {
                owners.retain(|(of, _, who, with)| (*of, *who, *with) != (lock, by, token));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
