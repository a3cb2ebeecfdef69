//! Durations that aimed faults are built from: leases, restarts, elections.

use std::time::Duration;

use picklock_sim::plan::Plan;

use super::fault_variants::Variant;

/// In whole milliseconds.
pub(super) fn whole(duration: Duration) -> Duration {
    let millis = duration.as_micros().div_ceil(1_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// How soon a contender that has crashed is back, if it comes back.
pub(super) fn restart(plan: &Plan, variant: Variant) -> Option<Duration> {
    match variant {
        // It asks which server leads when another does, and the others do not.
        Variant::WhenElected => plan.service.failover(),
        // When its session has ended, it finds a server that has not heard of that, and answers all the same.
        Variant::Follows if plan.service.reads_without_leader() => {
            let tick = plan.service.session_tick();
            tick.map(|tick| plan.service.lease() + tick * 2)
        }
        _ => None,
    }
}

/// How soon one is back that is back soon.
pub(super) const SOON: Duration = Duration::from_millis(100);

/// How long a slot is on its way. The first key goes after a quarter of that, and until all is over no release succeeds
/// that asks for a key that is nowhere; what is left of the lease shows it.
pub(super) fn slot_move(plan: &Plan) -> Duration {
    whole(plan.service.lease() / 2)
}

/// How long a client hears nothing until it has given up its session for itself, and is connected again before servers
/// end it. It takes two thirds of a timeout until it gives up the connection, and a whole one from then on; servers
/// heard it until then, and round up to the next tick.
pub(super) fn given_up(plan: &Plan) -> Duration {
    let lease = plan.service.lease();
    let tick = plan.service.session_tick().unwrap_or_default();
    whole(lease * 5 / 3 + tick / 4)
}
