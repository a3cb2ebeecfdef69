//! Primaries that die, and the owners of the lock then.

use picklock_checker::{EventKind, History, VirtualTime};
use picklock_sim::plan::{Fault, ServerName};

use super::moments::times;
use crate::common::seconds;

pub fn crash(target: ServerName, back: u64) -> Fault {
    Fault::CrashServer {
        target,
        restart_after: Some(seconds(back)),
    }
}

pub fn owned(history: &History) -> Vec<VirtualTime> {
    times(history, |what| matches!(what, EventKind::Owned { .. }))
}
