//! Excuses: the promises that no lock can keep under the faults of a plan.
//!
//! A drawn plan can hold faults under which no lock over sessions can keep a promise: not a word can reach a process
//! that stands still. For such a plan the promise is not looked at, and this is the one place that says which, and
//! why. Everything else must hold, of every recipe, under every plan.
//!
//! - `mutual-exclusion`, if the plan holds a pause, a hold-up of messages, a callback that does not return while there
//!   is something to be told, or a cut between servers that comes near the session timeout; code that takes as long to
//!   go on; an end of the session, the node, or the lock from outside; a clock that runs much too slow; a link that is
//!   dead towards the service, and brings news of others, for most of a session; or two dead links of one contender,
//!   one of which brings old news while the other keeps its own word back.
//! - `no-stale-effect`, under the same, unless the resource is fenced.
//! - `no-lost-update`, under the same, fenced or not: two holders who believe read the same value, and write in the
//!   order of their tokens.
//! - `fifo`, under the same: a waiter that is late to learn of a grant that has ended since comes in after the next.
//! - `no-orphan`, under what keeps an owner, or the service, from acting on the end of a session in time: several
//!   stand-stills one after the other, or one after several broken connections; so many of these that together they
//!   outlast a session; links that are slow or dead in one direction, or dead when the owner dies; and servers that
//!   stall; and under an answer that never comes, where requests have no timeout.
//! - `progress`, under that one alone, which is not drawn: a client that waits for an answer for ever waits for ever.
//! - `barrier`, and `progress` of a double one, if the plan holds what deletes a node from outside: it is what its
//!   party is known by. A party that has died, or whose session has ended, the invariants excuse by themselves.
//!
//! Of locks that are held by a lease, `excuses/lease.rs` says the same.
//!
//! Never excused: `exclusive-ownership`, `fencing-monotonic`, `own-release-only`, `honest-answer`, `timely-loss`,
//! `all-or-none`; and of `mutual-exclusion`, what lies after the moment at which a holder could know of its loss, or
//! goes back to no loss.

mod barrier;
mod lease;

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_sim::plan::{
    ContenderName, Direction, Fault, FaultDuration, Plan, PlannedFault, Service, Workload,
};

/// A promise that no lock can keep under a plan, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The invariant.
    pub invariant: &'static str,
    /// Why it is not looked at.
    pub because: &'static str,
}

/// What these faults take from every lock in the world of this plan.
pub fn excuses(plan: &Plan, faults: &[PlannedFault]) -> Vec<Excuse> {
    if faults.iter().any(|fault| fault.repeat.is_some()) {
        return of_single_strikes(plan, &one_for_each_strike(faults));
    }
    of_single_strikes(plan, faults)
}

/// Faults that strike once, so many that they do what these do.
fn one_for_each_strike(faults: &[PlannedFault]) -> Vec<PlannedFault> {
    // More strikes than these take nothing that these do not take.
    const ENOUGH: usize = 16;
    let strikes = faults.iter().flat_map(|fault| {
        let once = PlannedFault {
            repeat: None,
            ..fault.clone()
        };
        std::iter::repeat_n(once, (fault.strikes() as usize).min(ENOUGH))
    });
    strikes.collect()
}

fn of_single_strikes(plan: &Plan, faults: &[PlannedFault]) -> Vec<Excuse> {
    let service = &plan.service;
    if service.session_tick().is_none() {
        return lease::excuses(plan, faults);
    }
    let mut excuses = Vec::new();
    let mut excuse = |invariant: &'static str, because: &'static str| {
        excuses.push(Excuse { invariant, because });
    };
    let processing = plan.processing_at_most();
    if let Some(because) = believes_too_long(&plan.workload, service, processing, faults) {
        excuse("mutual-exclusion", because);
        if !plan.resource.fenced {
            excuse("no-stale-effect", because);
        }
        excuse("no-lost-update", because);
        excuse("fifo", because);
    }
    let waits = waits_for_ever(service, faults);
    let owns = owns_too_long(service, processing, faults).or_else(|| never_answered(plan, faults));
    if let Some(because) = owns.or(waits) {
        excuse("no-orphan", because);
    }
    if let Some(because) = waits {
        excuse("progress", because);
    }
    for (invariant, because) in barrier::excuses(plan, faults) {
        excuse(invariant, because);
    }
    excuses
}

