//! What faults take from every lock, however good.
//!
//! A drawn plan can hold faults under which no lock over sessions can keep a promise: not a word can reach a process
//! that stands still. For such a plan the promise is not looked at, and this is the one place that says which, and
//! why. Everything else must hold, of every recipe, under every plan.
//!
//! - `mutual-exclusion`, if the plan holds a pause, a hold-up of messages, a callback that does not return while there
//!   is something to be told, or a cut between servers that comes near the session timeout; an end of the session, the
//!   node, or the lock from outside; or a clock that runs much too slow.
//! - `no-stale-effect`, under the same, unless the resource is fenced.
//! - `no-lost-update`, under the same, fenced or not: two who believe read the same value, and write in the order of
//!   their tokens.
//! - `fifo`, under the same: who is late to learn of a grant that has ended since comes in after the next.
//! - `no-orphan`, under what keeps an owner, or the service, from acting on the end of a session in time: several
//!   stand-stills one after the other, links that are slow or dead in one direction, and servers that stall.
//!
//! Of locks that are held by a lease, `excuses/lease.rs` says the same.
//!
//! Never excused: `exclusive-ownership`, `fencing-monotonic`, `own-release-only`, `honest-answer`, `progress`.

mod lease;

use std::time::Duration;

use picklock_sim::plan::{Direction, Ensemble, Fault, Plan, PlannedFault, Service};

/// A promise that nobody can keep under a plan, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The invariant.
    pub invariant: &'static str,
    /// Why it is not looked at.
    pub because: String,
}

/// What these faults take from every lock in the world of this plan.
pub fn excuses(plan: &Plan, faults: &[PlannedFault]) -> Vec<Excuse> {
    let ensemble = match &plan.service {
        Service::ZooKeeper(ensemble) => ensemble,
        Service::Redis(_) => return lease::excuses(plan, faults),
    };
    let mut excuses = Vec::new();
    let mut excuse = |invariant: &'static str, because: &str| {
        let because = because.to_owned();
        excuses.push(Excuse { invariant, because });
    };
    if let Some(because) = believes_too_long(ensemble, faults) {
        excuse("mutual-exclusion", because);
        if !plan.resource.fenced {
            excuse("no-stale-effect", because);
        }
        excuse("no-lost-update", because);
        excuse("fifo", because);
    }
    if let Some(because) = owns_too_long(ensemble, faults) {
        excuse("no-orphan", because);
    }
    excuses
}

/// Why somebody can believe in a lock that the service has given away.
fn believes_too_long(ensemble: &Ensemble, faults: &[PlannedFault]) -> Option<&'static str> {
    let deafens = |fault: &PlannedFault| matches!(fault.inject, Fault::BlockEvents { .. });
    if faults.iter().all(deafens) {
        return None; // There is nothing to be told.
    }
    let one = faults
        .iter()
        .find_map(|fault| blinds(ensemble, &fault.inject));
    let together: Duration = faults.iter().map(|fault| silence(&fault.inject)).sum();
    let several = faults
        .iter()
        .filter(|fault| !silence(&fault.inject).is_zero())
        .count()
        > 1;
    one.or_else(|| {
        let long = several && together >= margin(ensemble);
        long.then_some("several hold-ups together can outlast the session before its owner knows")
    })
}

/// Between the moment at which a client that hears nothing gives up on its connection (two thirds of the session
/// timeout) and the earliest end of its session lies a third of it. What keeps the client from looking, or from
/// being heard, for less than that is harmless.
fn margin(ensemble: &Ensemble) -> Duration {
    ensemble.granted_timeout() / 3
}

