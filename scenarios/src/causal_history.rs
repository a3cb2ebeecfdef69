//! The past of events: everything that they can have depended on.
//!
//! Messages are not part of a history, so the past is put together from what is: the order of each contender's own
//! events, the order in which the service grants the lock and its servers fail and take over, the order in which the
//! resource takes writes, and what the faults of the plan wait for and strike. It may hold more than there was to know,
//! and leaves out what only happened at the same time.

use std::collections::BTreeSet;

use picklock_checker::{
    ContenderId, Disowned, Event, EventKind, FaultId, History, LockId, ServiceEvent,
    ServiceEventKind,
};
use picklock_sim::plan::{Plan, Trigger};

use crate::reduced_plan::contenders_of;

/// The places of the events that these can have depended on, themselves included, in order.
pub fn past(plan: &Plan, history: &History, events: &[usize]) -> Vec<usize> {
    let mut past = BTreeSet::new();
    let mut open = events.to_vec();
    while let Some(event) = open.pop() {
        if past.insert(event) {
            open.extend(causes(plan, history, event));
        }
    }
    past.into_iter().collect()
}

/// Of what servers did and found, what can have led to the last of these events, by its place: what changes which
/// servers serve or what is served, and what is about the watches or keys of these contenders.
pub fn service_past(history: &History, past: &[usize]) -> Vec<usize> {
    let (Some(first), Some(last)) = (past.first(), past.last()) else {
        return Vec::new();
    };
    let events = past.iter().filter_map(|index| history.events.get(*index));
    let who: BTreeSet<ContenderId> = events.filter_map(|event| event.what.by()).collect();
    let mut events = past.iter().filter_map(|index| history.events.get(*index));
    let waits = events.any(|event| matches!(event.what, EventKind::StillWaiting { .. }));
    let mut lines = BTreeSet::new();
    let led_up = |(_, event): &(usize, &ServiceEvent)| {
        // The beginning of a session counts even if it came before: only it says which session later events are about.
        let begins = matches!(event.what, ServiceEventKind::SessionEstablished { .. });
        let is_in_time = (begins || event.after > *first) && event.after <= *last;
        let takes_part = event.row().about.is_some_and(|by| who.contains(&by));
        let is_new = match &event.what {
            // Each Sentinel logs it.
            ServiceEventKind::SentinelLog { line, .. } => {
                let what = line
                    .split_once(" #quorum")
                    .map_or(line.as_str(), |(what, _)| what);
                lines.insert(what.to_owned())
            }
            // Which contender a message wakes matters if a contender waits in vain.
            ServiceEventKind::Subscribed { .. } | ServiceEventKind::Published { .. } => waits,
            _ => true,
        };
        is_in_time && is_new && (takes_part || event.row().changes_the_service)
    };
    let service = history.service.iter().enumerate();
    service.filter(led_up).map(|(index, _)| index).collect()
}

/// The places of the events that an event depends on directly.
pub fn causes(plan: &Plan, history: &History, event: usize) -> Vec<usize> {
    let before = &history.events[..event];
    let what = history.events[event].what;
    let mut causes = causes_of_subject(plan, before, &what);
    causes.extend(causes_of_kind(before, &what));
    causes
}

/// Causes that follow from the subject of the event.
fn causes_of_subject(plan: &Plan, before: &[Event], what: &EventKind) -> Vec<usize> {
    let mut causes = Vec::new();
    match subject(what) {
        Subject::Contender(by) => {
            causes.extend(last(before, |what| subject(what) == Subject::Contender(by)));
            causes.extend(struck(plan, before, by));
        }
        Subject::Fault(fault) if matches!(what, EventKind::FaultHealed { .. }) => {
            causes.extend(last(before, |what| subject(what) == Subject::Fault(fault)));
        }
        Subject::Fault(fault) => causes.extend(awaited(plan, before, fault)),
        // A server takes over because of what has happened to it or to others.
        Subject::Service => {
            causes.extend(last(before, |what| subject(what) == Subject::Service));
            causes.extend(struck_servers(plan, before));
        }
        Subject::Run => {}
    }
    causes
}

