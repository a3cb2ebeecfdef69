//! The search that goes on from near misses: plans that came near to an overlap, and those like them.

use std::collections::VecDeque;
use std::time::Duration;

use picklock_checker::NearMiss;
use picklock_sim::plan::{FaultKind, Plan, PlannedFault, Trigger};

use super::fault_targets::strikes_request;
use super::next_run::NextRun;
use crate::describe;
use crate::fault_fields::Parts;

/// So many plans that came near are kept.
const KEPT: usize = 16;

/// The plans that came nearest so far, and those like them that are to be tried.
#[derive(Default)]
pub(super) struct Nearer {
    /// The nearest first.
    misses: Vec<NearMissPlan>,
    next: VecDeque<Plan>,
}

/// A plan that came near to an overlap.
struct NearMissPlan {
    distance: Duration,
    plan: Plan,
    /// Those like it have been put among those to be tried.
    followed: bool,
}

impl Nearer {
    /// Learns how near a plan came. One without faults has nothing that could be changed.
    pub(super) fn learn(&mut self, plan: &Plan, near: NearMiss) {
        let distance = near.distance;
        let known = |miss: &NearMissPlan| miss.plan.faults == plan.faults;
        if plan.faults.is_empty() || self.misses.iter().any(known) {
            return;
        }
        // Of those that are equally near, the first stays first.
        let index = self.misses.partition_point(|old| old.distance <= distance);
        if index < KEPT {
            let (plan, followed) = (plan.clone(), false);
            let miss = NearMissPlan {
                distance,
                plan,
                followed,
            };
            self.misses.insert(index, miss);
            self.misses.truncate(KEPT);
        }
    }

    /// What comes next, if there is anything to go on from.
    pub(super) fn next(&mut self, seed: u64) -> Option<NextRun> {
        if self.next.is_empty() {
            let miss = self.misses.iter_mut().find(|miss| !miss.followed)?;
            miss.followed = true;
            self.next.extend(like(&miss.plan, miss.distance));
        }
        Some(NextRun::Planned(self.next.pop_front()?, seed))
    }
}

/// Plans that differ in one fault from a plan that missed an overlap by so much: the fault lasts longer by what was
/// missing, strikes later by it, strikes again, or lasts for half as long.
fn like(plan: &Plan, missing: Duration) -> Vec<Plan> {
    let mut plans = Vec::new();
    for index in 0..plan.faults.len() {
        let fault = &plan.faults[index];
        let times = Parts::of(&mut fault.inject.clone()).times.len();
        for time in 0..times {
            for change in [Change::Longer(missing), Change::Twice] {
                plans.push(with_time(plan, index, time, change));
            }
        }
        if !strikes_request(FaultKind::of(&fault.inject)) {
            plans.push(later(plan, index, missing));
            plans.push(later(plan, index, missing / 2));
            plans.push(again(plan, index, missing));
        }
        plans.extend((0..times).map(|time| with_time(plan, index, time, Change::Half)));
    }
    plans
}

/// What becomes of a duration.
#[derive(Clone, Copy)]
enum Change {
    Longer(Duration),
    Twice,
    Half,
}

fn with_time(plan: &Plan, index: usize, time: usize, change: Change) -> Plan {
    let mut plan = plan.clone();
    let fault = &mut plan.faults[index];
    if let Some(time) = Parts::of(&mut fault.inject).times.into_iter().nth(time) {
        *time = match change {
            Change::Longer(by) => whole(time.saturating_add(by)),
            Change::Twice => time.saturating_mul(2),
            Change::Half => whole(*time / 2),
        };
    }
    // One that would strike again before it is over strikes once.
    fault.repeat = fault.repeat.filter(|_| !fault.overlaps_itself());
    describe::update_text(fault);
    plan
}

fn later(plan: &Plan, index: usize, by: Duration) -> Plan {
    let mut plan = plan.clone();
    let fault = &mut plan.faults[index];
    fault.after = whole(fault.after.saturating_add(by));
    plan
}

/// The same fault once more, so long after it is over.
fn again(plan: &Plan, index: usize, after: Duration) -> Plan {
    let mut plan = plan.clone();
    let mut inject = plan.faults[index].inject.clone();
    let lasts: Duration = Parts::of(&mut inject).times.iter().map(|time| **time).sum();
    plan.faults.push(PlannedFault {
        when: Trigger::Fired { fault: index },
        after: whole(lasts.saturating_add(after)),
        repeat: None,
        text: describe::fault(&inject),
        inject,
    });
    plan
}

/// In whole milliseconds, rounded up: nothing hangs on less.
fn whole(duration: Duration) -> Duration {
    let millis = duration.as_micros().div_ceil(1_000).max(1);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
