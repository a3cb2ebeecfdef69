//! A contender that is asked to stop.

use crate::common;

use common::{FIRST, acquired, plan_on, planned, seconds};
use picklock_checker::{ContenderId, EventKind, History};
use picklock_sim::plan::{ContenderName, Deployment, Fault, Plan, Service, Trigger};
use picklock_sim::simulate;

const SECOND: ContenderName = ContenderName(1);

fn plan(algorithm: &str, when: Trigger, target: ContenderName) -> Plan {
    let deployment = Deployment {
        lease: seconds(3),
        ..Deployment::default()
    };
    let stop = planned(when, Fault::Stop { target });
    let mut plan = plan_on(Service::Redis(deployment), algorithm, vec![stop]);
    plan.workload.rounds = 3;
    plan
}

/// How often a contender has done this.
fn times(
    history: &History,
    of: ContenderName,
    is: impl Fn(&EventKind) -> Option<ContenderId>,
) -> usize {
    let events = history.events.iter();
    events
        .filter(|event| is(&event.what) == Some(ContenderId(of.0)))
        .count()
}

fn acquired_by(what: &EventKind) -> Option<ContenderId> {
    match what {
        EventKind::Acquired { by, .. } => Some(*by),
        _ => None,
    }
}

fn released_by(what: &EventKind) -> Option<ContenderId> {
    match what {
        EventKind::Released { by, .. } => Some(*by),
        _ => None,
    }
}

#[test]
fn a_stopped_holder_ends_its_section_and_begins_no_other() {
    let history = simulate(&plan("bullmq-worker", acquired(), FIRST), 1)
        .run
        .history;
    assert_eq!(times(&history, FIRST, acquired_by), 1);
    assert_eq!(times(&history, FIRST, released_by), 1);
    assert_eq!(times(&history, SECOND, released_by), 3);
}

#[test]
fn a_stopped_waiter_drops_its_acquire() {
    let waits = Trigger::Waiting { by: SECOND, nth: 1 };
    let history = simulate(&plan("bullmq-worker", waits, SECOND), 1)
        .run
        .history;
    assert_eq!(times(&history, SECOND, acquired_by), 0);
    assert_eq!(times(&history, FIRST, released_by), 3);
}

#[test]
fn a_queue_that_clears_its_timers_loses_the_lock_of_its_job() {
    let history = simulate(&plan("bull-queue-timers-first", acquired(), FIRST), 1)
        .run
        .history;
    let fails = |what: &EventKind| match what {
        EventKind::ReleaseFailed { by, .. } => Some(*by),
        _ => None,
    };
    assert_eq!(times(&history, FIRST, fails), 1);
}
