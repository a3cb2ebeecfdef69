//! Variants of a kind of fault: those that the search tries.

use picklock_sim::plan::{FaultKind, Plan};

/// Which of the things that a fault can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// What suits the moment best.
    Best,
    /// The other.
    Other,
    /// It follows another fault: it lasts long, and comes again if chance decides what comes of it.
    Follows,
    /// It follows another fault, and lasts until the next one is in the middle of its section.
    Briefly,
    /// Of several streams of replication, it holds one.
    OneLink,
    /// It follows that, and strikes the other replicas too.
    WithReplicas,
    /// The whole service is away for longer than a session lasts.
    Away,
    /// Its victim is heard, and hears nothing, until it has given up its session for itself.
    Unheard,
    /// It takes the leader away until another leads, and little longer.
    Outage,
    /// It follows that.
    WhenElected,
    /// It strikes so many servers at once that the rest is no majority.
    Majority,
    /// It strikes the leader and the server of its victim.
    LeaderAndOwn,
}

/// What there is to try of a kind.
pub(super) fn variants(plan: &Plan, kind: FaultKind) -> &'static [Variant] {
    let streams = plan.service.first_replicas().len();
    let (has_sessions, has_roles) = (
        plan.service.session_tick().is_some(),
        plan.service.row().has_roles,
    );
    let (alone, several) = (
        has_roles && plan.service.voters() == 1,
        has_roles && plan.service.voters() > 1,
    );
    match kind {
        FaultKind::CrashServer if several => {
            &[Variant::Best, Variant::Majority, Variant::LeaderAndOwn]
        }
        FaultKind::HangServer if several => &[Variant::Best, Variant::Majority],
        FaultKind::CrashServer if alone => &[Variant::Best, Variant::Away],
        FaultKind::BlackHole if has_sessions => &[Variant::Best, Variant::Unheard],
        FaultKind::HoldLink if streams > 1 => &[Variant::Best, Variant::OneLink],
        FaultKind::Pause
        | FaultKind::DelayRequest
        | FaultKind::DelayReply
        | FaultKind::ClockJump => &[Variant::Best, Variant::Other],
        _ => &[Variant::Best],
    }
}
