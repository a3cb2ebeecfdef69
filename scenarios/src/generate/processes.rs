//! The processes of a drawn plan: how many tasks each has, and what they share.

use picklock_sim::plan::{ContenderName, ContenderSettings, Plan, Share, Workload};

use super::draw::{Draw, Substream};
use crate::sampled_parameters::SampledParameters;

/// Draws how contenders are spread over processes. There are as many more of them as make the last process a whole one.
pub(super) fn draw_processes(plan: &mut Plan, open: &SampledParameters, seed: u64) {
    let workload = &mut plan.workload;
    if open.tasks_per_process.is_some() || !open.share.is_empty() {
        let mut draw = Draw::substream(seed, Substream::Processes);
        if let Some(range) = open.tasks_per_process {
            workload.tasks_per_process = draw.number(range);
        }
        workload.share = draw.one_of(&open.share).unwrap_or(workload.share);
        if workload.tasks_per_process == 1 {
            workload.share = Share::Nothing;
        }
    }
    let each = workload.tasks_per_process;
    workload.contenders = workload.contenders.next_multiple_of(each);
}

/// What another task of its process says of their machine, a contender does not say otherwise.
pub(super) fn fit_machine(
    workload: &Workload,
    name: ContenderName,
    settings: &mut ContenderSettings,
) {
    let others = workload.tasks_with(name).filter(|other| *other != name);
    for other in others.filter_map(|other| workload.contender_settings.get(&other)) {
        if other.latency.is_some() {
            settings.latency = None;
        }
        if other.clock_offset_millis != 0 {
            settings.clock_offset_millis = 0;
        }
    }
}
