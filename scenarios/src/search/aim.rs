//! The search that aims: it learns from a run in which nothing breaks which moments there are, and tries faults at
//! them, the most promising first.

use std::time::Duration;

use picklock_sim::SeenMoment;
use picklock_sim::plan::{
    ContenderName, Direction, Fault, Plan, PlannedFault, ServerName, Trigger,
};

use super::fits::{Class, promise, read};
use super::roles::Roles;
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

/// What to try in a world, the most promising first.
pub struct Shots {
    /// The plans.
    pub plans: Vec<Plan>,
    /// So many of them are a fair sample: two of each kind of faults, and eight at least.
    pub sample: usize,
}

impl Shots {
    /// The order in which to try them: a sample, twice as many, and so on, from the first each time. What chance
    /// decides differs from run to run, so the most promising come again before the least promising come at all.
    pub fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let all = self.plans.len();
        let widths = std::iter::successors(Some(self.sample), move |width| {
            (*width < all).then(|| width.saturating_mul(2))
        });
        widths.flat_map(move |width| 0..width.min(all))
    }
}

/// What to try in the world of a plan without faults, the most promising first, given the moments of a run of it.
///
/// Every kind comes to its turn before any comes again. Two or three kinds are also tried together, each struck by the
/// one before it: twice as often as alone, for who names a few thinks of them together.
pub fn shots(plan: &Plan, seen: &[SeenMoment], kinds: &[FaultKind]) -> Shots {
    let alone: Vec<Vec<Vec<PlannedFault>>> = kinds
        .iter()
        .map(|kind| chains(plan, seen, &[*kind]))
        .collect();
    let mut together: Vec<Vec<Vec<PlannedFault>>> = Vec::new();
    if matches!(kinds.len(), 2 | 3) {
        let back: Vec<FaultKind> = kinds.iter().rev().copied().collect();
        together.push(chains(plan, seen, kinds));
        together.push(chains(plan, seen, &back));
    }
    let longest = alone.iter().chain(&together).map(Vec::len).max();
    let mut plans = Vec::new();
    for turn in 0..longest.unwrap_or(0) {
        let twice = [turn * 2, turn * 2 + 1];
        let first = twice
            .iter()
            .flat_map(|turn| together.iter().map(move |list| list.get(*turn)));
        let then = alone.iter().map(|list| list.get(turn));
        for faults in first.chain(then).flatten() {
            let mut shot = plan.clone();
            shot.faults.extend(faults.iter().cloned());
            plans.push(shot);
        }
    }
    let sample = (alone.len() * 2 + together.len() * 4).max(8);
    Shots { plans, sample }
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
    let delays = delays(plan, *first);
    moments
        .flat_map(|(trigger, by)| {
            delays
                .iter()
                .map(move |delay| (trigger.clone(), by, *delay))
        })
        .map(|(trigger, by, delay)| {
            let mut faults = vec![planned(plan, *first, by, trigger)];
            delayed(&mut faults[0], delay);
            for kind in rest {
                let fault = plan.faults.len() + faults.len() - 1;
                faults.push(planned(plan, *kind, by, Trigger::Fired { fault }));
            }
            faults
        })
        .collect()
}

/// How late a request or an answer is to be, if that is the fault: within a lease, and when it is over.
fn delays(plan: &Plan, kind: FaultKind) -> Vec<Option<Duration>> {
    let lease = plan.service.lease();
    match matches!(kind, FaultKind::DelayRequest | FaultKind::DelayReply) {
        true => vec![Some(lease / 2), Some(lease)],
        false => vec![None],
    }
}

fn delayed(fault: &mut PlannedFault, delay: Option<Duration>) {
    if let (Some(delay), Fault::DelayRequest { by, .. } | Fault::DelayReply { by, .. }) =
        (delay, &mut fault.inject)
    {
        *by = delay;
        fault.text = describe::fault(&fault.inject);
    }
}

/// A moment to aim at: how promising it is, what to wait for, and whose moment it is.
type Shot = (u32, Trigger, ContenderName);

/// So much less promising is a moment for each of its class that comes before it.
const WORN: u32 = 12;

/// The moments that suit a kind of fault, the most promising first. Each of a class makes those after it less
/// promising, so that the best of another comes between.
fn ranked(plan: &Plan, seen: &[SeenMoment], kind: FaultKind) -> Vec<(Trigger, ContenderName)> {
    let roles = Roles::of(plan, seen);
    let mut classes: Vec<(Class, Vec<Shot>)> = Vec::new();
    for moment in seen {
        let Some((class, by, nth)) = read(&moment.trigger) else {
            continue;
        };
        let promise = promise(kind, class);
        if promise == 0 {
            continue;
        }
        let score = promise * 10 + roles.suspense(moment, by, nth);
        let score = score.saturating_sub(roles.too_late(kind, moment, by));
        let shot = (score, moment.trigger.clone(), by);
        match classes.iter_mut().find(|(known, _)| *known == class) {
            Some((_, of_class)) => of_class.push(shot),
            None => classes.push((class, vec![shot])),
        }
    }
    let mut ranked: Vec<Shot> = Vec::new();
    for (_, mut of_class) in classes {
        of_class.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
        let worn = (0..).step_by(WORN as usize).zip(of_class);
        ranked.extend(worn.map(|(worn, (score, when, by))| (score.saturating_sub(worn), when, by)));
    }
    ranked.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
    let ranked = ranked.into_iter();
    ranked.map(|(_, trigger, by)| (trigger, by)).collect()
}

/// Whether a fault strikes the one request that its trigger speaks of.
pub(super) fn strikes_request(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::LoseRequest
            | FaultKind::LoseReply
            | FaultKind::LoseMessage
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
        FaultKind::LoseMessage => Fault::LoseMessage { target },
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
        FaultKind::PowerLoss => Fault::PowerLoss {
            target: ServerName::Number(0),
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
        FaultKind::Promote => Fault::Promote {
            target: ServerName::Number(1),
        },
        FaultKind::EvictKey => Fault::EvictKey {
            target: ServerName::Number(0),
        },
        FaultKind::DeleteNode => Fault::DeleteNode { of: target },
        FaultKind::RecreateLock => Fault::RecreateLock,
    }
}
