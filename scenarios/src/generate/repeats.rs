//! Faults of a drawn plan that strike again and again.

use std::time::Duration;

use picklock_sim::plan::{FaultDuration, FaultKind, Plan, Repeat, Trigger};

use super::draw::{Draw, Substream};
use super::faults::session;
use crate::describe;
use crate::excuses::excuses;

/// One plan in so many has a fault that strikes again.
const ONE_IN: u32 = 8;

/// Lets one of the faults from `first` on strike again, in some plans: those in which that takes no promise from every
/// lock that the plan has left.
pub(super) fn draw_repeats(plan: &mut Plan, first: usize, seed: u64) {
    let mut draw = Draw::substream(seed, Substream::Repeats);
    let drawn = plan.faults.len() - first;
    if drawn == 0 || !draw.once_in(ONE_IN) {
        return;
    }
    let index = first + draw.below(drawn as u32) as usize;
    let Some(repeat) = repeat(plan, index, &mut draw) else {
        return;
    };
    let before = excuses(plan, &plan.faults).len();
    plan.faults[index].repeat = Some(repeat);
    if excuses(plan, &plan.faults).len() > before {
        plan.faults[index].repeat = None;
        return;
    }
    describe::update_text(&mut plan.faults[index]);
}

/// How often a fault strikes, if it can do so again.
fn repeat(plan: &Plan, index: usize, draw: &mut Draw) -> Option<Repeat> {
    let fault = &plan.faults[index];
    if fault.inject.is_for_good() {
        return None;
    }
    let times = draw.number((2, 5));
    let comes_again = !matches!(fault.when, Trigger::At(_) | Trigger::Fired { .. });
    let of_message = FaultKind::of(&fault.inject).strikes_message().is_some();
    if comes_again && (of_message || draw.once_in(2)) {
        return Some(Repeat { times, every: None });
    }
    if of_message {
        return None;
    }
    let lasts = fault.inject.lasts().and_then(FaultDuration::duration);
    let pause = draw.duration((Duration::from_millis(1), session(plan) * 2));
    let every = Some(lasts.unwrap_or_default() + pause);
    Some(Repeat { times, every })
}
