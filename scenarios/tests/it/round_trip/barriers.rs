//! Workloads and expectations that make sense of a barrier.

use picklock_algorithms::{LockKind, Recipe};
use picklock_scenarios::{Expectation, Want};
use picklock_sim::plan::{Arrival, ContenderSettings, Workload};

/// Of a barrier, what can be asked of one; what is of any other lock stays as it is.
pub fn fit(recipe: &Recipe, workload: &mut Workload, wants: &mut [Expectation]) {
    let kind = recipe.ownership.kind;
    let is_double = kind == LockKind::DoubleBarrier;
    let is_latch = kind == LockKind::CountDownLatch;
    let is_barrier = is_double || is_latch || kind == LockKind::Barrier;
    let looked_at = match is_barrier {
        true => ["progress", "barrier"],
        false => ["mutual-exclusion", "timely-loss"],
    };
    for (want, invariant) in wants.iter_mut().zip(looked_at) {
        want.invariant = invariant;
    }
    if !is_barrier {
        return;
    }
    if is_double {
        if workload.arrive.is_behind_holder() {
            workload.arrive = Arrival::InOrder;
        }
        workload.acquire_timeout = None;
    }
    workload.bypass_bound = None;
    workload.starvation_bound = None;
    workload.reentrancy_depth = 1;
    for own in workload.contender_settings.values_mut() {
        own.rounds = None;
        if is_double {
            own.acquire_timeout = None;
        }
        own.locks.clear();
    }
    let own = &mut workload.contender_settings;
    own.retain(|_, settings| *settings != ContenderSettings::default());
    workload.locks = workload.locks.min(workload.sections());
    if is_latch {
        workload.contenders = workload.contenders.max(2);
        workload.count = Some(workload.contenders - 1);
        workload.rounds = workload.rounds.min(workload.locks);
    }
    for want in wants {
        if let Want::Excused { because } = &want.want {
            want.want = Want::Unchecked {
                because: Some(because.clone()),
            };
        }
    }
}
