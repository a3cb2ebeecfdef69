//! How promising a kind of fault is at a moment: what is known of locks in general, and of no recipe in particular.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{ContenderName, Trigger};

use super::parts::Part;
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
    /// The first of two requests that belong together: a change follows that was decided on before.
    First(Way, RequestKind),
    /// Another gives the lock back, and it is the one who has it next.
    Succeeding,
    /// A holder asks again for what it has, so as to keep it.
    Renewing(Way, RequestKind),
    /// A session has ended already, or the moment is no moment of the protocol.
    Other,
}

impl Class {
    /// The class of a request that is this part of what its sender does.
    pub(super) fn with(self, part: Part) -> Self {
        match (self, part) {
            (Self::Changing(way, kind), Part::Asked) => Self::Looking(way, kind),
            (Self::Changing(way, kind), Part::Renewal) => Self::Renewing(way, kind),
            (Self::Changing(way, kind) | Self::Looking(way, kind), Part::First) => {
                Self::First(way, kind)
            }
            (class, _) => class,
        }
    }

    /// Whether it is about a request that takes something away.
    fn takes_away(self) -> bool {
        match self {
            Self::Changing(_, kind) | Self::First(_, kind) => {
                matches!(kind, RequestKind::Delete | RequestKind::Del)
            }
            Self::Looking(..)
            | Self::Acquiring
            | Self::Queued
            | Self::Waiting
            | Self::Acquired
            | Self::Writing
            | Self::Releasing
            | Self::Released
            | Self::Told
            | Self::Succeeding
            | Self::Renewing(..)
            | Self::Other => false,
        }
    }

    /// The same for all that differ so little that one of them makes the others less promising: how far a request has
    /// come, and, of two that belong together, what they ask.
    pub(super) fn kin(self) -> Self {
        match self {
            Self::Changing(_, kind) => Self::Changing(Way::Sent, kind),
            Self::Looking(_, kind) => Self::Looking(Way::Sent, kind),
            Self::Renewing(_, kind) => Self::Renewing(Way::Sent, kind),
            Self::First(_, kind) if kind.writes() => Self::First(Way::Sent, RequestKind::Create),
            Self::First(..) => Self::First(Way::Sent, RequestKind::Exists),
            other => other,
        }
    }
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
        Trigger::Disconnected { by, nth }
        | Trigger::Reconnected { by, nth }
        | Trigger::SessionLost { by, nth } => (Class::Other, by, nth),
        // It comes at once after the answer, and too late for what an answer alone gives away.
        Trigger::Streamed { .. } => return None,
        Trigger::At(_)
        | Trigger::Applied { .. }
        | Trigger::Elected { .. }
        | Trigger::Fired { .. } => return None,
    })
}

fn of_request(way: Way, request: RequestKind) -> Class {
    if request.writes() {
        Class::Changing(way, request)
    } else {
        Class::Looking(way, request)
    }
}

/// How promising it is, from 1 to 12; 0 if the fault cannot strike there, or would do nothing.
pub(crate) fn promise(kind: FaultKind, class: Class) -> u32 {
    if let Some(promise) = promise_apart(kind, class) {
        return promise;
    }
    match kind {
        FaultKind::LoseRequest | FaultKind::DelayRequest => at_request(class, &[Way::Sent]),
        FaultKind::LoseReply | FaultKind::SwallowReply | FaultKind::DelayReply => {
            at_request(class, &[Way::Sent, Way::Answered])
        }
        FaultKind::LoseMessage => u32::from(class == Class::Told) * 10,
        // Whose session ends, or whose node goes, under it, is the last to know.
        FaultKind::ExpireSession
        | FaultKind::DeleteNode
        | FaultKind::FullMemory
        | FaultKind::FullDisk
        | FaultKind::MoveSlot
        | FaultKind::EvictKey
        | FaultKind::Promote
        | FaultKind::ServerClockJump => by_step(class, [10, 9, 7, 6, 4, 3, 1]),
        // Who dies, or gives up, leaves something behind: most of all one with others before and behind it.
        FaultKind::Crash => by_step(class, [8, 10, 7, 6, 4, 3, 1]),
        FaultKind::Cancel => match class {
            Class::Changing(Way::Sent, _) | Class::Told => 7,
            Class::Acquiring | Class::Looking(..) => 3,
            Class::Released => 0,
            other => by_step(other, [0, 10, 0, 8, 0, 3, 0]),
        },
        // Who stands still, or hears nothing, while it believes. The whole of a section is before it at first.
        FaultKind::Pause
        | FaultKind::BlockEvents
        | FaultKind::BlackHole
        | FaultKind::SlowLink
        | FaultKind::ClockJump
        | FaultKind::ClockDrift
        | FaultKind::IsolateServer
        | FaultKind::Partition => by_step(class, [10, 8, 9, 4, 4, 3, 1]),
        // What is done, and its answer is not there.
        FaultKind::Cut => match class {
            Class::Changing(Way::Proposed | Way::Committed, _) => 10,
            Class::Changing(Way::Sent, _) => 9,
            other => by_step(other, [5, 6, 3, 3, 3, 5, 1]),
        },
        // What is taken away twice is gone; what is made twice is there twice.
        FaultKind::HoldLink if class.takes_away() => 9,
        // It takes what was done last.
        FaultKind::PowerLoss => by_step(class, [10, 6, 4, 4, 3, 6, 1]),
        // What breaks while a change is being agreed on.
        FaultKind::HoldLink
        | FaultKind::CrashServer
        | FaultKind::HangServer
        | FaultKind::LagServer
        | FaultKind::SlowDisk => match class {
            Class::Changing(Way::Proposed, _) => 10,
            Class::Changing(Way::Sent, _) => 9,
            Class::Changing(Way::Committed, _) => 7,
            other => by_step(other, [5, 6, 3, 3, 3, 5, 1]),
        },
        // The less is there, the less is noticed.
        FaultKind::RecreateLock => match class {
            Class::Released => 10,
            other => by_step(other, [8, 6, 4, 4, 4, 1, 1]),
        },
    }
}

