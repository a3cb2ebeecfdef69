//! Moments of the protocol, and the faults that wait for them.

use picklock_checker::{AwaitedFault, EventKind, ServerChange, VirtualTime};
use rustc_hash::FxHashMap;

use super::SimulatedService;
use super::moment::{Moment, MomentKind};
use super::{FaultState, MessageFate, World};
use crate::event::Event;
use crate::network::{RequestId, ServerId};
use crate::plan::{ContenderName, ServerName, Trigger};

/// So many moments of a run are written down: enough for any search. Contenders that ask again and again have tens of
/// thousands in a run of seconds, and hold the lock to the end of it.
const MOMENTS: usize = 50_000;

/// A moment of a run that a fault could have waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenMoment {
    /// When it was.
    pub at: VirtualTime,
    /// What a fault has to wait for to strike just then.
    pub trigger: Trigger,
    /// How many contenders were waiting for the lock.
    pub waiting: u32,
    /// Whether any contender believed to hold it.
    pub held: bool,
    /// Whether the server that the contender was connected to led the others.
    pub leads: bool,
}

/// The moments of a run, as they come.
#[derive(Default)]
pub(crate) struct MomentLog {
    moments: Vec<SeenMoment>,
    /// How many moments there are of each kind of each contender.
    counts: FxHashMap<(ContenderName, MomentKind), u32>,
}

impl MomentLog {
    /// The moments, in their order.
    pub(crate) fn into_moments(self) -> Vec<SeenMoment> {
        self.moments
    }
}

impl<S: SimulatedService> World<S> {
    /// Whether faults wait for moments, or moments are recorded.
    #[inline]
    pub(crate) fn watches_moments(&self) -> bool {
        self.faults_armed > 0 || self.seen.is_some()
    }

    /// Whether it matters which requests are sent and answered: a fault may strike one, or they are written down.
    #[inline]
    pub(crate) fn watches_requests(&self) -> bool {
        !self.faults.is_empty() || self.seen.is_some()
    }

    /// Writes the moment down, if that was asked for.
    fn note(&mut self, moment: Moment) {
        if (moment.by as usize) >= self.contenders.len()
            || (self.seen.as_ref()).is_none_or(|seen| seen.moments.len() >= MOMENTS)
        {
            return;
        }
        let (by, kind) = (ContenderName(moment.by), moment.kind.general());
        let waiting = self.busy.waiting as u32;
        let held = self.contenders.iter().any(|contender| contender.holding);
        let leads = S::leads(self, by);
        let at = self.now;
        if let Some(seen) = &mut self.seen {
            let count = seen.counts.entry((by, kind)).or_default();
            *count += 1;
            seen.moments.push(SeenMoment {
                at,
                trigger: trigger(by, kind, *count),
                waiting,
                held,
                leads,
            });
        }
    }

    /// Tells the faults of the plan that something has happened. Answers what becomes of the answer that is being sent,
    /// if the moment is about one: the last fault that makes something of it decides.
    #[inline]
    pub(crate) fn moment(&mut self, moment: Moment) -> Option<MessageFate> {
        match self.watches_moments() {
            true => self.fire_moment(moment),
            false => None,
        }
    }

    #[inline(never)]
    fn fire_moment(&mut self, moment: Moment) -> Option<MessageFate> {
        let mut decided = None;
        self.note(moment);
        for fault in 0..self.faults.len() {
            if !self.faults[fault].armed {
                continue;
            }
            let when = &self.plan.faults[fault].when;
            let Some(nth) = awaited(when, moment) else {
                continue;
            };
            if let Some(at) = when.at_server()
                && !self.is_about(moment, at)
            {
                continue;
            }
            let fate = self.count(fault, nth, moment.request);
            match moment.answers {
                true => decided = fate.or(decided),
                false => self.plan_fate_of_reply(moment.request, fate),
            }
        }
        decided
    }

    /// Whether a moment is about a request to this server.
    fn is_about(&self, moment: Moment, at: ServerName) -> bool {
        let server = S::server(self, at);
        let request = moment.request;
        request
            .is_some_and(|request| server == Some(self.connections.get(request.connection).server))
    }

    /// A moment that a fault waits for has come. It fires if it is the one.
    pub(crate) fn count(
        &mut self,
        fault: usize,
        nth: u32,
        request: Option<RequestId>,
    ) -> Option<MessageFate> {
        self.faults[fault].seen += 1;
        match self.faults[fault].seen >= nth {
            true => self.fire(fault, request),
            false => None,
        }
    }

    /// A server has become another to the others.
    #[cold]
    pub(crate) fn record_server_change(&mut self, server: ServerId, to: ServerChange) {
        let server = picklock_checker::ServerId(server.0.into());
        self.record(EventKind::ServerChanged { server, to });
    }

    /// A server has come to lead the others.
    #[cold]
    pub(crate) fn elected(&mut self) {
        self.lease_resets.push(self.now);
        for fault in 0..self.faults.len() {
            if let Trigger::Elected { nth } = self.plan.faults[fault].when
                && self.faults[fault].armed
            {
                self.count(fault, nth, None);
            }
        }
    }

