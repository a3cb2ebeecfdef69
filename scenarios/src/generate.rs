//! Plans drawn from seeds.
//!
//! Every seed draws a world of its own, swarm style: not a bit of everything each time, but its own few kinds of
//! faults, its own number of contenders, its own timings. What finds a bug is often that something else does *not*
//! happen. A plan is drawn from a stream of its own, and not from the tape of the run, so that the same plan can be
//! run with another tape, and saved, and shortened.

mod calls;
mod contenders;
pub mod draw;
mod faults;
mod fitting;
mod for_good;
mod inject;
mod links;
pub(crate) mod moments;
mod processes;
mod processing;
mod regions;
mod repeats;
mod spread;

use picklock_sim::plan::{Hold, LockOrder, Plan, Workload};

use self::calls::draw_calls;
use self::contenders::draw_contender;
use self::draw::{Draw, Substream};
use self::faults::Storm;
use self::processes::draw_processes;
use self::processing::{draw_processing, draw_received};
use self::regions::draw_regions;
use self::repeats::draw_repeats;
use crate::event_budget::default_budget;
use crate::sampled_parameters::SampledParameters;

/// The setting that is drawn with the rest of the world, and not from a stream of its own.
const SERVERS: &str = "servers";

/// Settles what is left open, as a seed wants it. The answer depends on nothing else.
pub fn settle(base: &Plan, open: &SampledParameters, seed: u64) -> Plan {
    let mut draw = Draw::of(seed);
    let mut plan = base.clone();
    settle_world(&mut plan, open, &mut draw);
    draw_processes(&mut plan, open, seed);
    if let Some(contender) = &open.contender {
        draw_contender(&mut plan, contender, seed);
    }
    draw_processing(&mut plan, &open.processing, seed);
    if let Some(regions) = &open.regions {
        draw_regions(&mut plan, regions, seed);
    }
    draw_locks(&mut plan.workload, open, seed);
    if let Some(range) = open.permits {
        plan.workload.permits = Some(Draw::substream(seed, Substream::Permits).number(range));
    }
    let mut draw_clients = Draw::substream(seed, Substream::Clients);
    for (key, choices) in open.settings.iter().filter(|(key, _)| *key != SERVERS) {
        plan.service.set_value(key, draw_clients.one_of(choices));
    }
    if !open.budget_given {
        plan.event_budget = default_budget(&plan.workload, &plan.service);
    }
    if let Some(any) = &open.faults {
        let storm = Storm::gather(&plan, any, seed, &mut draw);
        let faults = storm.faults(&mut draw);
        let first = plan.faults.len();
        plan.faults.extend(faults);
        draw_calls(&mut plan, any, first, seed);
        draw_received(&mut plan, first, seed);
        draw_repeats(&mut plan, first, seed);
    }
    plan
}

/// How many locks there are, each of which some section takes; and how many of them a section holds at once.
fn draw_locks(workload: &mut Workload, open: &SampledParameters, seed: u64) {
    if let Some(range) = open.locks_at_once {
        workload.locks_at_once = Draw::substream(seed, Substream::LocksAtOnce).number(range);
    }
    if let Some(range) = open.locks {
        workload.locks = Draw::substream(seed, Substream::Locks).number(range);
    }
    // Where few come, not all of those that the file names are taken.
    workload.locks = workload.locks.min(workload.locks_at_most());
    workload.locks_at_once = workload.locks_at_once.min(workload.locks);
    let drawn = Draw::substream(seed, Substream::LockOrder).one_of(&open.lock_order);
    workload.lock_order = drawn.unwrap_or(workload.lock_order);
    if workload.locks_at_once == 1 {
        workload.lock_order = LockOrder::ByName;
    }
}

fn settle_world(plan: &mut Plan, open: &SampledParameters, draw: &mut Draw) {
    if let Some(servers) = draw.one_of(open.choices(SERVERS)) {
        plan.service.set_value(SERVERS, Some(servers));
    }
    let network = &mut plan.network;
    let latency = draw.one_of(&open.client_latency);
    network.client_latency = latency.unwrap_or(network.client_latency);
    let latency = draw.one_of(&open.server_latency);
    network.server_latency = latency.unwrap_or(network.server_latency);
    network.chance = draw.one_of(&open.chance).unwrap_or(network.chance);
    let workload = &mut plan.workload;
    if let Some(range) = open.contenders {
        workload.contenders = draw.number(range);
    }
    if let Some(range) = open.rounds {
        workload.rounds = draw.number(range);
    }
    if let Some(range) = open.hold {
        workload.hold = Hold::For(draw.duration(range));
    }
    workload.think = draw.one_of(&open.think).unwrap_or(workload.think);
    workload.arrive = draw.one_of(&open.arrive).unwrap_or(workload.arrive);
}

#[cfg(test)]
mod substream_tests;
#[cfg(test)]
mod tests;
