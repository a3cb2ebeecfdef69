//! Which calls the drawn faults drop.

use std::time::Duration;

use picklock_sim::plan::{Fault, FaultKind, LockCall, Plan, Trigger};

use super::draw::{Draw, Substream};
use crate::describe;
use crate::sampled_parameters::AnyFaults;

/// Where a file names `cancel` among the kinds that it wants, every other such fault drops a release, about as long
/// after that has begun as a message takes. Where all kinds are drawn, acquires alone are dropped, and so they are of a
/// recipe whose releases nothing ends.
pub(super) fn draw_calls(plan: &mut Plan, any: &AnyFaults, first: usize, seed: u64) {
    let is_named = any.except.is_empty() && any.kinds != FaultKind::unasked();
    let names_cancel = is_named && any.kinds.contains(&FaultKind::Cancel);
    if !names_cancel || !plan.recipe.is_interruptible() {
        return;
    }
    let mut draw = Draw::substream(seed, Substream::Calls);
    let soon = (Duration::ZERO, plan.latency_at_most() * 4);
    for fault in &mut plan.faults[first..] {
        if let Fault::Cancel { target, call } = &mut fault.inject
            && draw.once_in(2)
        {
            *call = LockCall::Release;
            fault.when = Trigger::Releasing {
                by: *target,
                nth: 1,
            };
            fault.after = draw.duration(soon);
            describe::update_text(fault);
        }
    }
}
