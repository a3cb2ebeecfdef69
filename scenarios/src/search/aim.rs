//! The search that aims: it learns from a run in which nothing breaks which moments there are, and tries faults at
//! them, the most promising first.

use std::time::Duration;

use picklock_sim::SeenMoment;
use picklock_sim::plan::{
    ContenderName, Direction, Fault, Plan, PlannedFault, ServerName, Trigger,
};

use super::fits::{Class, promise, read};
use crate::describe;
use crate::kind::FaultKind;

/// The kinds of faults that a plan has, each once, in its order.
pub fn kinds_of(plan: &Plan) -> Vec<FaultKind> {
    let mut kinds = Vec::new();
    for fault in &plan.faults {
        let kind = FaultKind::of(&fault.inject);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The same plan without a fault.
#[must_use]
pub fn calm(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.faults.clear();
    plan
}

/// What to try in the world of a plan without faults, the most promising first, given the moments of a run of it.
///
/// Every kind comes to its turn before any comes again, and so does, for each kind, every class of moments. Two or
/// three kinds are first tried together, each struck by the one before it.
pub fn shots(plan: &Plan, seen: &[SeenMoment], kinds: &[FaultKind]) -> Vec<Plan> {
    let several = matches!(kinds.len(), 2 | 3);
    let mut lists: Vec<Vec<Vec<PlannedFault>>> = Vec::new();
    if several {
        let there: Vec<FaultKind> = kinds.to_vec();
        let back: Vec<FaultKind> = kinds.iter().rev().copied().collect();
        lists.push(chains(plan, seen, &there));
        lists.push(chains(plan, seen, &back));
    }
    lists.extend(kinds.iter().map(|kind| chains(plan, seen, &[*kind])));
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut shots = Vec::new();
    for turn in 0..longest {
        for faults in lists.iter().filter_map(|list| list.get(turn)) {
            let mut shot = plan.clone();
            shot.faults.extend(faults.iter().cloned());
            shots.push(shot);
        }
    }
    shots
}

/// The first of these kinds at each moment, and the others at once when the one before has struck.
fn chains(plan: &Plan, seen: &[SeenMoment], kinds: &[FaultKind]) -> Vec<Vec<PlannedFault>> {
    let Some((first, rest)) = kinds.split_first() else {
        return Vec::new();
    };
    // A fault that strikes one request cannot wait for another fault.
    if rest.iter().any(|kind| strikes_request(*kind)) {
        return Vec::new();
    }
    let moments = ranked(plan, seen, *first).into_iter();
    moments
        .map(|(trigger, by)| {
            let mut faults = vec![planned(plan, *first, by, trigger)];
            for kind in rest {
                let fault = plan.faults.len() + faults.len() - 1;
                faults.push(planned(plan, *kind, by, Trigger::Fired { fault }));
            }
            faults
        })
        .collect()
}

/// A moment to aim at: how promising it is, what to wait for, and whose moment it is.
type Shot = (u32, Trigger, ContenderName);

/// The moments that suit a kind of fault, the best of each class before the second of any.
fn ranked(plan: &Plan, seen: &[SeenMoment], kind: FaultKind) -> Vec<(Trigger, ContenderName)> {
    let mut classes: Vec<(Class, Vec<Shot>)> = Vec::new();
    for moment in seen {
        let Some((class, by, nth)) = read(&moment.trigger) else {
            continue;
        };
        let promise = promise(kind, class);
        if promise == 0 {
            continue;
        }
        let score = promise * 10 + suspense(plan, moment, by, nth);
        let shot = (score, moment.trigger.clone(), by);
        match classes.iter_mut().find(|(known, _)| *known == class) {
            Some((_, of_class)) => of_class.push(shot),
            None => classes.push((class, vec![shot])),
        }
    }
    let mut ranked: Vec<(usize, u32, Trigger, ContenderName)> = Vec::new();
    for (_, mut of_class) in classes {
        of_class.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
        let turns = of_class.into_iter().enumerate();
        ranked.extend(turns.map(|(turn, (score, trigger, by))| (turn, score, trigger, by)));
    }
    ranked.sort_by_key(|(turn, score, _, _)| (*turn, std::cmp::Reverse(*score)));
    let ranked = ranked.into_iter();
    ranked.map(|(_, _, trigger, by)| (trigger, by)).collect()
}

/// How much hangs on a moment, from 0 to 9: somebody holds the lock, somebody waits, and who is struck is neither the
/// first nor the last to come.
fn suspense(plan: &Plan, moment: &SeenMoment, by: ContenderName, nth: u32) -> u32 {
    let last = plan.workload.contenders.saturating_sub(1);
    let between = by.0 > 0 && by.0 < last;
    let first_time = nth == 1;
    u32::from(moment.held) * 2
        + u32::from(moment.waiting > 0)
        + u32::from(between) * 4
        + u32::from(first_time) * 2
}

fn strikes_request(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::LoseRequest
            | FaultKind::LoseReply
            | FaultKind::DelayRequest
            | FaultKind::DelayReply
    )
}

fn planned(plan: &Plan, kind: FaultKind, by: ContenderName, when: Trigger) -> PlannedFault {
    let inject = fault(plan, kind, by);
    PlannedFault {
        when,
        after: Duration::ZERO,
        text: describe::fault(&inject),
        inject,
    }
}

/// A fault of a kind as it hurts most: long enough for a session to end, or for a quorum to be missed.
fn fault(plan: &Plan, kind: FaultKind, target: ContenderName) -> Fault {
    let session = plan.service.lease();
    let (long, half) = (session * 3, session / 2);
    let its_server = ServerName::Of(target);
    match kind {
        FaultKind::Pause => Fault::Pause {
            target,
            length: long,
        },
        FaultKind::Crash => Fault::Crash {
            target,
            restart_after: None,
        },
        FaultKind::Cancel => Fault::Cancel { target },
        FaultKind::ExpireSession => Fault::ExpireSession { target },
        FaultKind::Cut => Fault::Cut { target },
        FaultKind::BlackHole => Fault::BlackHole {
            target,
            direction: Direction::Both,
            length: long,
        },
        FaultKind::SlowLink => {
            let (direction, by) = (Direction::ToClient, half / 10);
            Fault::SlowLink {
                target,
                direction,
                by,
                length: session,
            }
        }
        FaultKind::LoseRequest => Fault::LoseRequest { target },
        FaultKind::LoseReply => Fault::LoseReply { target },
        FaultKind::DelayRequest => Fault::DelayRequest { target, by: half },
        FaultKind::DelayReply => Fault::DelayReply { target, by: half },
        FaultKind::ClockJump => Fault::ClockJump {
            target,
            by_millis: -5_000,
        },
        FaultKind::ClockDrift => Fault::ClockDrift {
            target,
            parts_per_million: -300_000,
        },
        FaultKind::CrashServer => Fault::CrashServer {
            target: ServerName::Leader,
            restart_after: Some(half),
        },
        FaultKind::HangServer => Fault::HangServer {
            target: its_server,
            length: session,
        },
        FaultKind::IsolateServer => Fault::IsolateServer {
            target: its_server,
            length: long,
        },
        FaultKind::HoldLink => {
            let followers = u32::from(plan.service.servers()).saturating_sub(1);
            // So many that those who are left are no majority.
            let held = (followers / 2 + 1).min(followers);
            let from = (0..held.max(1)).map(ServerName::Follower).collect();
            Fault::HoldLink {
                from,
                to: ServerName::Leader,
                length: half,
            }
        }
        FaultKind::LagServer => Fault::LagServer {
            target: its_server,
            by: half,
            length: session,
        },
        FaultKind::SlowDisk => Fault::SlowDisk {
            target: ServerName::Leader,
            fsync: half / 10,
            length: session,
        },
        FaultKind::ServerClockJump => Fault::ServerClockJump {
            target: ServerName::Number(0),
            by_millis: i64::try_from(long.as_millis()).unwrap_or(i64::MAX),
        },
        FaultKind::EvictKey => Fault::EvictKey {
            target: ServerName::Number(0),
        },
        FaultKind::DeleteNode => Fault::DeleteNode { of: target },
        FaultKind::RecreateLock => Fault::RecreateLock,
    }
}
