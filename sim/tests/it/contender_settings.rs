//! Contenders that differ from the others.

use crate::common;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_sim::plan::{Arrival, ContenderSettings, Ensemble, Fault, Hold, Plan, Service};
use picklock_sim::simulate;

const B: ContenderId = ContenderId(1);

fn plan(settings: ContenderSettings) -> Plan {
    let service = Service::ZooKeeper(Ensemble::default());
    let mut plan = plan_on(service, "zk-hardened", Vec::new());
    plan.workload.hold = Hold::For(seconds(1));
    plan.workload.contender_settings.insert(FIRST, settings);
    plan
}

fn history(settings: ContenderSettings) -> History {
    simulate(&plan(settings), 1).run.history
}

fn times(history: &History, is: impl Fn(&EventKind) -> bool) -> Vec<VirtualTime> {
    let events = history.events.iter().filter(|event| is(&event.what));
    events.map(|event| event.at).collect()
}

fn holds(history: &History, contender: ContenderId) -> Vec<Duration> {
    let entered = times(
        history,
        |what| matches!(what, EventKind::Acquired { by, .. } if *by == contender),
    );
    let left = times(
        history,
        |what| matches!(what, EventKind::ReleaseStarted { by, .. } if *by == contender),
    );
    entered
        .iter()
        .zip(left)
        .map(|(from, to)| Duration::from_micros(to.micros() - from.micros()))
        .collect()
}

#[test]
fn a_contender_without_settings_is_like_the_others() {
    let service = Service::ZooKeeper(Ensemble::default());
    let history = history_on(
        service,
        "zk-hardened",
        vec![planned(acquired(), Fault::Cut { target: FIRST })],
    );
    assert!([A, B].iter().all(|of| !holds(&history, *of).is_empty()));
    let long = [A, B].map(|of| holds(&history, of).iter().all(|hold| *hold >= seconds(5)));
    assert_eq!(long, [true, true]);
}

#[test]
fn one_long_job_stands_among_short_ones() {
    let history = history(ContenderSettings {
        hold: Some(Hold::For(seconds(30))),
        ..ContenderSettings::default()
    });
    let long = holds(&history, A);
    assert!(long.iter().all(|hold| *hold >= seconds(30)), "{long:?}");
    let short = holds(&history, B);
    assert!(short.iter().all(|hold| *hold < seconds(2)), "{short:?}");
    assert!(!long.is_empty() && !short.is_empty());
}

#[test]
fn each_comes_as_often_as_it_is_said_of_it() {
    let history = history(ContenderSettings {
        rounds: Some(3),
        ..ContenderSettings::default()
    });
    assert_eq!(holds(&history, A).len(), 3);
    assert_eq!(holds(&history, B).len(), 1);
}

#[test]
fn one_comes_when_its_own_time_has_come() {
    let mut plan = plan(ContenderSettings {
        arrive_after: Some(seconds(20)),
        ..ContenderSettings::default()
    });
    plan.workload.arrive = Arrival::Together;
    let history = simulate(&plan, 1).run.history;
    let first = |of: ContenderId| {
        let begins = move |what: &EventKind| matches!(what, EventKind::AcquireStarted { by, .. } if *by == of);
        times(&history, begins)[0].micros()
    };
    assert!((20_000_000..20_100_000).contains(&first(A)), "{}", first(A));
    assert!(first(B) < 1_000_000, "{}", first(B));
}

#[test]
fn one_that_is_far_away_takes_longer_to_get_the_lock() {
    let waits = |settings| {
        let history = history(settings);
        let begun = times(&history, |what| {
            matches!(what, EventKind::AcquireStarted { by: A, .. })
        });
        let entered = times(&history, |what| {
            matches!(what, EventKind::Acquired { by: A, .. })
        });
        entered[0].micros() - begun[0].micros()
    };
    let far = ContenderSettings {
        latency: Some((Duration::from_millis(400), Duration::from_millis(400))),
        ..ContenderSettings::default()
    };
    // A connection, a session, and two requests at least, each to and fro.
    assert!(waits(far) >= 4 * 2 * 400_000);
    assert!(waits(ContenderSettings::default()) < 400_000);
}

#[test]
fn one_gives_up_waiting_and_the_others_do_not() {
    let service = Service::ZooKeeper(Ensemble::default());
    let mut plan = plan_on(service, "zk-hardened", Vec::new());
    let impatient = ContenderSettings {
        acquire_timeout: Some(seconds(1)),
        ..ContenderSettings::default()
    };
    plan.workload.contenders = 3;
    let second = picklock_sim::plan::ContenderName(1);
    plan.workload.contender_settings.insert(second, impatient);
    let history = simulate(&plan, 1).run.history;
    let failed = |of: ContenderId| {
        let fails = move |what: &EventKind| matches!(what, EventKind::AcquireFailed { by, .. } if *by == of);
        times(&history, fails).len()
    };
    assert!(
        failed(B) >= 3,
        "the first one holds the lock for five seconds"
    );
    assert_eq!(failed(ContenderId(2)), 0);
}

#[test]
fn the_bound_on_progress_leaves_time_for_the_long_section() {
    let bound = |settings| simulate(&plan(settings), 1).run.facts.progress_bound;
    let long = ContenderSettings {
        hold: Some(Hold::For(seconds(100))),
        ..ContenderSettings::default()
    };
    assert_eq!(
        bound(long),
        bound(ContenderSettings::default()) + seconds(99)
    );
}
