//! What a kind of fault strikes: a request, a contender, or a server that it happens to be connected to.

use picklock_sim::plan::{Plan, Service};

use crate::generate::moments::Strikes;
use crate::kind::FaultKind;

/// Whether a fault strikes a contender, or the server that it is connected to.
pub(super) fn strikes_contender(plan: &Plan, kind: FaultKind) -> bool {
    let on_zookeeper = matches!(plan.service, Service::ZooKeeper(_));
    match kind {
        FaultKind::Pause
        | FaultKind::BlockEvents
        | FaultKind::Crash
        | FaultKind::Cancel
        | FaultKind::ExpireSession
        | FaultKind::Cut
        | FaultKind::BlackHole
        | FaultKind::SlowLink
        | FaultKind::LoseRequest
        | FaultKind::LoseReply
        | FaultKind::SwallowReply
        | FaultKind::LoseMessage
        | FaultKind::DelayRequest
        | FaultKind::DelayReply
        | FaultKind::ClockJump
        | FaultKind::ClockDrift
        | FaultKind::DeleteNode => true,
        FaultKind::HangServer
        | FaultKind::IsolateServer
        | FaultKind::Partition
        | FaultKind::LagServer => on_zookeeper,
        FaultKind::CrashServer
        | FaultKind::PowerLoss
        | FaultKind::HoldLink
        | FaultKind::SlowDisk
        | FaultKind::ServerClockJump
        | FaultKind::Promote
        | FaultKind::FullMemory
        | FaultKind::FullDisk
        | FaultKind::MoveSlot
        | FaultKind::EvictKey
        | FaultKind::RecreateLock => false,
    }
}

/// Whether a fault strikes the one request that its trigger speaks of.
pub(super) fn strikes_request(kind: FaultKind) -> bool {
    Strikes::of(kind).is_some()
}

/// Whether it matters which server the victim of a fault is connected to.
pub(super) fn minds_server(plan: &Plan, kind: FaultKind) -> bool {
    let several = matches!(&plan.service, Service::ZooKeeper(it) if it.servers > 1);
    let leads_on = matches!(kind, FaultKind::Cut | FaultKind::HoldLink);
    several && (leads_on || strikes_server_of(kind))
}

/// Whether a fault strikes the server that its victim happens to be connected to.
fn strikes_server_of(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::HangServer
            | FaultKind::IsolateServer
            | FaultKind::Partition
            | FaultKind::LagServer
    )
}