/// Why this one fault is enough.
fn blinds(ensemble: &Ensemble, fault: &Fault) -> Option<&'static str> {
    let margin = margin(ensemble);
    match fault {
        Fault::Pause { length, .. } => (*length >= margin)
            .then_some("a process that stands still cannot notice that its session ends"),
        Fault::BlockEvents { length, .. } => (*length >= margin)
            .then_some("whoever waits to be told is not told while a callback does not return"),
        Fault::ExpireSession { .. } => {
            Some("the service frees the lock before the news can reach its owner")
        }
        Fault::DeleteNode { .. } | Fault::RecreateLock => {
            Some("an operator frees the lock before the news can reach its owner")
        }
        Fault::IsolateServer { length, .. }
        | Fault::Partition { length, .. }
        | Fault::HoldLink { length, .. } => (*length >= margin).then_some(
            "a server that is cut off keeps its clients sure of sessions that have ended",
        ),
        Fault::LagServer { by, .. } => (*by >= margin).then_some(
            "a server that is behind keeps its clients sure of sessions that have ended",
        ),
        Fault::HangServer { length, .. } => (*length * 2 >= ensemble.granted_timeout()).then_some(
            "a leader that stood still ends sessions whose signs of life it has not read yet",
        ),
        Fault::SlowLink { direction, by, .. } => {
            let old = matches!(direction, Direction::ToClient | Direction::Both);
            (old && *by >= margin / 2).then_some("news that is old passes for a sign of life")
        }
        Fault::DelayReply { by, .. } => {
            (*by >= margin / 2).then_some("news that is old passes for a sign of life")
        }
        Fault::ClockDrift {
            parts_per_million, ..
        } => (*parts_per_million < -200_000)
            .then_some("a clock that runs slow notices the silence after the session has ended"),
        Fault::Crash { .. }
        | Fault::Cancel { .. }
        | Fault::Cut { .. }
        | Fault::BlackHole { .. }
        | Fault::LoseRequest { .. }
        | Fault::LoseReply { .. }
        | Fault::SwallowReply { .. }
        | Fault::LoseMessage { .. }
        | Fault::DelayRequest { .. }
        | Fault::ClockJump { .. }
        | Fault::CrashServer { .. }
        | Fault::PowerLoss { .. }
        | Fault::ServerClockJump { .. }
        | Fault::FullMemory { .. }
        | Fault::FullDisk { .. }
        | Fault::MoveSlot { .. }
        | Fault::EvictKey { .. }
        | Fault::Promote { .. }
        | Fault::SlowDisk { .. } => None,
    }
}

/// For how long a fault can keep a client from noticing what becomes of its session.
fn silence(fault: &Fault) -> Duration {
    match fault {
        Fault::Pause { length, .. }
        | Fault::BlockEvents { length, .. }
        | Fault::IsolateServer { length, .. }
        | Fault::Partition { length, .. }
        | Fault::HoldLink { length, .. } => *length,
        Fault::SlowLink { by, .. }
        | Fault::DelayReply { by, .. }
        | Fault::DelayRequest { by, .. }
        | Fault::LagServer { by, .. } => *by,
        Fault::Crash { .. }
        | Fault::Cancel { .. }
        | Fault::ExpireSession { .. }
        | Fault::Cut { .. }
        | Fault::BlackHole { .. }
        | Fault::LoseRequest { .. }
        | Fault::LoseReply { .. }
        | Fault::SwallowReply { .. }
        | Fault::LoseMessage { .. }
        | Fault::ClockJump { .. }
        | Fault::ClockDrift { .. }
        | Fault::CrashServer { .. }
        | Fault::PowerLoss { .. }
        | Fault::HangServer { .. }
        | Fault::SlowDisk { .. }
        | Fault::ServerClockJump { .. }
        | Fault::FullMemory { .. }
        | Fault::FullDisk { .. }
        | Fault::MoveSlot { .. }
        | Fault::EvictKey { .. }
        | Fault::Promote { .. }
        | Fault::DeleteNode { .. }
        | Fault::RecreateLock => Duration::ZERO,
    }
}