/// Causes that follow from the kind of the event.
fn causes_of_kind(before: &[Event], what: &EventKind) -> Vec<usize> {
    let mut causes = Vec::new();
    // The service makes a contender the owner because another is it no longer, or has left the queue; a contender that
    // queues up finds those before it; one that finds another gone may take that for a grant; and one that waits in
    // vain might have got the lock, and might have been notified.
    if let EventKind::Owned { lock, .. }
    | EventKind::Queued { lock, .. }
    | EventKind::Acquired { lock, .. }
    | EventKind::StillWaiting { lock, .. } = *what
    {
        causes.extend(last(before, |what| left(what, lock)));
    }
    if let EventKind::Owned { lock, .. } = *what {
        causes.extend(last(before, |what| owned(what, lock)));
    }
    if let EventKind::Queued { lock, .. } = *what {
        causes.extend(last(before, |what| queued(what, lock)));
    }
    if let EventKind::Effect { lock, .. } | EventKind::Read { lock, .. } = *what {
        causes.extend(last(before, |what| accepted(what, lock)));
    }
    // Which client a server leaves or finds, and when it takes a session for dead, is the service's.
    if let EventKind::Owned { .. }
    | EventKind::Disowned { .. }
    | EventKind::Unqueued { .. }
    | EventKind::SessionExpired { .. }
    | EventKind::Disconnected { .. }
    | EventKind::Reconnected { .. } = what
    {
        causes.extend(last(before, |what| subject(what) == Subject::Service));
    }
    // Another contender removes an owner, is waited for, or has left something behind.
    if let EventKind::Disowned {
        how: Disowned::RemovedBy(other) | Disowned::OverwrittenBy(other),
        ..
    }
    | EventKind::StillWaiting {
        owner: Some(other), ..
    }
    | EventKind::Leftover {
        owner: Some(other), ..
    } = *what
    {
        causes.extend(last(before, |what| what.by() == Some(other)));
    }
    causes
}

fn last(before: &[Event], is_it: impl Fn(&EventKind) -> bool) -> Option<usize> {
    before.iter().rposition(|event| is_it(&event.what))
}

fn left(what: &EventKind, of: LockId) -> bool {
    matches!(what,
        EventKind::Unqueued { lock, .. } | EventKind::Disowned { lock, .. } if *lock == of)
}

fn owned(what: &EventKind, of: LockId) -> bool {
    matches!(what, EventKind::Owned { lock, .. } if *lock == of)
}

fn queued(what: &EventKind, of: LockId) -> bool {
    matches!(what, EventKind::Queued { lock, .. } if *lock == of)
}

fn accepted(what: &EventKind, of: LockId) -> bool {
    matches!(what,
        EventKind::Effect { accepted: true, lock, .. } if *lock == of)
}

/// The faults that have struck a contender since its last event, and those of servers, which strike all.
fn struck(plan: &Plan, before: &[Event], by: ContenderId) -> Vec<usize> {
    let since = last(before, |what| subject(what) == Subject::Contender(by));
    let since = since.map_or(0, |since| since + 1);
    let struck = |index: &usize| {
        let Subject::Fault(fault) = subject(&before[*index].what) else {
            return false;
        };
        let targets = targets(plan, fault);
        targets.is_empty() || targets.contains(&by.0)
    };
    (since..before.len()).filter(struck).collect()
}

/// The faults that have struck servers since one of them changed.
fn struck_servers(plan: &Plan, before: &[Event]) -> Vec<usize> {
    let since = last(before, |what| subject(what) == Subject::Service);
    let since = since.map_or(0, |since| since + 1);
    let struck = |index: &usize| match subject(&before[*index].what) {
        Subject::Fault(fault) => targets(plan, fault).is_empty(),
        Subject::Contender(_) | Subject::Service | Subject::Run => false,
    };
    (since..before.len()).filter(struck).collect()
}

/// The contenders that a fault strikes; none, if it is the service that it strikes.
fn targets(plan: &Plan, fault: FaultId) -> Vec<u32> {
    let planned = plan.faults.get(fault.0 as usize);
    let named = planned.map(|planned| contenders_of(planned).1);
    let too = planned.map(|planned| planned.inject.strikes_too(&plan.workload));
    let all = named.into_iter().chain(too).flatten();
    all.map(|name| name.0).collect()
}

/// What a fault waited for: the last event of the contender that its trigger names, or another fault.
fn awaited(plan: &Plan, before: &[Event], fault: FaultId) -> Option<usize> {
    let planned = plan.faults.get(fault.0 as usize)?;
    let (by, _) = contenders_of(planned);
    let awaited = match (by, &planned.when) {
        (Some(by), _) => Subject::Contender(ContenderId(by.0)),
        (None, Trigger::Elected { .. }) => Subject::Service,
        (None, Trigger::Fired { fault }) => Subject::Fault(FaultId(u32::try_from(*fault).ok()?)),
        // It waited for a time.
        (None, _) => return None,
    };
    last(before, |what| subject(what) == awaited)
}

/// Whose event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Contender(ContenderId),
    Fault(FaultId),
    Service,
    Run,
}

fn subject(what: &EventKind) -> Subject {
    match (what.by(), what) {
        (Some(by), _) => Subject::Contender(by),
        (None, EventKind::FaultFired { fault } | EventKind::FaultHealed { fault }) => {
            Subject::Fault(*fault)
        }
        (None, EventKind::ServerChanged { .. }) => Subject::Service,
        (None, _) => Subject::Run,
    }
}