/// Why a contender can believe in a lock that the service has given away.
fn believes_too_long(
    workload: &Workload,
    service: &Service,
    processing: Duration,
    faults: &[PlannedFault],
) -> Option<&'static str> {
    let deafens = |fault: &PlannedFault| matches!(fault.inject, Fault::BlockEvents { .. });
    if faults.iter().all(deafens) {
        return None; // There is nothing to be told.
    }
    if processing >= margin(service) {
        return Some("code that takes so long to go on is a process that stands still");
    }
    let one = faults
        .iter()
        .find_map(|fault| blinds(service, &fault.inject));
    let silences = faults.iter().map(|fault| silence(&fault.inject));
    // Code that takes its time is one more of them.
    let silences = silences.chain([processing]).filter(|time| !time.is_zero());
    let several = silences.clone().count() > 1;
    let together: Duration = silences.sum();
    one.or_else(|| {
        let long = several && together >= margin(service);
        long.then_some("several hold-ups together can outlast the session before its owner knows")
    })
    .or_else(|| receives_stale_messages(workload, service, faults))
}

/// Why a client that is not heard any more can take what it hears for new: what was sent before arrives late, at the
/// end of one dead link, and another keeps its own word back from then on, until it would notice.
fn receives_stale_messages(
    workload: &Workload,
    service: &Service,
    faults: &[PlannedFault],
) -> Option<&'static str> {
    let dead = faults.iter().filter_map(|fault| match fault.inject {
        Fault::BlackHole {
            target,
            direction,
            length,
        } => Some((workload.process_of(target), direction, length)),
        _ => None,
    });
    let dead: Vec<_> = dead.collect();
    let notices = service.lease() * 2 / 3;
    let is_late = |direction, length: FaultDuration| {
        direction != Direction::ToServer && length.at_least(margin(service) / 2)
    };
    let is_mute = |direction, length: FaultDuration| {
        direction != Direction::ToClient && length.at_least(notices)
    };
    let found = dead
        .iter()
        .enumerate()
        .any(|(late, &(of, direction, length))| {
            let mut others = dead.iter().enumerate().filter(|(other, _)| *other != late);
            is_late(direction, length)
                && others.any(|(_, &(other, direction, length))| {
                    other == of && is_mute(direction, length)
                })
        });
    found.then_some("news that is old passes for a sign of life while no word of its own arrives")
}

/// Between the moment at which a client that hears nothing gives up on its connection (two thirds of the session
/// timeout) and the earliest end of its session lies a third of it. What keeps the client from looking, or from
/// being heard, for less than that is harmless.
fn margin(service: &Service) -> Duration {
    service.lease() / 3
}

/// A client that hears the service and is not heard for so long may lose its session. Its last sign of life can be a
/// third of the timeout old when the link dies; what a follower hears again, the leader hears half a tick later.
fn silence_until_expiry(service: &Service) -> Duration {
    let relayed = match service.voters() {
        1 => Duration::ZERO,
        _ => service.session_tick().unwrap_or_default() / 2,
    };
    (margin(service) * 2).saturating_sub(relayed)
}

