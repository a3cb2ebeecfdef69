//! Histories of failovers: what is planned, and when what happened.

use std::time::Duration;

use picklock_checker::{History, VirtualTime, What};
use picklock_sim::plan::{Fault, PlannedFault, ServerName, Trigger};

use crate::common::{planned, seconds};

pub fn later(millis: u64, when: Trigger, inject: Fault) -> PlannedFault {
    PlannedFault {
        after: Duration::from_millis(millis),
        ..planned(when, inject)
    }
}

pub fn crash(target: ServerName, back: u64) -> Fault {
    Fault::CrashServer {
        target,
        restart_after: Some(seconds(back)),
    }
}

pub fn times(history: &History, wanted: impl Fn(&What) -> bool) -> Vec<VirtualTime> {
    let found = history.events.iter().filter(|event| wanted(&event.what));
    found.map(|event| event.at).collect()
}

pub fn owned(history: &History) -> Vec<VirtualTime> {
    times(history, |what| matches!(what, What::Owned { .. }))
}

pub fn fired(history: &History) -> Vec<VirtualTime> {
    times(history, |what| matches!(what, What::FaultFired { .. }))
}
