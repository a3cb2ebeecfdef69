//! Runs of which more is written down than their history.

use std::rc::Rc;

use super::{Simulated, Simulation};
use crate::broken::caught;
use crate::engine::Tape;
use crate::engine::sandbox::Sandbox;
use crate::plan::{Plan, Service};
use crate::services::lease_server::SimulatedLeaseServer;
use crate::services::redis::SimulatedRedis;
use crate::services::zookeeper::SimulatedZooKeeper;
use crate::trace::TracedMessage;
use crate::world::{Seen, SeenMoment, SimulatedService};

/// Runs a plan with the choices of a tape, and writes down which moments there were. What happens is what happens in
/// [`simulate_with`](super::simulate_with).
pub fn simulate_seen(plan: &Plan, tape: Tape) -> (Simulated, Vec<SeenMoment>) {
    match plan.service {
        Service::ZooKeeper(_) => seen::<SimulatedZooKeeper>(plan, tape),
        Service::Redis(_) => seen::<SimulatedRedis>(plan, tape),
        Service::LeaseServer(_) => seen::<SimulatedLeaseServer>(plan, tape),
    }
}

/// Runs a plan with the choices of a tape, and writes down every message between clients and servers. What happens is
/// what happens in [`simulate_with`](super::simulate_with).
pub fn simulate_traced(plan: &Plan, tape: Tape) -> (Simulated, Vec<TracedMessage>) {
    match plan.service {
        Service::ZooKeeper(_) => traced::<SimulatedZooKeeper>(plan, tape),
        Service::Redis(_) => traced::<SimulatedRedis>(plan, tape),
        Service::LeaseServer(_) => traced::<SimulatedLeaseServer>(plan, tape),
    }
}

fn seen<S: SimulatedService>(plan: &Plan, tape: Tape) -> (Simulated, Vec<SeenMoment>) {
    Sandbox::run(0, |sandbox| {
        let done = caught(|| {
            let simulation = Simulation::<S>::new(plan, tape);
            let shared = Rc::clone(&simulation.shared);
            shared.world.borrow_mut().seen = Some(Seen::default());
            let simulated = simulation.run(sandbox);
            let seen = shared.world.borrow_mut().seen.take();
            (simulated, seen.unwrap_or_default().into_moments())
        });
        done.unwrap_or_else(|why| (Simulated::nothing(why), Vec::new()))
    })
}

fn traced<S: SimulatedService>(plan: &Plan, tape: Tape) -> (Simulated, Vec<TracedMessage>) {
    Sandbox::run(0, |sandbox| {
        let done = caught(|| {
            let simulation = Simulation::<S>::new(plan, tape);
            let shared = Rc::clone(&simulation.shared);
            shared.world.borrow_mut().trace = Some(Vec::new());
            let simulated = simulation.run(sandbox);
            let trace = shared.world.borrow_mut().trace.take();
            (simulated, trace.unwrap_or_default())
        });
        done.unwrap_or_else(|why| (Simulated::nothing(why), Vec::new()))
    })
}
