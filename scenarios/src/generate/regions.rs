//! Regions of a drawn plan: who lies where, and how far they are from each other.

use picklock_sim::plan::{ContenderName, Plan, Region, Regions, ServerName};

use super::draw::{Draw, Substream};
use crate::sampled_parameters::SampledRegions;

/// Draws how many regions there are, and places every participant in one of them. A contender with a latency of its own
/// lies in none.
pub(super) fn draw_regions(plan: &mut Plan, open: &SampledRegions, seed: u64) {
    let mut draw = Draw::substream(seed, Substream::Regions);
    let number = draw.number(open.number);
    let mut all: Vec<Region> = (1..=number).map(region).collect();
    if number < 2 {
        return;
    }
    for server in machines(plan) {
        all[draw.below(number) as usize].servers.push(server);
    }
    let tasks = plan.workload.tasks_per_process.max(1);
    for first in (0..plan.workload.contenders).step_by(tasks as usize) {
        // The tasks of a process run on one machine.
        let process: Vec<ContenderName> = plan.workload.tasks_with(ContenderName(first)).collect();
        let region = draw.below(number) as usize;
        let own = |name: &ContenderName| plan.workload.contender_settings.get(name);
        let has_own = |name| own(name).is_some_and(|own| own.latency.is_some());
        if !process.iter().any(has_own) {
            all[region].contenders.extend(process);
        }
    }
    all[draw.below(number) as usize].resource = true;
    all.retain(|region| !region.is_deserted());
    let mut regions = Regions::default();
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            let pair = Regions::pair(&one.name, &other.name);
            let latency = draw.one_of(&open.between);
            regions
                .between
                .extend(latency.map(|latency| (pair, latency)));
        }
    }
    // One region changes no distance.
    if !regions.between.is_empty() {
        regions.all = all;
        plan.network.regions = regions;
    }
}

fn region(number: u32) -> Region {
    Region {
        name: format!("region-{number}"),
        ..Region::default()
    }
}

/// Every server, observer, and Sentinel.
fn machines(plan: &Plan) -> Vec<ServerName> {
    let service = &plan.service;
    let servers = (0..u32::from(service.servers())).map(ServerName::Number);
    let observers = (0..u32::from(service.observers())).map(ServerName::Observer);
    let sentinels = (0..u32::from(service.sentinels())).map(ServerName::Sentinel);
    servers.chain(observers).chain(sentinels).collect()
}