/// Why somebody can own the lock for longer than a session lives, and nobody knows.
fn owns_too_long(ensemble: &Ensemble, faults: &[PlannedFault]) -> Option<&'static str> {
    let one = faults
        .iter()
        .find_map(|fault| strands(ensemble, &fault.inject));
    let stalls = faults.iter().filter(|fault| stalls(&fault.inject)).count();
    one.or_else(|| {
        (stalls > 1).then_some("an owner that is held up again and again keeps its session")
    })
}

/// Why this one fault is enough.
fn strands(ensemble: &Ensemble, fault: &Fault) -> Option<&'static str> {
    let short = margin(ensemble) / 4;
    match fault {
        Fault::CrashServer { .. }
        | Fault::PowerLoss { .. }
        | Fault::HangServer { .. }
        | Fault::IsolateServer { .. }
        | Fault::Partition { .. }
        | Fault::HoldLink { .. } => Some(
            "a new leader gives every session its whole time again, and nothing happens without one",
        ),
        Fault::LagServer { by, .. } | Fault::SlowDisk { fsync: by, .. } => {
            (*by >= short).then_some("a server that is behind is late to tell who owns the lock")
        }
        Fault::BlockEvents { length, .. } => (*length >= short * 4)
            .then_some("an owner is not told of its turn while a callback does not return"),
        Fault::BlackHole { direction, .. } => {
            let half = matches!(direction, Direction::ToServer | Direction::ToClient);
            half.then_some(
                "a link that is dead in one direction keeps the session alive in the other",
            )
        }
        Fault::SlowLink { by, .. } => {
            (*by >= short).then_some("every step towards the lock takes a slow message or two")
        }
        Fault::DelayRequest { by, .. } => (*by >= short * 4).then_some(
            "a request that is late to arrive is a sign of life of one that may be dead",
        ),
        Fault::Pause { .. }
        | Fault::Crash { .. }
        | Fault::Cancel { .. }
        | Fault::ExpireSession { .. }
        | Fault::Cut { .. }
        | Fault::LoseRequest { .. }
        | Fault::LoseReply { .. }
        | Fault::SwallowReply { .. }
        | Fault::LoseMessage { .. }
        | Fault::DelayReply { .. }
        | Fault::ClockJump { .. }
        | Fault::ClockDrift { .. }
        | Fault::ServerClockJump { .. }
        | Fault::FullMemory { .. }
        | Fault::FullDisk { .. }
        | Fault::MoveSlot { .. }
        | Fault::EvictKey { .. }
        | Fault::Promote { .. }
        | Fault::DeleteNode { .. }
        | Fault::RecreateLock => None,
    }
}

/// Whether a fault holds up an owner without ending its session.
fn stalls(fault: &Fault) -> bool {
    match fault {
        Fault::Pause { .. }
        | Fault::BlockEvents { .. }
        | Fault::BlackHole { .. }
        | Fault::SlowLink { .. }
        | Fault::DelayRequest { .. }
        | Fault::DelayReply { .. } => true,
        Fault::Crash { .. }
        | Fault::Cancel { .. }
        | Fault::ExpireSession { .. }
        | Fault::Cut { .. }
        | Fault::LoseRequest { .. }
        | Fault::LoseReply { .. }
        | Fault::SwallowReply { .. }
        | Fault::LoseMessage { .. }
        | Fault::ClockJump { .. }
        | Fault::ClockDrift { .. }
        | Fault::CrashServer { .. }
        | Fault::PowerLoss { .. }
        | Fault::HangServer { .. }
        | Fault::IsolateServer { .. }
        | Fault::Partition { .. }
        | Fault::HoldLink { .. }
        | Fault::LagServer { .. }
        | Fault::SlowDisk { .. }
        | Fault::ServerClockJump { .. }
        | Fault::FullMemory { .. }
        | Fault::FullDisk { .. }
        | Fault::MoveSlot { .. }
        | Fault::EvictKey { .. }
        | Fault::Promote { .. }
        | Fault::DeleteNode { .. }
        | Fault::RecreateLock => false,
    }
}

