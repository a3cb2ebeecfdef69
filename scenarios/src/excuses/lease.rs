//! Excuses for locks that are held by a lease, a key that expires by itself.
//!
//! - `mutual-exclusion`, `no-lost-update`, `fifo`, and, unless the resource is fenced, `no-stale-effect`: if the plan
//!   holds a pause, however short, for it may lie across the end of the lease; code that takes longer to go on than
//!   locks have to allow for; a clock that runs slower than that, or, at the server, jumps; a key that goes from
//!   outside; or a server that comes back without its keys.
//! - `fencing-monotonic`, and `no-stale-effect` even if the resource is fenced: if the plan holds a server that comes
//!   back without its keys, and so without the counter of tokens.
//! - `progress` and `no-orphan`: if the plan holds a server whose clock jumps back, for then a lease lasts longer.
//! - Of a lock that the end of a connection frees, `no-orphan`: if the plan holds what ends a connection, and what
//!   keeps the news of that from the service; and `no-lost-update` and `no-stale-effect`: if connections break.
//! - `exclusive-ownership`: if there are Sentinels, or a cluster, and the plan holds what makes them replace a primary
//!   that goes on; and if the plan promotes a replica.
//!   Otherwise it is never excused.

use picklock_algorithms::Owners;
use picklock_sim::plan::{Fault, Plan, PlannedFault};

use super::Excuse;

/// What these faults take from every lock in the world of this plan.
pub(super) fn excuses(plan: &Plan, faults: &[PlannedFault]) -> Vec<Excuse> {
    let mut excuses = Vec::new();
    let mut excuse = |invariant: &'static str, because: &'static str| {
        excuses.push(Excuse { invariant, because });
    };
    let forgets = |fault: &PlannedFault| {
        matches!(
            fault.inject,
            Fault::CrashServer { .. } | Fault::PowerLoss { .. } | Fault::Promote { .. }
        )
    };
    let forgotten = faults.iter().any(forgets);
    for (invariant, because) in super::barrier::excuses(plan, faults) {
        excuse(invariant, because);
    }
    if let Some(because) = replaced(plan, faults) {
        for invariant in [
            "exclusive-ownership",
            "mutual-exclusion",
            "no-lost-update",
            "fifo",
            "fencing-monotonic",
            "no-stale-effect",
        ] {
            excuse(invariant, because);
        }
    }
    if let Some(because) = blinded(plan, faults) {
        excuse("mutual-exclusion", because);
        excuse("no-lost-update", because);
        excuse("fifo", because);
        if !plan.resource.fenced || forgotten {
            excuse("no-stale-effect", because);
        }
        if forgotten {
            excuse("fencing-monotonic", because);
        }
    }
    for (invariant, because) in of_session(plan, faults) {
        excuse(invariant, because);
    }
    // A replica that takes over ends the lease by its own clock, which is behind one that has jumped forward.
    let (replicated, clustered) = (plan.service.has_links(), plan.service.elects());
    let prolongs = |fault: &PlannedFault| match fault.inject {
        Fault::ServerClockJump { by_millis, .. } => by_millis < 0 || replicated || clustered,
        _ => false,
    };
    if faults.iter().any(prolongs) {
        let because =
            "a clock of a server that jumps back, or ahead of a replica's, makes leases longer";
        excuse("progress", because);
        excuse("no-orphan", because);
    }
    excuses
}

/// What these faults take from locks that the end of a connection frees.
fn of_session(plan: &Plan, faults: &[PlannedFault]) -> Vec<(&'static str, &'static str)> {
    let mut excuses = Vec::new();
    if !matches!(plan.recipe.ownership.owners, Owners::OfSession) {
        return excuses;
    }
    let breaks = faults.iter().any(breaks_connection);
    if (breaks || faults.iter().any(hangs_up)) && faults.iter().any(keeps_news_back) {
        let because = "the service learns that a connection has ended when the news can reach it";
        excuses.push(("no-orphan", because));
    }
    if breaks {
        let because = "a write may be on its way when the connection ends, and the lock with it";
        excuses.push(("no-lost-update", because));
        excuses.push(("no-stale-effect", because));
    }
    excuses
}

