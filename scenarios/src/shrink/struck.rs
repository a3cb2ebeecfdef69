//! The roles of the targets that the faults of a run struck. A fault that strikes a waiter differs from the same
//! fault that strikes the holder.

use std::collections::BTreeSet;

use picklock_checker::{ContenderId, Event, EventKind, ServerChange};
use picklock_sim::plan::{Fault, FaultDuration, FaultKind, Plan, ServerName, Service};

use crate::fault_fields::Parts;

/// A fault that struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Struck {
    /// Of what kind it is.
    pub kind: FaultKind,
    /// What it struck was to the lock or to the service.
    pub role: TargetRole,
    /// Whether nothing heals it.
    pub for_good: bool,
}

/// What a fault struck is to the lock, or to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetRole {
    /// A contender that held the lock, by its own belief or by the service's.
    Holder,
    /// A contender that waited for the lock.
    Waiter,
    /// A contender that did neither.
    Idle,
    /// The server that leads an ensemble.
    Leader,
    /// A server of an ensemble that follows.
    Follower,
    /// A server that follows and does not vote.
    Observer,
    /// A server that took itself for a primary.
    Primary,
    /// A replica.
    Replica,
    /// A Sentinel.
    Sentinel,
    /// A server of an ensemble, whatever it was to the others.
    Server,
    /// What is between machines, or all of them.
    Service,
}

impl TargetRole {
    /// Its name, in file names too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holder => "holder",
            Self::Waiter => "waiter",
            Self::Idle => "idle",
            Self::Leader => "leader",
            Self::Follower => "follower",
            Self::Observer => "observer",
            Self::Primary => "primary",
            Self::Replica => "replica",
            Self::Sentinel => "sentinel",
            Self::Server => "server",
            Self::Service => "service",
        }
    }
}

/// The faults that fired at these places.
pub(super) fn struck(plan: &Plan, events: &[Event], indices: &[usize]) -> BTreeSet<Struck> {
    let fired = indices.iter().filter_map(|index| {
        let EventKind::FaultFired { fault } = events.get(*index)?.what else {
            return None;
        };
        Some((*index, plan.faults.get(fault.0 as usize)?))
    });
    let struck = fired.map(|(index, planned)| Struck {
        kind: FaultKind::of(&planned.inject),
        role: target_role(&plan.service, &planned.inject, &events[..index]),
        for_good: planned.inject.lasts() == Some(FaultDuration::ForGood),
    });
    struck.collect()
}

/// What contenders were to the lock that were asked for it, and hold it to the end all the same.
pub(super) fn unheeded(plan: &Plan, events: &[Event]) -> BTreeSet<TargetRole> {
    let asked = events.iter().enumerate().filter_map(|(index, event)| {
        let EventKind::FaultFired { fault } = event.what else {
            return None;
        };
        match plan.faults.get(fault.0 as usize)?.inject {
            Fault::Revoke { of } => Some((index, ContenderId(of.0))),
            _ => None,
        }
    });
    let leaves = |event: &Event, by: ContenderId| {
        event.what.by() == Some(by)
            && matches!(
                event.what,
                EventKind::ReleaseStarted { .. }
                    | EventKind::Lost { .. }
                    | EventKind::Crashed { .. }
            )
    };
    let unheeded = asked.filter(|(index, by)| {
        let left = events[*index..].iter().any(|event| leaves(event, *by));
        !left && contender_is(events, *by) == TargetRole::Holder
    });
    unheeded
        .map(|(index, by)| contender_is(&events[..index], by))
        .collect()
}

fn target_role(service: &Service, fault: &Fault, before: &[Event]) -> TargetRole {
    let mut fault = fault.clone();
    let parts = Parts::of(&mut fault);
    match (parts.contender, parts.servers.as_slice()) {
        (Some(contender), _) => contender_is(before, ContenderId(contender.0)),
        (None, [server]) => server_is(service, before, server),
        // Between several, each may be anything to the other.
        (None, _) => TargetRole::Service,
    }
}

/// What a contender was about.
fn contender_is(before: &[Event], contender: ContenderId) -> TargetRole {
    let last = |is_it: fn(&EventKind) -> bool| {
        let its = |event: &Event| event.what.by() == Some(contender) && is_it(&event.what);
        before.iter().rposition(its)
    };
    let crashed = last(|what| matches!(what, EventKind::Crashed { .. }));
    let asked = last(|what| matches!(what, EventKind::AcquireStarted { .. }));
    let entered = last(|what| matches!(what, EventKind::Acquired { .. }));
    let failed = last(|what| {
        matches!(
            what,
            EventKind::AcquireFailed { .. } | EventKind::Cancelled { .. }
        )
    });
    let left = last(|what| {
        matches!(
            what,
            EventKind::ReleaseStarted { .. } | EventKind::Lost { .. }
        )
    });
    let owned = last(|what| matches!(what, EventKind::Owned { .. }));
    let disowned = last(|what| matches!(what, EventKind::Disowned { .. }));
    // A contender whose `acquire` is open waits, even if the service has granted it the lock by then.
    if asked > entered.max(failed).max(crashed) {
        TargetRole::Waiter
    } else if entered > left.max(crashed) || owned > disowned {
        TargetRole::Holder
    } else {
        TargetRole::Idle
    }
}

/// What a server was to the others.
fn server_is(service: &Service, before: &[Event], server: &ServerName) -> TargetRole {
    let number = match (service.row().has_roles, server) {
        (_, ServerName::Sentinel(_)) => return TargetRole::Sentinel,
        (_, ServerName::Observer(_)) => return TargetRole::Observer,
        (_, ServerName::Primary) => return TargetRole::Primary,
        (true, ServerName::Leader) => return TargetRole::Leader,
        (true, ServerName::Follower(_)) => return TargetRole::Follower,
        (true, ServerName::Number(_) | ServerName::Of(_)) => return TargetRole::Server,
        (_, ServerName::Number(number)) => *number,
        (_, ServerName::Leader | ServerName::Of(_)) => service.first_primary().into(),
        (_, ServerName::Follower(nth)) => {
            let replicas = service.first_replicas();
            let replica = replicas.get(*nth as usize).copied();
            replica.map_or(u32::MAX, u32::from)
        }
    };
    let changes = before.iter().rev().filter_map(|event| {
        let EventKind::ServerChanged { server, to } = event.what else {
            return None;
        };
        (server.0 == number).then_some(to)
    });
    let mut roles = changes.filter_map(|change| match change {
        ServerChange::Promoted | ServerChange::Elected => Some(TargetRole::Primary),
        ServerChange::Demoted => Some(TargetRole::Replica),
        ServerChange::Restarted => None,
    });
    roles
        .next()
        .unwrap_or_else(|| match service.is_primary_at_first(number) {
            true => TargetRole::Primary,
            false => TargetRole::Replica,
        })
}