#[cfg(test)]
mod tests {
    use picklock_sim::plan::{ContenderName, Network, Resource, ServerName, Trigger, Workload};

    use super::*;

    const TARGET: ContenderName = ContenderName(0);

    /// What is excused under these faults, with sessions of 6 s.
    fn excused(fenced: bool, faults: &[Fault]) -> Vec<&'static str> {
        let plan = Plan {
            recipe: picklock_algorithms::registry::RECIPES[0],
            service: Service::ZooKeeper(Ensemble {
                session_timeout: Duration::from_secs(6),
                ..Ensemble::default()
            }),
            network: Network::default(),
            workload: Workload::default(),
            resource: Resource { fenced },
            faults: Vec::new(),
            event_budget: 1,
        };
        let planned = faults.iter().map(|inject| PlannedFault {
            when: Trigger::At(Duration::ZERO),
            after: Duration::ZERO,
            inject: inject.clone(),
            text: String::new(),
        });
        let faults: Vec<PlannedFault> = planned.collect();
        let excuses = excuses(&plan, &faults).into_iter();
        excuses.map(|excuse| excuse.invariant).collect()
    }

    fn pause(length: Duration) -> Fault {
        let target = TARGET;
        Fault::Pause { target, length }
    }

    #[test]
    fn a_pause_is_an_excuse_only_if_the_session_can_end_in_it() {
        let believers = ["mutual-exclusion", "no-lost-update", "fifo"];
        assert!(excused(true, &[pause(Duration::from_millis(1_900))]).is_empty());
        assert_eq!(excused(true, &[pause(Duration::from_secs(2))]), believers);
    }

    #[test]
    fn who_is_not_told_believes_too_long_only_if_there_is_something_to_be_told() {
        let (target, length) = (TARGET, Duration::from_secs(2));
        let (cut, long) = (Fault::Cut { target }, Fault::BlockEvents { target, length });
        assert_eq!(excused(true, std::slice::from_ref(&long)), ["no-orphan"]);
        assert!(excused(true, &[long, cut]).contains(&"mutual-exclusion"));
    }

    #[test]
    fn a_fence_keeps_stale_writes_out_whatever_happens() {
        let long = pause(Duration::from_secs(20));
        assert!(excused(false, std::slice::from_ref(&long)).contains(&"no-stale-effect"));
        assert!(!excused(true, &[long]).contains(&"no-stale-effect"));
    }

    #[test]
    fn several_short_ones_are_as_bad_as_a_long_one() {
        let short = pause(Duration::from_millis(1_100));
        assert!(excused(true, &[short.clone(), short]).contains(&"mutual-exclusion"));
    }

    #[test]
    fn what_a_client_can_see_is_no_excuse() {
        let target = TARGET;
        let seen = [
            Fault::Cut { target },
            Fault::Cancel { target },
            Fault::LoseReply { target },
            Fault::LoseRequest { target },
            Fault::Crash {
                target,
                restart_after: None,
            },
            Fault::ClockJump {
                target,
                by_millis: -7_200_000,
            },
        ];
        assert!(excused(true, &seen).is_empty());
        let crash = Fault::CrashServer {
            target: ServerName::Leader,
            restart_after: None,
        };
        assert_eq!(excused(true, &[crash]), ["no-orphan"]);
    }

    #[test]
    fn some_promises_are_never_excused() {
        let target = TARGET;
        let all = [
            pause(Duration::from_secs(60)),
            Fault::ExpireSession { target },
            Fault::RecreateLock,
            Fault::IsolateServer {
                target: ServerName::Leader,
                length: Duration::from_secs(60),
            },
        ];
        let excused = excused(false, &all);
        for never in [
            "exclusive-ownership",
            "fencing-monotonic",
            "own-release-only",
            "honest-answer",
            "progress",
        ] {
            assert!(!excused.contains(&never), "{never}");
        }
    }
}
