//! A lock that one contender takes and another gives back.

use crate::common;

use std::time::Duration;

use common::{FIRST, plan_on, planned, seconds};
use picklock_checker::{ContenderId, Disowned, EventKind, History};
use picklock_sim::plan::{
    ContenderName, ContenderSettings, Deployment, Fault, FaultDuration, Hold, Plan, PlannedFault,
    Service, Trigger,
};
use picklock_sim::simulate;

const RELEASER: ContenderName = ContenderName(1);

/// Two contenders that want the lock, and one between them that gives back what they hold.
fn plan(algorithm: &str, faults: Vec<PlannedFault>) -> Plan {
    let mut plan = plan_on(Service::Redis(Deployment::default()), algorithm, faults);
    plan.workload.contenders = 3;
    plan.workload.hold = Hold::For(Duration::from_millis(500));
    let releaser = ContenderSettings {
        releases_for_others: true,
        ..ContenderSettings::default()
    };
    let settings = &mut plan.workload.contender_settings;
    settings.insert(RELEASER, releaser);
    plan
}

fn history(plan: &Plan) -> History {
    simulate(plan, 1).run.history
}

fn disowned(history: &History) -> Vec<Disowned> {
    let events = history.events.iter();
    let disowned = events.filter_map(|event| match event.what {
        EventKind::Disowned { how, .. } => Some(how),
        _ => None,
    });
    disowned.collect()
}

/// The releaser stands still from the first release on, until shortly after the end of the first holder's lease.
fn late() -> Vec<PlannedFault> {
    let pause = Fault::Pause {
        target: RELEASER,
        length: FaultDuration::For(Deployment::default().lease - Duration::from_millis(200)),
    };
    vec![planned(Trigger::Releasing { by: FIRST, nth: 1 }, pause)]
}

#[test]
fn what_another_gives_back_is_released_by_its_owner() {
    let history = history(&plan("laravel-cache-lock", Vec::new()));
    assert_eq!(disowned(&history), [Disowned::Released; 2]);
    let released = |what: &EventKind| matches!(what, EventKind::Released { .. });
    let by_owners = history.events.iter().filter(|event| released(&event.what));
    assert_eq!(by_owners.count(), 2);
}

#[test]
fn a_name_that_comes_late_gives_back_nothing_of_the_next() {
    let history = history(&plan("laravel-cache-lock", late()));
    assert_eq!(disowned(&history), [Disowned::Expired, Disowned::Released]);
    let fails = |what: &EventKind| {
        matches!(
            what,
            EventKind::ReleaseFailed {
                by: ContenderId(0),
                ..
            }
        )
    };
    assert!(history.events.iter().any(|event| fails(&event.what)));
}

#[test]
fn a_release_by_no_name_takes_the_lock_of_the_next() {
    let history = history(&plan("laravel-cache-lock-force-release", late()));
    let taken = Disowned::RemovedBy(ContenderId(RELEASER.0));
    assert_eq!(disowned(&history), [Disowned::Expired, taken]);
}

#[test]
fn a_holder_does_not_wait_for_a_releaser_that_is_dead() {
    let dies = Fault::Crash {
        target: RELEASER,
        restart_after: None,
    };
    let fault = planned(Trigger::At(seconds(0)), dies);
    let history = history(&plan("laravel-cache-lock", vec![fault]));
    let finished = |what: &EventKind| matches!(what, EventKind::Finished { by: ContenderId(0) });
    assert!(history.events.iter().any(|event| finished(&event.what)));
}
