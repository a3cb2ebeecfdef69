//! How long contenders take until they act on what has arrived, and the drawn faults that strike before they do.

use std::time::Duration;

use picklock_sim::plan::{FaultKind, Plan, Trigger};

use super::draw::{Draw, Substream};

/// Draws how long contenders take, if the file leaves that open.
pub(super) fn draw_processing(plan: &mut Plan, choices: &[(Duration, Duration)], seed: u64) {
    let mut draw = Draw::substream(seed, Substream::Processing);
    let drawn = draw.one_of(choices);
    plan.workload.processing = drawn.unwrap_or(plan.workload.processing);
}

/// Where contenders take time until they act, a third of the faults from `first` on that wait for a step of a request
/// wait until its answer has been received, and its client has not acted yet.
pub(super) fn draw_received(plan: &mut Plan, first: usize, seed: u64) {
    if plan.processing_at_most().is_zero() {
        return;
    }
    let mut draw = Draw::substream(seed, Substream::Received);
    for fault in &mut plan.faults[first..] {
        let of_message = FaultKind::of(&fault.inject).strikes_message().is_some();
        if let Trigger::Sent {
            request, by, nth, ..
        }
        | Trigger::Proposed { request, by, nth }
        | Trigger::Committed { request, by, nth }
        | Trigger::Answered {
            request, by, nth, ..
        } = fault.when
            && !of_message
            && draw.once_in(3)
        {
            fault.when = Trigger::Received {
                request,
                by,
                nth,
                at: None,
            };
        }
    }
}
