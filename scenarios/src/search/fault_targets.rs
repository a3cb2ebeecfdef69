//! The target of a kind of fault: a request, a contender, or the server that a contender is connected to.

use picklock_sim::plan::{FaultKind, Plan};

/// What a fault strikes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    /// A contender, or something of it.
    Contender,
    /// The server that a contender happens to be connected to.
    ItsServer,
    /// Neither.
    Another,
}

/// What a fault of a kind strikes.
fn struck(kind: FaultKind) -> TargetKind {
    match kind {
        FaultKind::HangServer
        | FaultKind::IsolateServer
        | FaultKind::Partition
        | FaultKind::LagServer => TargetKind::ItsServer,
        _ if kind.strikes_contender() => TargetKind::Contender,
        _ => TargetKind::Another,
    }
}

/// Whether a fault strikes a contender, or the server that it is connected to.
pub(super) fn strikes_contender(plan: &Plan, kind: FaultKind) -> bool {
    match struck(kind) {
        TargetKind::Contender => true,
        TargetKind::ItsServer => plan.service.row().has_roles,
        TargetKind::Another => false,
    }
}

/// Whether a fault strikes the one request that its trigger speaks of.
pub(super) fn strikes_request(kind: FaultKind) -> bool {
    kind.strikes_message().is_some()
}

/// Whether it matters which server the victim of a fault is connected to.
pub(super) fn depends_on_server(plan: &Plan, kind: FaultKind) -> bool {
    let several = plan.service.row().has_roles && plan.service.voters() > 1;
    let leads_on = matches!(kind, FaultKind::Cut | FaultKind::HoldLink);
    several && (leads_on || struck(kind) == TargetKind::ItsServer)
}
