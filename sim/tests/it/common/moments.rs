//! Faults that come a while after a moment, and when what happened.

use std::time::Duration;

use picklock_checker::{EventKind, History, VirtualTime};
use picklock_sim::plan::{Fault, PlannedFault, Trigger};

use crate::common::planned;

pub fn later(millis: u64, when: Trigger, inject: Fault) -> PlannedFault {
    PlannedFault {
        after: Duration::from_millis(millis),
        ..planned(when, inject)
    }
}

pub fn times(history: &History, wanted: impl Fn(&EventKind) -> bool) -> Vec<VirtualTime> {
    let found = history.events.iter().filter(|event| wanted(&event.what));
    found.map(|event| event.at).collect()
}

pub fn fired(history: &History) -> Vec<VirtualTime> {
    times(history, |what| matches!(what, EventKind::FaultFired { .. }))
}
