//! The parts of faults and triggers, whatever they are: the contenders and servers that they name, and their times.

use std::time::Duration;

use picklock_sim::plan::{ContenderName, Fault, Lasts, ServerName, Trigger};

/// What a fault is made of.
#[derive(Default)]
pub(crate) struct Parts<'f> {
    pub(crate) contender: Option<&'f mut ContenderName>,
    pub(crate) servers: Vec<&'f mut ServerName>,
    pub(crate) times: Vec<&'f mut Duration>,
}

impl<'f> Parts<'f> {
    fn contender(target: &'f mut ContenderName, times: Vec<&'f mut Duration>) -> Self {
        Self {
            contender: Some(target),
            servers: Vec::new(),
            times,
        }
    }

    fn server(target: &'f mut ServerName, times: Vec<&'f mut Duration>) -> Self {
        Self {
            contender: None,
            servers: vec![target],
            times,
        }
    }

    /// The parts of a fault.
    pub(crate) fn of(fault: &'f mut Fault) -> Self {
        match fault {
            Fault::Cancel { target }
            | Fault::ExpireSession { target }
            | Fault::Cut { target }
            | Fault::LoseRequest { target }
            | Fault::LoseReply { target }
            | Fault::SwallowReply { target }
            | Fault::LoseMessage { target }
            | Fault::ClockJump { target, .. }
            | Fault::DeleteNode { of: target } => Self::contender(target, Vec::new()),
            Fault::ClockDrift { target, length, .. } => {
                Self::contender(target, length.iter_mut().collect())
            }
            Fault::Pause { target, length }
            | Fault::BlockEvents { target, length }
            | Fault::BlackHole { target, length, .. } => {
                Self::contender(target, length.duration_mut().into_iter().collect())
            }
            Fault::DelayRequest { target, by } | Fault::DelayReply { target, by } => {
                Self::contender(target, vec![by])
            }
            Fault::SlowLink {
                target, by, length, ..
            } => Self::contender(target, both(by, length)),
            Fault::Crash {
                target,
                restart_after,
            } => Self::contender(target, restart_after.iter_mut().collect()),
            Fault::CrashServer {
                target,
                restart_after,
            }
            | Fault::PowerLoss {
                target,
                restart_after,
            } => Self::server(target, restart_after.iter_mut().collect()),
            Fault::ServerClockJump { target, .. }
            | Fault::EvictKey { target }
            | Fault::Promote { target } => Self::server(target, Vec::new()),
            Fault::HangServer { target, length }
            | Fault::FullMemory { target, length }
            | Fault::FullDisk { target, length }
            | Fault::IsolateServer { target, length } => {
                Self::server(target, length.duration_mut().into_iter().collect())
            }
            Fault::MoveSlot { to: target, length } => Self::server(target, vec![length]),
            Fault::LagServer { target, by, length } => Self::server(target, both(by, length)),
            Fault::SlowDisk {
                target,
                fsync,
                length,
            } => Self::server(target, both(fsync, length)),
            // Whoever is on either side is struck: the contenders of one are not more so than those of the other.
            Fault::Partition {
                servers, length, ..
            } => Self {
                contender: None,
                servers: servers.iter_mut().collect(),
                times: length.duration_mut().into_iter().collect(),
            },
            Fault::HoldLink { from, to, length } => Self {
                contender: None,
                servers: from.iter_mut().chain([to]).collect(),
                times: length.duration_mut().into_iter().collect(),
            },
            Fault::RecreateLock => Self::default(),
        }
    }
}

/// By how much, and how long.
fn both<'f>(by: &'f mut Duration, lasts: &'f mut Lasts) -> Vec<&'f mut Duration> {
    [by].into_iter().chain(lasts.duration_mut()).collect()
}

/// What a trigger is made of: whose moment it is, and which one of them.
pub(super) fn moment(trigger: &mut Trigger) -> (Option<&mut ContenderName>, Option<&mut u32>) {
    match trigger {
        Trigger::Acquiring { by, nth }
        | Trigger::Queued { by, nth }
        | Trigger::Waiting { by, nth }
        | Trigger::Acquired { by, nth }
        | Trigger::Writing { by, nth }
        | Trigger::Releasing { by, nth }
        | Trigger::Released { by, nth }
        | Trigger::Sent { by, nth, .. }
        | Trigger::Proposed { by, nth, .. }
        | Trigger::Committed { by, nth, .. }
        | Trigger::Answered { by, nth, .. }
        | Trigger::Streamed { by, nth, .. }
        | Trigger::Applied { by, nth, .. }
        | Trigger::Told { by, nth }
        | Trigger::Disconnected { by, nth }
        | Trigger::Reconnected { by, nth }
        | Trigger::SessionLost { by, nth } => (Some(by), Some(nth)),
        Trigger::SessionExpired { by } => (Some(by), None),
        Trigger::Elected { nth } => (None, Some(nth)),
        Trigger::At(_) | Trigger::Fired { .. } => (None, None),
    }
}

/// The server that a trigger speaks of.
pub(super) fn place(trigger: &mut Trigger) -> Option<&mut ServerName> {
    match trigger {
        Trigger::Applied { at, .. } => Some(at),
        _ => None,
    }
}