/// Whether a connection breaks because of a fault.
fn breaks_connection(fault: &PlannedFault) -> bool {
    matches!(
        fault.inject,
        Fault::Cut { .. } | Fault::LoseReply { .. } | Fault::LoseRequest { .. }
    )
}

/// Whether a fault makes a contender close its connection.
fn hangs_up(fault: &PlannedFault) -> bool {
    matches!(fault.inject, Fault::Crash { .. } | Fault::Cancel { .. })
}

/// Whether a fault keeps the end of a connection from the service for a while.
fn keeps_news_back(fault: &PlannedFault) -> bool {
    matches!(
        fault.inject,
        Fault::BlackHole { .. }
            | Fault::SlowLink { .. }
            | Fault::LosePackets { .. }
            | Fault::Flap { .. }
            | Fault::Partition { .. }
            | Fault::DelayRequest { .. }
            | Fault::HangServer { .. }
    )
}

/// Why a primary that goes on may be replaced: a server that stands still, or cannot be reached, does not know it for a
/// while.
fn replaced(plan: &Plan, faults: &[PlannedFault]) -> Option<&'static str> {
    let deposes = |fault: &PlannedFault| {
        matches!(
            fault.inject,
            Fault::CrashServer { .. }
                | Fault::PowerLoss { .. }
                | Fault::HangServer { .. }
                | Fault::IsolateServer { .. }
                | Fault::Partition { .. }
                | Fault::FullDisk { .. }
                | Fault::HoldLink { .. }
                | Fault::Promote { .. }
        )
    };
    let promotes = |fault: &PlannedFault| matches!(fault.inject, Fault::Promote { .. });
    let replacing = match plan.service.elects() {
        true => Some("the cluster may replace a primary that goes on"),
        false if plan.service.sentinels() > 0 => {
            Some("the Sentinels may replace a primary that goes on")
        }
        // It goes on until it is told to follow the new one.
        false if faults.iter().any(promotes) => {
            Some("a replica is promoted while its primary goes on")
        }
        false => None,
    };
    replacing.filter(|_| faults.iter().any(deposes))
}

/// Why a contender can believe in a lock that the service has given away: its code takes so long, or a fault strikes.
fn blinded(plan: &Plan, faults: &[PlannedFault]) -> Option<&'static str> {
    let drift = drift_allowed(plan);
    if drift < 0 {
        return Some("code that takes so long to go on is a process that stands still");
    }
    faults.iter().find_map(|fault| blinds(&fault.inject, drift))
}

/// A lock that is held by a lease has to allow for clocks whose pace differs by so much, in parts per million: Redlock
/// allows for one in a hundred, and so do the recipes (`algorithms/src/redis/leased.rs`).
const DRIFT_ALLOWED: i32 = 10_000;

/// What is left of that if contenders take time until they act on the end of a lease: nothing, if they take it all.
fn drift_allowed(plan: &Plan) -> i32 {
    let (processing, lease) = (plan.processing_at_most(), plan.service.lease());
    let parts = processing.as_micros() * 1_000_000 / lease.as_micros().max(1);
    DRIFT_ALLOWED.saturating_sub(i32::try_from(parts).unwrap_or(i32::MAX))
}

/// Why this one fault is enough, where clocks may be so much slower, in parts per million.
fn blinds(fault: &Fault, drift_allowed: i32) -> Option<&'static str> {
    match fault {
        Fault::Pause { .. } => {
            Some("a process that stands still cannot notice that its lease ends")
        }
        Fault::ClockDrift {
            parts_per_million, ..
        } => (*parts_per_million < -drift_allowed)
            .then_some("a clock that runs slow notices the end of the lease too late"),
        Fault::ServerClockJump { .. } => Some("the server ends leases by a clock that jumps"),
        Fault::Promote { .. } => Some("the new primary may not have heard of the key"),
        Fault::EvictKey { .. } | Fault::DeleteStale { .. } => {
            Some("the key goes before the news can reach its owner")
        }
        Fault::CrashServer { restart_after, .. } | Fault::PowerLoss { restart_after, .. } => {
            Some(match restart_after {
                Some(_) => "a server that comes back has forgotten its keys",
                None => "the servers that are left may not have heard of the key",
            })
        }
        _ => None,
    }
}
