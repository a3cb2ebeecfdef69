//! How promising a kind of fault is at a moment: what is known of locks in general, and of no recipe in particular.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{ContenderName, Trigger};

use crate::kind::FaultKind;

/// Moments that are alike: at which it makes no difference to a recipe who it is, or for the how manieth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Acquiring,
    Queued,
    Waiting,
    Acquired,
    Writing,
    Releasing,
    Released,
    /// A request that changes something is on its way to be done, or its answer is.
    Changing(Way, RequestKind),
    /// A request that only looks.
    Looking(Way, RequestKind),
    /// A server sends it a message of a channel.
    Told,
    /// A session has ended already, or the moment is no moment of the protocol.
    Other,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Sent,
    Proposed,
    Committed,
    Answered,
}

/// What a trigger speaks of: the class of the moment, whose it is, and for the how manieth time it is.
pub(super) fn read(trigger: &Trigger) -> Option<(Class, ContenderName, u32)> {
    Some(match *trigger {
        Trigger::Acquiring { by, nth } => (Class::Acquiring, by, nth),
        Trigger::Queued { by, nth } => (Class::Queued, by, nth),
        Trigger::Waiting { by, nth } => (Class::Waiting, by, nth),
        Trigger::Acquired { by, nth } => (Class::Acquired, by, nth),
        Trigger::Writing { by, nth } => (Class::Writing, by, nth),
        Trigger::Releasing { by, nth } => (Class::Releasing, by, nth),
        Trigger::Released { by, nth } => (Class::Released, by, nth),
        Trigger::Sent { request, by, nth } => (of_request(Way::Sent, request), by, nth),
        Trigger::Proposed { request, by, nth } => (of_request(Way::Proposed, request), by, nth),
        Trigger::Committed { request, by, nth } => (of_request(Way::Committed, request), by, nth),
        Trigger::Answered { request, by, nth } => (of_request(Way::Answered, request), by, nth),
        Trigger::Told { by, nth } => (Class::Told, by, nth),
        Trigger::SessionExpired { by } => (Class::Other, by, 1),
        Trigger::At(_) | Trigger::Fired { .. } => return None,
    })
}

fn of_request(way: Way, request: RequestKind) -> Class {
    if request.writes() {
        Class::Changing(way, request)
    } else {
        Class::Looking(way, request)
    }
}

/// How promising it is, from 1 to 10; 0 if the fault cannot strike there, or would do nothing.
pub(crate) fn promise(kind: FaultKind, class: Class) -> u32 {
    match kind {
        FaultKind::LoseRequest | FaultKind::DelayRequest => at_request(class, &[Way::Sent]),
        FaultKind::LoseReply | FaultKind::DelayReply => {
            at_request(class, &[Way::Sent, Way::Answered])
        }
        FaultKind::LoseMessage => match class {
            Class::Told => 10,
            Class::Acquiring
            | Class::Queued
            | Class::Waiting
            | Class::Acquired
            | Class::Writing
            | Class::Releasing
            | Class::Released
            | Class::Changing(..)
            | Class::Looking(..)
            | Class::Other => 0,
        },
        // Whose session ends, or whose node goes, under it, is the last to know.
        FaultKind::ExpireSession
        | FaultKind::DeleteNode
        | FaultKind::EvictKey
        | FaultKind::Promote
        | FaultKind::ServerClockJump => match class {
            Class::Acquired => 10,
            Class::Waiting => 9,
            Class::Writing => 7,
            Class::Queued => 6,
            Class::Releasing => 4,
            Class::Changing(..) => 3,
            Class::Acquiring
            | Class::Released
            | Class::Looking(..)
            | Class::Told
            | Class::Other => 1,
        },
        // Who dies, or gives up, leaves something behind: most of all one with others before and behind it.
        FaultKind::Crash => match class {
            Class::Waiting => 10,
            Class::Acquired => 8,
            Class::Writing => 7,
            Class::Queued => 6,
            Class::Releasing => 4,
            Class::Changing(..) => 3,
            Class::Acquiring
            | Class::Released
            | Class::Looking(..)
            | Class::Told
            | Class::Other => 1,
        },
        FaultKind::Cancel => match class {
            Class::Waiting => 10,
            Class::Queued => 8,
            Class::Changing(Way::Sent, _) => 7,
            Class::Acquiring | Class::Changing(..) | Class::Looking(..) => 3,
            Class::Told => 7,
            Class::Acquired | Class::Writing | Class::Releasing | Class::Released => 0,
            Class::Other => 0,
        },
        // Who stands still, or hears nothing, while it believes.
        FaultKind::Pause
        | FaultKind::BlackHole
        | FaultKind::SlowLink
        | FaultKind::ClockJump
        | FaultKind::ClockDrift
        | FaultKind::IsolateServer => match class {
            // The whole of a section is before it.
            Class::Acquired => 10,
            Class::Writing => 9,
            Class::Waiting => 8,
            Class::Releasing | Class::Queued => 4,
            Class::Changing(..) => 3,
            Class::Acquiring
            | Class::Released
            | Class::Looking(..)
            | Class::Told
            | Class::Other => 1,
        },
        // What breaks while a change is being agreed on.
        FaultKind::Cut
        | FaultKind::HoldLink
        | FaultKind::CrashServer
        | FaultKind::PowerLoss
        | FaultKind::HangServer
        | FaultKind::LagServer
        | FaultKind::SlowDisk => match class {
            Class::Changing(Way::Proposed, _) => 10,
            Class::Changing(Way::Sent, _) => 9,
            Class::Changing(Way::Committed, _) => 7,
            Class::Waiting => 6,
            Class::Acquired | Class::Changing(Way::Answered, _) => 5,
            Class::Writing | Class::Releasing | Class::Queued => 3,
            Class::Acquiring
            | Class::Released
            | Class::Looking(..)
            | Class::Told
            | Class::Other => 1,
        },
        // The less is there, the less is noticed.
        FaultKind::RecreateLock => match class {
            Class::Released => 10,
            Class::Acquired => 8,
            Class::Waiting => 6,
            Class::Releasing | Class::Queued | Class::Writing => 4,
            Class::Acquiring | Class::Changing(..) | Class::Looking(..) => 1,
            Class::Told | Class::Other => 1,
        },
    }
}

fn at_request(class: Class, ways: &[Way]) -> u32 {
    match class {
        Class::Changing(Way::Sent, _) => 10,
        Class::Changing(way, _) if ways.contains(&way) => 6,
        Class::Looking(way, _) if ways.contains(&way) => 3,
        Class::Changing(..)
        | Class::Looking(..)
        | Class::Acquiring
        | Class::Queued
        | Class::Waiting
        | Class::Acquired
        | Class::Writing
        | Class::Releasing
        | Class::Released
        | Class::Told
        | Class::Other => 0,
    }
}