/// Why this one fault is enough.
fn blinds(service: &Service, fault: &Fault) -> Option<&'static str> {
    let margin = margin(service);
    match fault {
        Fault::Pause { length, .. } => length
            .at_least(margin)
            .then_some("a process that stands still cannot notice that its session ends"),
        Fault::BlockEvents { length, .. } => length
            .at_least(margin)
            .then_some("a client hears of no event while a callback does not return"),
        Fault::ExpireSession { .. } => {
            Some("the service frees the lock before the news can reach its owner")
        }
        Fault::DeleteStale { .. }
        | Fault::DeleteNode { .. }
        | Fault::DeleteKey { .. }
        | Fault::RecreateLock => {
            Some("an operator frees the lock before the news can reach its owner")
        }
        Fault::IsolateServer { length, .. }
        | Fault::Partition { length, .. }
        | Fault::HoldLink { length, .. } => length.at_least(margin).then_some(
            "a server that is cut off keeps its clients sure of sessions that have ended",
        ),
        Fault::LagServer { by, .. } => (*by >= margin).then_some(
            "a server that is behind keeps its clients sure of sessions that have ended",
        ),
        Fault::HangServer { length, .. } | Fault::StallRaft { length, .. } => {
            length.at_least(service.lease() / 2).then_some(
                "a leader that stood still ends sessions whose signs of life it has not read yet",
            )
        }
        Fault::SlowLink { direction, by, .. } => {
            let old = matches!(direction, Direction::ToClient | Direction::Both);
            (old && *by >= margin / 2).then_some("news that is old passes for a sign of life")
        }
        // What was lost again and again comes at most as long after the end as it has been tried until then.
        Fault::LosePackets { length, .. } => {
            (*length * 2 >= margin / 2).then_some("news that is old passes for a sign of life")
        }
        Fault::Flap { down, .. } => {
            (down.1 >= margin / 2).then_some("news that is old passes for a sign of life")
        }
        Fault::DelayReply { by, .. } => {
            (*by >= margin / 2).then_some("news that is old passes for a sign of life")
        }
        Fault::BlackHole {
            direction: Direction::ToServer,
            length,
            ..
        } => length.at_least(silence_until_expiry(service)).then_some(
            "what others do passes for a sign of life while no word of its own reaches the leader",
        ),
        Fault::ClockDrift {
            parts_per_million, ..
        } => (*parts_per_million < -200_000)
            .then_some("a clock that runs slow notices the silence after the session has ended"),
        _ => None,
    }
}

/// Longer than any session lives.
const FOR_EVER: Duration = Duration::from_secs(366 * 24 * 3_600);

/// For how long a fault can keep a client from noticing what becomes of its session.
fn silence(fault: &Fault) -> Duration {
    match fault {
        Fault::Pause { length, .. }
        | Fault::BlockEvents { length, .. }
        | Fault::IsolateServer { length, .. }
        | Fault::Partition { length, .. }
        | Fault::HoldLink { length, .. } => length.at_most(FOR_EVER),
        Fault::LosePackets { length, .. } | Fault::Flap { length, .. } => *length * 2,
        Fault::SlowLink { by, .. }
        | Fault::DelayReply { by, .. }
        | Fault::DelayRequest { by, .. }
        | Fault::LagServer { by, .. } => *by,
        _ => Duration::ZERO,
    }
}

/// Why a contender can own the lock for longer than a session lives without knowing it.
fn owns_too_long(
    service: &Service,
    processing: Duration,
    faults: &[PlannedFault],
) -> Option<&'static str> {
    if processing >= margin(service) / 4 {
        return Some("every step towards the lock waits until its code goes on");
    }
    let one = faults
        .iter()
        .find_map(|fault| strands(service, &fault.inject));
    let stalls = faults.iter().filter(|fault| stalls(&fault.inject)).count();
    let breaks = faults
        .iter()
        .filter(|fault| disconnects(&fault.inject).is_some())
        .count();
    let again = stalls > 1 || (stalls == 1 && breaks >= MANY_BREAKS);
    let again = again.then_some("an owner that is held up again and again keeps its session");
    one.or(again)
        .or_else(|| delivered_after_crash(service, faults))
}

/// So many broken connections, one after the other, keep an owner from knowing for most of a session: each takes one
/// second or two, and is a sign of life when it is over.
const MANY_BREAKS: usize = 3;

/// Which contender's client a fault disconnects.
fn disconnects(fault: &Fault) -> Option<ContenderName> {
    match fault {
        Fault::Cut { target } | Fault::LoseRequest { target } | Fault::LoseReply { target } => {
            Some(*target)
        }
        _ => None,
    }
}

