//! The search that goes on from near misses: plans that came near to an overlap, and those like them.

use std::collections::VecDeque;
use std::time::Duration;

use picklock_checker::Near;
use picklock_sim::plan::{FaultKind, Plan, PlannedFault, Trigger};

use super::fault_targets::strikes_request;
use super::strategies::NextRun;
use crate::describe;
use crate::fault_fields::Parts;

/// So many plans that came near are kept.
const KEPT: usize = 16;

/// The plans that came nearest so far, and those like them that are to be tried.
#[derive(Default)]
pub(super) struct Nearer {
    /// The nearest first.
    misses: Vec<Miss>,
    next: VecDeque<Plan>,
}

/// A plan that came near to an overlap.
struct Miss {
    distance: Duration,
    plan: Plan,
    /// Those like it have been put among those to be tried.
    followed: bool,
}

impl Nearer {
    /// Learns how near a plan came. One without faults has nothing that could be changed.
    pub(super) fn learn(&mut self, plan: &Plan, near: Near) {
        let distance = near.distance;
        let known = |miss: &Miss| miss.plan.faults == plan.faults;
        if plan.faults.is_empty() || self.misses.iter().any(known) {
            return;
        }
        // Of those that are equally near, the first stays first.
        let place = self.misses.partition_point(|it| it.distance <= distance);
        if place < KEPT {
            let (plan, followed) = (plan.clone(), false);
            let miss = Miss {
                distance,
                plan,
                followed,
            };
            self.misses.insert(place, miss);
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
    for place in 0..plan.faults.len() {
        let fault = &plan.faults[place];
        let times = Parts::of(&mut fault.inject.clone()).times.len();
        for time in 0..times {
            for change in [Change::Longer(missing), Change::Twice] {
                plans.push(with_time(plan, place, time, change));
            }
        }
        if !strikes_request(FaultKind::of(&fault.inject)) {
            plans.push(later(plan, place, missing));
            plans.push(later(plan, place, missing / 2));
            plans.push(again(plan, place, missing));
        }
        plans.extend((0..times).map(|time| with_time(plan, place, time, Change::Half)));
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

fn with_time(plan: &Plan, place: usize, time: usize, change: Change) -> Plan {
    let mut plan = plan.clone();
    let fault = &mut plan.faults[place];
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

fn later(plan: &Plan, place: usize, by: Duration) -> Plan {
    let mut plan = plan.clone();
    let fault = &mut plan.faults[place];
    fault.after = whole(fault.after.saturating_add(by));
    plan
}

/// The same fault once more, so long after it is over.
fn again(plan: &Plan, place: usize, after: Duration) -> Plan {
    let mut plan = plan.clone();
    let mut inject = plan.faults[place].inject.clone();
    let lasts: Duration = Parts::of(&mut inject).times.iter().map(|time| **time).sum();
    plan.faults.push(PlannedFault {
        when: Trigger::Fired { fault: place },
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