/// How promising it is that a leader goes away, if what breaks next breaks when another leads, from 1 to 10: when the
/// lock is free, and each may take it from another.
pub(crate) fn promise_of_outage(class: Class) -> u32 {
    match class {
        Class::Succeeding => 0,
        Class::Released => 10,
        Class::Acquired => 9,
        Class::Changing(Way::Sent, _) | Class::First(Way::Sent, _) => 7,
        other => by_step(other, [9, 4, 4, 4, 4, 3, 1]),
    }
}

/// How promising it is that a session is given up by its client, and lives on: who waits finds its own place again, for
/// as long as that lasts.
pub(crate) fn promise_of_lapse(class: Class) -> u32 {
    match class {
        Class::Succeeding => 0,
        other => by_step(other, [4, 10, 3, 8, 2, 1, 1]),
    }
}

/// Of these, that of the class: acquired, waiting, writing, queued, releasing, changing, and all others.
fn by_step(class: Class, of: [u32; 7]) -> u32 {
    let [
        acquired,
        waiting,
        writing,
        queued,
        releasing,
        changing,
        others,
    ] = of;
    match class {
        Class::Acquired => acquired,
        Class::Waiting => waiting,
        Class::Writing => writing,
        Class::Queued => queued,
        Class::Releasing => releasing,
        Class::Changing(..) | Class::First(..) | Class::Renewing(..) => changing,
        Class::Acquiring | Class::Released | Class::Looking(..) => others,
        Class::Told | Class::Succeeding | Class::Other => others,
    }
}

/// The same of moments at which it is not the step of its victim that counts.
fn promise_apart(kind: FaultKind, class: Class) -> Option<u32> {
    match class {
        Class::First(way, request) => Some(between(kind, way, request.writes())),
        Class::Renewing(way, request) => Some(renewal(kind, way, request)),
        // Who is away for a moment misses what happens in it.
        Class::Succeeding => Some(u32::from(kind == FaultKind::Cut) * 10),
        _ => None,
    }
}

/// What keeps a lease alive and is late, or does not come, with all that comes behind it on the same way. If it is only
/// lost, the next one makes up for it.
fn renewal(kind: FaultKind, way: Way, request: RequestKind) -> u32 {
    match (kind, way) {
        (FaultKind::DelayRequest, Way::Sent) => 11,
        (FaultKind::DelayReply, Way::Sent) => 7,
        _ => promise(kind, Class::Changing(way, request)).min(6),
    }
}

/// Between two requests that belong together, the first of which changes something, or only looks. Who does not get to
/// the second leaves half of a change behind; whoever is late with it acts on what is not so any more.
fn between(kind: FaultKind, way: Way, changes: bool) -> u32 {
    let done = matches!(way, Way::Committed | Way::Answered);
    match kind {
        FaultKind::LoseMessage => 0,
        FaultKind::LoseReply | FaultKind::SwallowReply | FaultKind::DelayReply
            if way == Way::Proposed =>
        {
            0
        }
        FaultKind::LoseReply | FaultKind::SwallowReply => {
            if changes {
                12
            } else {
                4
            }
        }
        FaultKind::DelayReply => {
            if changes {
                10
            } else {
                12
            }
        }
        FaultKind::LoseRequest | FaultKind::DelayRequest => {
            if way == Way::Sent {
                7
            } else {
                0
            }
        }
        FaultKind::Crash | FaultKind::Cancel => match (changes, done) {
            (true, true) => 12,
            (true, false) => 6,
            (false, _) => 3,
        },
        FaultKind::Pause | FaultKind::BlackHole | FaultKind::SlowLink => match (changes, done) {
            (false, true) => 9,
            (true, true) => 8,
            (_, false) => 5,
        },
        FaultKind::ExpireSession
        | FaultKind::DeleteNode
        | FaultKind::FullMemory
        | FaultKind::FullDisk
        | FaultKind::MoveSlot
        | FaultKind::EvictKey
        | FaultKind::Promote
        | FaultKind::ServerClockJump
        | FaultKind::RecreateLock => match (changes, done) {
            (false, true) => 8,
            (true, _) => 3,
            (false, false) => 2,
        },
        FaultKind::Cut
        | FaultKind::HoldLink
        | FaultKind::CrashServer
        | FaultKind::PowerLoss
        | FaultKind::HangServer
        | FaultKind::LagServer
        | FaultKind::SlowDisk => match (changes, way) {
            // As if the answer were lost, but for the others on the connection.
            (true, Way::Committed) if kind == FaultKind::Cut => 12,
            (true, Way::Proposed) => 10,
            (true, _) => 9,
            (false, _) => 4,
        },
        FaultKind::BlockEvents
        | FaultKind::ClockJump
        | FaultKind::ClockDrift
        | FaultKind::IsolateServer
        | FaultKind::Partition => 3,
    }
}

fn at_request(class: Class, ways: &[Way]) -> u32 {
    match class {
        Class::Changing(Way::Sent, _) => 10,
        Class::Changing(way, _) if ways.contains(&way) => 6,
        Class::Looking(way, _) if ways.contains(&way) => 3,
        Class::Changing(..)
        | Class::Looking(..)
        | Class::First(..)
        | Class::Acquiring
        | Class::Queued
        | Class::Waiting
        | Class::Acquired
        | Class::Writing
        | Class::Releasing
        | Class::Released
        | Class::Told
        | Class::Succeeding
        | Class::Renewing(..)
        | Class::Other => 0,
    }
}