/// How long a client takes to notice that its connection is lost and to connect again, apart from its messages.
const RECONNECT: Duration = Duration::from_secs(2);

/// Why an owner can go without any answer for longer than a session lives: its connection breaks with each question,
/// and each new one is a sign of life.
fn never_answered(plan: &Plan, faults: &[PlannedFault]) -> Option<&'static str> {
    let mut breaks = BTreeMap::new();
    for target in faults.iter().filter_map(|fault| disconnects(&fault.inject)) {
        // Tasks share the session of their process: each break loses the requests of all of them.
        *breaks.entry(plan.workload.process_of(target)).or_insert(0) += 1;
    }
    let most: u32 = breaks.into_values().max()?;
    let each = RECONNECT + plan.latency_at_most() * 4;
    (each * most >= plan.service.lease_at_most())
        .then_some("an owner whose connection breaks again and again hears no answer")
}

/// Why the service can hear of one that is dead, if the plan holds a death and a link that is dead for a while.
fn delivered_after_crash(service: &Service, faults: &[PlannedFault]) -> Option<&'static str> {
    let dies = |fault: &PlannedFault| matches!(fault.inject, Fault::Crash { .. });
    let holds = |fault: &PlannedFault| match fault.inject {
        Fault::BlackHole { length, .. } => length.at_least(margin(service)),
        Fault::LosePackets { length, .. } => length * 2 >= margin(service),
        Fault::Flap { down, .. } => down.1 >= margin(service),
        _ => false,
    };
    let both = faults.iter().any(dies) && faults.iter().any(holds);
    both.then_some(
        "what was sent into a dead link arrives when it works again, be its sender dead by then",
    )
}

/// Why a contender can wait for an answer for ever, in a session that lives.
fn waits_for_ever(service: &Service, faults: &[PlannedFault]) -> Option<&'static str> {
    let swallows = |fault: &PlannedFault| matches!(fault.inject, Fault::SwallowReply { .. });
    let waits = !service.has_request_timeout() && faults.iter().any(swallows);
    waits.then_some(
        "where requests have no timeout, an answer that never comes is waited for for ever",
    )
}

/// Why this one fault is enough.
fn strands(service: &Service, fault: &Fault) -> Option<&'static str> {
    let short = margin(service) / 4;
    match fault {
        Fault::CrashServer { .. }
        | Fault::PowerLoss { .. }
        | Fault::HangServer { .. }
        | Fault::StallRaft { .. }
        | Fault::IsolateServer { .. }
        | Fault::Partition { .. }
        | Fault::HoldLink { .. } => Some(
            "a new leader gives every session its whole time again, and nothing happens without one",
        ),
        Fault::LagServer { by, .. } | Fault::SlowDisk { fsync: by, .. } => {
            (*by >= short).then_some("a server that is behind is late to tell who owns the lock")
        }
        Fault::BlockEvents { length, .. } => length.at_least(short * 4).then_some(
            "an owner does not hear that it owns the lock while a callback does not return",
        ),
        Fault::BlackHole { direction, .. } => {
            let half = matches!(direction, Direction::ToServer | Direction::ToClient);
            half.then_some(
                "a link that is dead in one direction keeps the session alive in the other",
            )
        }
        Fault::LosePackets { .. } | Fault::Flap { .. } => {
            Some("every step towards the lock can meet a link that loses it, or is down")
        }
        Fault::SlowLink { by, .. } => {
            (*by >= short).then_some("every step towards the lock takes a slow message or two")
        }
        Fault::DelayRequest { by, .. } => (*by >= short * 4).then_some(
            "a request that is late to arrive is a sign of life of one that may be dead",
        ),
        _ => None,
    }
}

/// Whether a fault holds up an owner without ending its session.
fn stalls(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Pause { .. }
            | Fault::BlockEvents { .. }
            | Fault::BlackHole { .. }
            | Fault::SlowLink { .. }
            | Fault::LosePackets { .. }
            | Fault::Flap { .. }
            | Fault::DelayRequest { .. }
            | Fault::DelayReply { .. }
    )
}

#[cfg(test)]
mod tests;
