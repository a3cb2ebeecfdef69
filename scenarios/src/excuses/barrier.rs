//! What no barrier can keep when its nodes are deleted from outside.

use picklock_checker::Rendezvous;
use picklock_sim::plan::{Fault, Plan, PlannedFault};

/// The promises that these faults take from a barrier, each with the reason.
pub(super) fn excuses(
    plan: &Plan,
    faults: &[PlannedFault],
) -> &'static [(&'static str, &'static str)] {
    const NO_PARTY: &str = "a party whose node is deleted from outside is no party any more";
    const REMOVED: &str = "an operator removes the barrier, and its setter does not know";
    let deletes = |fault: &PlannedFault| {
        matches!(
            fault.inject,
            Fault::DeleteStale { .. } | Fault::DeleteNode { .. } | Fault::RecreateLock
        )
    };
    match plan.rendezvous().filter(|_| faults.iter().any(deletes)) {
        None => &[],
        Some(Rendezvous::Barrier) => &[("barrier", REMOVED)],
        Some(Rendezvous::DoubleBarrier { .. }) => &[("barrier", NO_PARTY), ("progress", NO_PARTY)],
    }
}
