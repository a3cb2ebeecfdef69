//! The parts of faults and triggers, whatever they are: the contenders and servers that they name, and their times.

use std::time::Duration;

use picklock_sim::plan::{
    ContenderName, Fault, FieldMut, Rate, ServerName, Trigger, TriggerFieldMut,
};

/// What a fault is made of.
#[derive(Default)]
pub(crate) struct Parts<'f> {
    pub(crate) contender: Option<&'f mut ContenderName>,
    pub(crate) servers: Vec<&'f mut ServerName>,
    pub(crate) times: Vec<&'f mut Duration>,
    pub(crate) ranges: Vec<&'f mut (Duration, Duration)>,
    pub(crate) rate: Option<&'f mut Rate>,
}

impl<'f> Parts<'f> {
    /// The parts of a fault.
    pub(crate) fn of(fault: &'f mut Fault) -> Self {
        let mut parts = Self::default();
        for (_, field) in fault.fields_mut() {
            match field {
                FieldMut::Contender(name) => parts.contender = Some(name),
                FieldMut::Server(name) => parts.servers.push(name),
                FieldMut::Servers(names) => parts.servers.extend(names),
                FieldMut::FaultDuration(lasts) => parts.times.extend(lasts.duration_mut()),
                FieldMut::Duration(time) => parts.times.push(time),
                FieldMut::MaybeDuration(time) => parts.times.extend(time),
                FieldMut::Range(range) => parts.ranges.push(range),
                FieldMut::Rate(rate) => parts.rate = Some(rate),
                // A partition strikes both of its sides alike.
                FieldMut::Contenders(_)
                | FieldMut::Direction(_)
                | FieldMut::Call(_)
                | FieldMut::Flag(_)
                | FieldMut::Millis(_)
                | FieldMut::PartsPerMillion(_) => {}
            }
        }
        parts
    }
}

/// What a trigger is made of: whose moment it is, and which one of them.
pub(crate) fn moment(trigger: &mut Trigger) -> (Option<&mut ContenderName>, Option<&mut u32>) {
    let (mut by, mut which) = (None, None);
    for field in trigger.fields_mut() {
        match field {
            TriggerFieldMut::Contender(name) => by = Some(name),
            TriggerFieldMut::Nth(nth) => which = Some(nth),
            TriggerFieldMut::Request(_)
            | TriggerFieldMut::Server(_)
            | TriggerFieldMut::MaybeServer(_)
            | TriggerFieldMut::Fault(_) => {}
        }
    }
    (by, which)
}

/// The server that a trigger speaks of.
pub(crate) fn place(trigger: &mut Trigger) -> Option<&mut ServerName> {
    match trigger {
        Trigger::Applied { at, .. } => Some(at),
        Trigger::Sent { at, .. } | Trigger::Answered { at, .. } | Trigger::Received { at, .. } => {
            at.as_mut()
        }
        _ => None,
    }
}
