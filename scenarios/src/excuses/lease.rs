//! What faults take from every lock that is held by a lease: a key that goes by itself.
//!
//! - `mutual-exclusion`, `no-lost-update`, `fifo`, and, unless the resource is fenced, `no-stale-effect`: if the plan
//!   holds a pause, however short, for it may lie across the end of the lease; a clock that runs slow, or, at the
//!   server, jumps; a key that goes from outside; or a server that comes back without its keys.
//! - `exclusive-ownership` is never excused.

use picklock_sim::plan::{Fault, Plan, PlannedFault};

use super::Excuse;

/// What these faults take from every lock in the world of this plan.
pub(super) fn excuses(plan: &Plan, faults: &[PlannedFault]) -> Vec<Excuse> {
    let Some(because) = faults.iter().find_map(|fault| blinds(&fault.inject)) else {
        return Vec::new();
    };
    let always = ["mutual-exclusion", "no-lost-update", "fifo"];
    let unfenced = (!plan.resource.fenced).then_some("no-stale-effect");
    let excuse = |invariant| Excuse {
        invariant,
        because: because.to_owned(),
    };
    always.into_iter().chain(unfenced).map(excuse).collect()
}

/// Why somebody can believe in a lock that the service has given away.
fn blinds(fault: &Fault) -> Option<&'static str> {
    match fault {
        Fault::Pause { .. } => {
            Some("a process that stands still cannot notice that its lease ends")
        }
        Fault::ClockDrift {
            parts_per_million, ..
        } => (*parts_per_million < 0)
            .then_some("a clock that runs slow notices the end of the lease too late"),
        Fault::ServerClockJump { .. } => Some("the server ends leases by a clock that jumps"),
        Fault::EvictKey { .. } => Some("the key goes before the news can reach its owner"),
        Fault::CrashServer { .. } => Some("a server that comes back has forgotten its keys"),
        Fault::Crash { .. }
        | Fault::Cancel { .. }
        | Fault::ExpireSession { .. }
        | Fault::Cut { .. }
        | Fault::BlackHole { .. }
        | Fault::SlowLink { .. }
        | Fault::LoseRequest { .. }
        | Fault::LoseReply { .. }
        | Fault::DelayRequest { .. }
        | Fault::DelayReply { .. }
        | Fault::ClockJump { .. }
        | Fault::HangServer { .. }
        | Fault::IsolateServer { .. }
        | Fault::HoldLink { .. }
        | Fault::LagServer { .. }
        | Fault::SlowDisk { .. }
        | Fault::DeleteNode { .. }
        | Fault::RecreateLock => None,
    }
}
