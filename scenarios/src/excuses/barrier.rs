//! What no barrier can keep when its nodes are deleted from outside, and no latch when its count is forgotten.

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
            Fault::DeleteStale { .. }
                | Fault::DeleteNode { .. }
                | Fault::DeleteKey { .. }
                | Fault::RecreateLock
        )
    };
    if let Some(Rendezvous::CountDownLatch { .. }) = plan.rendezvous() {
        return of_latch(faults);
    }
    match plan.rendezvous().filter(|_| faults.iter().any(deletes)) {
        None | Some(Rendezvous::CountDownLatch { .. }) => &[],
        Some(Rendezvous::Barrier) => &[("barrier", REMOVED)],
        Some(Rendezvous::DoubleBarrier { .. }) => &[("barrier", NO_PARTY), ("progress", NO_PARTY)],
    }
}

/// A count that is gone is zero to one latch, and never zero to the next.
fn of_latch(faults: &[PlannedFault]) -> &'static [(&'static str, &'static str)] {
    const GONE: &str = "a count that is gone says nothing of the contenders that have counted down";
    let forgets = |fault: &PlannedFault| {
        matches!(
            fault.inject,
            Fault::EvictKey { .. }
                | Fault::DeleteStale { .. }
                | Fault::CrashServer { .. }
                | Fault::PowerLoss { .. }
                | Fault::Promote { .. }
        )
    };
    match faults.iter().any(forgets) {
        true => &[("barrier", GONE), ("progress", GONE)],
        false => &[],
    }
}
