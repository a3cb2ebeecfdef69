//! The contender of a drawn plan that differs from the others.

use std::time::Duration;

use picklock_sim::plan::{ContenderName, ContenderSettings, Hold, Plan};

use super::draw::{Draw, Substream};
use super::processes::fit_machine;
use crate::sampled_parameters::SampledContender;

/// Draws a contender and how it differs; in every other plan, none does.
pub(super) fn draw_contender(plan: &mut Plan, open: &SampledContender, seed: u64) {
    let mut draw = Draw::substream(seed, Substream::Contenders);
    if draw.once_in(2) {
        return;
    }
    let name = ContenderName(draw.below(plan.workload.contenders));
    let settings = ContenderSettings {
        hold: open
            .hold
            .filter(|_| draw.once_in(2))
            .map(|range| Hold::For(draw.duration(range))),
        rounds: open
            .rounds
            .filter(|_| draw.once_in(2))
            .map(|range| draw.number(range)),
        // Without reads nothing is drawn: later draws stay what they were.
        conversion: None,
        arrive_after: None,
        reaper_interval: None,
        releases_for_others: false,
        permits_per_acquire: None,
        reads: open.reads.filter(|_| draw.once_in(2)),
        locks: Vec::new(),
        think: draw.one_of(&open.think).filter(|_| draw.once_in(2)),
        processing: None,
        acquire_timeout: open
            .acquire_timeout
            .filter(|_| draw.once_in(2))
            .map(|range| draw.duration(range)),
        latency: draw.one_of(&open.latency).filter(|_| draw.once_in(2)),
        clock_offset_millis: open
            .clock_offset_millis
            .filter(|_| draw.once_in(2))
            .map_or(0, |range| offset(range, &mut draw)),
    };
    let mut settings = ContenderSettings {
        processing: processing(open, seed),
        ..settings
    };
    fit_machine(&plan.workload, name, &mut settings);
    if settings != ContenderSettings::default() {
        plan.workload.contender_settings.insert(name, settings);
    }
}

/// How long it takes until it acts: in every other plan in which it differs at all, if the file says so.
fn processing(open: &SampledContender, seed: u64) -> Option<(Duration, Duration)> {
    let mut draw = Draw::substream(seed, Substream::OwnProcessing);
    draw.one_of(&open.processing).filter(|_| draw.once_in(2))
}

/// An offset in a range, both ends included.
fn offset((least, most): (i64, i64), draw: &mut Draw) -> i64 {
    let span = u32::try_from(most - least).unwrap_or(u32::MAX);
    least + i64::from(draw.number((0, span)))
}
