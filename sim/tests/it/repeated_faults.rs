//! Faults that strike again: by the clock, or whenever what they wait for happens again.

use crate::common;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_checker::{EventKind, FaultId, History, VirtualTime};
use picklock_sim::plan::{
    Ensemble, Fault, FaultDuration, Plan, PlannedFault, Repeat, Service, Trigger,
};
use picklock_sim::simulate;

fn plan(when: Trigger, inject: Fault, repeat: Repeat) -> Plan {
    let fault = PlannedFault {
        repeat: Some(repeat),
        ..planned(when, inject)
    };
    let service = Service::ZooKeeper(Ensemble::default());
    plan_on(service, "zk-hardened", vec![fault])
}

fn every(every: Duration, times: u32) -> Repeat {
    let every = Some(every);
    Repeat { times, every }
}

fn history(plan: &Plan) -> History {
    simulate(plan, 1).run.history
}

/// When something happened, each time.
fn times(history: &History, what: &EventKind) -> Vec<VirtualTime> {
    let events = history.events.iter().filter(|event| event.what == *what);
    events.map(|event| event.at).collect()
}

const FIRED: EventKind = EventKind::FaultFired { fault: FaultId(0) };

#[test]
fn a_fault_of_which_nothing_is_said_strikes_once() {
    let service = Service::ZooKeeper(Ensemble::default());
    let cut = planned(acquired(), Fault::Cut { target: FIRST });
    let history = history_on(service, "zk-hardened", vec![cut]);
    assert_eq!(times(&history, &FIRED).len(), 1);
}

#[test]
fn a_fault_strikes_as_often_as_it_is_to_one_time_after_the_other() {
    let cut = Fault::Cut { target: FIRST };
    let history = history(&plan(acquired(), cut, every(seconds(1), 3)));
    let fired = times(&history, &FIRED);
    assert_eq!(fired.len(), 3);
    assert_eq!(fired[1], fired[0] + seconds(1));
    assert_eq!(fired[2], fired[1] + seconds(1));
}

#[test]
fn what_lasts_is_over_each_time_before_it_begins_again() {
    let pause = Fault::Pause {
        target: FIRST,
        length: FaultDuration::For(Duration::from_millis(300)),
    };
    let history = history(&plan(acquired(), pause, every(seconds(1), 4)));
    let paused = times(&history, &EventKind::Paused { by: A });
    let resumed = times(&history, &EventKind::Resumed { by: A });
    assert_eq!((paused.len(), resumed.len()), (4, 4));
    for (paused, resumed) in paused.iter().zip(resumed) {
        assert_eq!(resumed, *paused + Duration::from_millis(300));
    }
}

#[test]
fn without_a_time_a_fault_strikes_whenever_its_moment_comes() {
    let waiting = Trigger::Acquiring { by: FIRST, nth: 1 };
    let cut = Fault::Cut { target: FIRST };
    let repeat = Repeat {
        times: 2,
        every: None,
    };
    let mut plan = plan(waiting, cut, repeat);
    plan.workload.rounds = 4;
    let history = history(&plan);
    let acquiring = |what: &EventKind| matches!(what, EventKind::AcquireStarted { by: A, .. });
    let begun = history.events.iter().filter(|event| acquiring(&event.what));
    let begun: Vec<_> = begun.map(|event| event.at).collect();
    assert!(begun.len() >= 4);
    assert_eq!(times(&history, &FIRED), begun[..2]);
}

#[test]
fn the_calm_waits_for_the_last_strike_and_no_longer() {
    let cut = Fault::Cut { target: FIRST };
    let begins = |times: u32| {
        let history = history(&plan(acquired(), cut.clone(), every(seconds(1), times)));
        self::times(&history, &EventKind::CalmBegan)[0]
    };
    assert_eq!(begins(4), begins(2) + seconds(2));
}

#[test]
fn a_storm_that_ends_ends_what_would_strike_again() {
    let cut = Fault::Cut { target: FIRST };
    let at = Trigger::At(seconds(1));
    let mut plan = plan(at, cut, every(seconds(1), 1_000));
    plan.workload.storm = Some(Duration::from_millis(3_500));
    let history = history(&plan);
    assert_eq!(times(&history, &FIRED).len(), 3);
    let calm = times(&history, &EventKind::CalmBegan)[0];
    assert!(calm <= VirtualTime::ZERO + seconds(4), "{calm:?}");
}