    /// The trigger of a fault has come. Answers what becomes of the answer to the request, if it strikes at once.
    pub(crate) fn fire(&mut self, fault: usize, request: Option<RequestId>) -> Option<MessageFate> {
        if !self.faults[fault].armed {
            return None;
        }
        let planned = &self.plan.faults[fault];
        let after = planned.after;
        // One that strikes again by the clock waits for its trigger once.
        let by_clock = planned.repeat.is_none_or(|repeat| repeat.every.is_some());
        if by_clock || self.faults[fault].strikes_left == 1 {
            self.faults[fault].armed = false;
            self.faults_armed -= 1;
        }
        self.faults[fault].strikes_left -= 1;
        self.faults_active += 1;
        if after.is_zero() {
            return self.strike(fault);
        }
        let at = self.now + after;
        self.faults[fault].due = Some(at);
        self.timeline.add(at, Event::Strike { fault, request });
        None
    }

    /// Arms the faults that wait for a time.
    pub(crate) fn arm_timed_faults(&mut self) {
        for fault in 0..self.faults.len() {
            if let Trigger::At(time) = self.plan.faults[fault].when {
                self.faults[fault].armed = false;
                self.faults[fault].strikes_left -= 1;
                self.faults_armed -= 1;
                self.faults_active += 1;
                let at = self.now + time + self.plan.faults[fault].after;
                self.faults[fault].due = Some(at);
                self.timeline.add(
                    at,
                    Event::Strike {
                        fault,
                        request: None,
                    },
                );
            }
        }
    }

    /// Where the faults of the plan are in the end.
    pub(crate) fn awaited(&self) -> Vec<AwaitedFault> {
        let faults = self.faults.iter();
        let faults = faults.map(|&FaultState { seen, due, .. }| AwaitedFault { seen, due });
        faults.collect()
    }

    /// Fires the faults that wait for another one.
    pub(crate) fn chain(&mut self, fired: usize) {
        for fault in 0..self.faults.len() {
            let waits =
                matches!(self.plan.faults[fault].when, Trigger::Fired { fault } if fault == fired);
            if waits && self.faults[fault].armed {
                self.fire(fault, None);
            }
        }
    }
}

/// What a fault has to wait for to come at such a moment.
fn trigger(by: ContenderName, kind: MomentKind, nth: u32) -> Trigger {
    match kind {
        MomentKind::Acquiring => Trigger::Acquiring { by, nth },
        MomentKind::Queued => Trigger::Queued { by, nth },
        MomentKind::Waiting => Trigger::Waiting { by, nth },
        MomentKind::Acquired => Trigger::Acquired { by, nth },
        MomentKind::Writing => Trigger::Writing { by, nth },
        MomentKind::Releasing => Trigger::Releasing { by, nth },
        MomentKind::Released => Trigger::Released { by, nth },
        MomentKind::Sent(request) => Trigger::Sent {
            request,
            by,
            nth,
            at: None,
        },
        MomentKind::Proposed(request) => Trigger::Proposed { request, by, nth },
        MomentKind::Committed(request) => Trigger::Committed { request, by, nth },
        MomentKind::Answered(request) => Trigger::Answered {
            request,
            by,
            nth,
            at: None,
        },
        MomentKind::Received(request) => Trigger::Received {
            request,
            by,
            nth,
            at: None,
        },
        MomentKind::Streamed(request) => Trigger::Streamed { request, by, nth },
        MomentKind::Told => Trigger::Told { by, nth },
        MomentKind::SessionExpired => Trigger::SessionExpired { by },
        MomentKind::Disconnected => Trigger::Disconnected { by, nth },
        MomentKind::Reconnected => Trigger::Reconnected { by, nth },
        MomentKind::SessionLost => Trigger::SessionLost { by, nth },
    }
}

/// Which of such moments (`nth`) the trigger waits for, if any.
fn awaited(trigger: &Trigger, moment: Moment) -> Option<u32> {
    let (by, kind, nth) = match *trigger {
        Trigger::At(_)
        | Trigger::Applied { .. }
        | Trigger::Elected { .. }
        | Trigger::Fired { .. } => return None,
        Trigger::Acquiring { by, nth } => (by, MomentKind::Acquiring, nth),
        Trigger::Queued { by, nth } => (by, MomentKind::Queued, nth),
        Trigger::Waiting { by, nth } => (by, MomentKind::Waiting, nth),
        Trigger::Acquired { by, nth } => (by, MomentKind::Acquired, nth),
        Trigger::Writing { by, nth } => (by, MomentKind::Writing, nth),
        Trigger::Releasing { by, nth } => (by, MomentKind::Releasing, nth),
        Trigger::Released { by, nth } => (by, MomentKind::Released, nth),
        Trigger::Sent {
            request, by, nth, ..
        } => (by, MomentKind::Sent(request), nth),
        Trigger::Proposed { request, by, nth } => (by, MomentKind::Proposed(request), nth),
        Trigger::Committed { request, by, nth } => (by, MomentKind::Committed(request), nth),
        Trigger::Answered {
            request, by, nth, ..
        } => (by, MomentKind::Answered(request), nth),
        Trigger::Received {
            request, by, nth, ..
        } => (by, MomentKind::Received(request), nth),
        Trigger::Streamed { request, by, nth } => (by, MomentKind::Streamed(request), nth),
        Trigger::Told { by, nth } => (by, MomentKind::Told, nth),
        Trigger::SessionExpired { by } => (by, MomentKind::SessionExpired, 1),
        Trigger::Disconnected { by, nth } => (by, MomentKind::Disconnected, nth),
        Trigger::Reconnected { by, nth } => (by, MomentKind::Reconnected, nth),
        Trigger::SessionLost { by, nth } => (by, MomentKind::SessionLost, nth),
    };
    (by.0 == moment.by && kind.covers(moment.kind)).then_some(nth)
}
