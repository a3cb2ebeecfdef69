//! A contender that wants no lock, and runs the reaper of the recipe.

use crate::common;

use std::time::Duration;

use common::{FIRST, acquired, plan_on, planned, seconds};
use picklock_checker::{ContenderId, Disowned, EventKind, History};
use picklock_sim::plan::{
    Arrival, ContenderName, ContenderSettings, Deployment, Fault, Hold, Plan, Service,
};
use picklock_sim::simulate;

const REAPER: ContenderId = ContenderId(1);

/// Two contenders that want the lock, and a reaper between them that comes each minute.
fn plan(algorithm: &str, hold: Duration, faults: Vec<picklock_sim::plan::PlannedFault>) -> Plan {
    let deployment = Deployment {
        lease: seconds(600),
        ..Deployment::default()
    };
    let mut plan = plan_on(Service::Redis(deployment), algorithm, faults);
    plan.workload.contenders = 3;
    plan.workload.arrive = Arrival::InOrder;
    plan.workload.hold = Hold::For(hold);
    let reaper = ContenderSettings {
        reaper_interval: Some(seconds(60)),
        ..ContenderSettings::default()
    };
    let settings = &mut plan.workload.contender_settings;
    settings.insert(ContenderName(REAPER.0), reaper);
    plan
}

fn disowned(history: &History) -> Vec<(Disowned, u64)> {
    let events = history.events.iter();
    let disowned = events.filter_map(|event| match event.what {
        EventKind::Disowned { how, .. } => Some((how, event.at.micros() / 1_000_000)),
        _ => None,
    });
    disowned.collect()
}

#[test]
fn a_contender_with_a_reaper_never_asks_for_the_lock() {
    let history = simulate(&plan("sidekiq-unique-jobs", seconds(1), Vec::new()), 1);
    let mut events = history.run.history.events.iter();
    let asks =
        |what: EventKind| matches!(what, EventKind::AcquireStarted { by, .. } if by == REAPER);
    assert!(events.all(|event| !asks(event.what)));
    let ends = disowned(&history.run.history);
    assert_eq!(ends.len(), 2, "{ends:?}");
}

#[test]
fn what_a_reaper_removes_of_a_dead_owner_is_reaped() {
    let dies = Fault::Crash {
        target: FIRST,
        restart_after: None,
    };
    let faults = vec![planned(acquired(), dies)];
    let run = simulate(&plan("sidekiq-unique-jobs", seconds(1), faults), 1).run;
    let ends = disowned(&run.history);
    assert_eq!(ends[0].0, Disowned::Reaped, "{ends:?}");
    assert!((60..=121).contains(&ends[0].1), "{ends:?}");
    assert_eq!(ends[1].0, Disowned::Released, "{ends:?}");
}

#[test]
fn what_a_reaper_removes_of_a_live_owner_is_its_own_doing() {
    let plan = plan("sidekiq-unique-jobs-run-names", seconds(90), Vec::new());
    let ends = disowned(&simulate(&plan, 1).run.history);
    assert_eq!(ends[0].0, Disowned::RemovedBy(REAPER), "{ends:?}");
}

#[test]
fn the_bound_on_progress_leaves_time_for_two_turns() {
    let plan = plan("sidekiq-unique-jobs", seconds(1), Vec::new());
    let mut other = plan.clone();
    let settings = &mut other.workload.contender_settings;
    let own = settings.get_mut(&ContenderName(REAPER.0)).unwrap();
    own.reaper_interval = Some(seconds(100));
    let bound = |plan| simulate(plan, 1).run.facts.progress_bound;
    assert_eq!(bound(&other), bound(&plan) + seconds(80));
}
