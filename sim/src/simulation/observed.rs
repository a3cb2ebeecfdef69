//! Runs of which more is written down than their history.

use std::rc::Rc;

use super::{Simulated, Simulation};
use crate::broken::caught;
use crate::engine::Tape;
use crate::engine::sandbox::Sandbox;
use crate::plan::Plan;
use crate::services::with_adapter;
use crate::trace::TracedMessage;
use crate::world::{MomentLog, SeenMoment, SimulatedService, World};

/// Runs a plan with the choices of a tape, and writes down which moments there were. What happens is what happens in
/// [`simulate_with`](super::simulate_with).
pub fn simulate_seen(plan: &Plan, tape: Tape) -> (Simulated, Vec<SeenMoment>) {
    with_adapter!(plan, observe_moments(plan, tape))
}

/// Runs a plan with the choices of a tape, and writes down in its history what servers do and find. What happens is
/// what happens in [`simulate_with`](super::simulate_with).
pub fn simulate_recorded(plan: &Plan, tape: Tape) -> Simulated {
    with_adapter!(plan, recorded(plan, tape))
}

/// The same as [`simulate_recorded`], and every message between clients and servers, and between servers.
pub fn simulate_traced(plan: &Plan, tape: Tape) -> (Simulated, Vec<TracedMessage>) {
    with_adapter!(plan, traced(plan, tape))
}

/// Runs a plan of which more is written down: what is asked for at the beginning, and taken at the end.
fn observed<S: SimulatedService, T: Default>(
    plan: &Plan,
    tape: Tape,
    ask: impl FnOnce(&mut World<S>),
    take: impl FnOnce(&mut World<S>) -> T,
) -> (Simulated, T) {
    Sandbox::run(0, |sandbox| {
        let done = caught(|| {
            let simulation = Simulation::<S>::new(plan, tape);
            let shared = Rc::clone(&simulation.shared);
            ask(&mut shared.world.borrow_mut());
            let simulated = simulation.run(sandbox);
            let taken = take(&mut shared.world.borrow_mut());
            (simulated, taken)
        });
        done.unwrap_or_else(|why| (Simulated::broken_off(why), T::default()))
    })
}

fn observe_moments<S: SimulatedService>(plan: &Plan, tape: Tape) -> (Simulated, Vec<SeenMoment>) {
    let ask = |world: &mut World<S>| world.seen = Some(MomentLog::default());
    observed(plan, tape, ask, |world| {
        world.seen.take().unwrap_or_default().into_moments()
    })
}

fn recorded<S: SimulatedService>(plan: &Plan, tape: Tape) -> Simulated {
    let ask = |world: &mut World<S>| world.recorder.records_service_events = true;
    observed(plan, tape, ask, |_| ()).0
}

fn traced<S: SimulatedService>(plan: &Plan, tape: Tape) -> (Simulated, Vec<TracedMessage>) {
    let ask = |world: &mut World<S>| {
        world.trace = Some(Vec::new());
        world.recorder.records_service_events = true;
    };
    observed(plan, tape, ask, |world| {
        world.trace.take().unwrap_or_default()
    })
}
