//! The clock of a process that stands still: its code does not read it.

use crate::common;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, planned, seconds};
use picklock_checker::EventKind;
use picklock_sim::plan::{Deployment, Fault, PlannedFault, Service};

#[test]
fn a_paused_process_does_not_see_its_clock_touched() {
    let (target, length) = (FIRST, seconds(60).into());
    let after = |after, inject| PlannedFault {
        after: Duration::from_secs(after),
        ..planned(acquired(), inject)
    };
    let faults = vec![
        after(1, Fault::Pause { target, length }),
        after(
            12,
            Fault::ClockDrift {
                target,
                parts_per_million: 10_000,
                length: None,
            },
        ),
        after(
            13,
            Fault::Crash {
                target,
                restart_after: None,
            },
        ),
    ];
    let deployment = Deployment {
        lease: seconds(4),
        ..Deployment::default()
    };
    let history = history_on(
        Service::Redis(deployment),
        "redis-compare-and-delete",
        faults,
    );
    let known = |what: &EventKind| matches!(what, EventKind::CouldHaveKnown { by: A, .. });
    assert!(!history.events.iter().any(|event| known(&event.what)));
}
