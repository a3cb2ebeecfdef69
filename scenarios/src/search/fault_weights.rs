//! How promising a kind of fault is at a moment: what is known of locks in general, and of no recipe in particular.

use picklock_algorithms::clients::RequestKind;

use super::moment_class::{MomentClass, RequestStage};
use picklock_sim::plan::FaultKind;

/// How promising it is, from 1 to 12; 0 if the fault cannot strike there, or would do nothing.
pub(crate) fn promise(kind: FaultKind, class: MomentClass) -> u32 {
    if let Some(promise) = promise_apart(kind, class) {
        return promise;
    }
    match kind {
        FaultKind::LoseRequest | FaultKind::DelayRequest => {
            at_request(class, &[RequestStage::Sent])
        }
        FaultKind::LoseReply | FaultKind::SwallowReply | FaultKind::DelayReply => {
            at_request(class, &[RequestStage::Sent, RequestStage::Answered])
        }
        FaultKind::LoseMessage => u32::from(class == MomentClass::Told) * 10,
        // A holder is the last to learn that its session or its node is gone.
        FaultKind::ExpireSession
        | FaultKind::Stop
        | FaultKind::DeleteNode
        | FaultKind::DeleteKey
        | FaultKind::DeleteStale
        | FaultKind::Revoke
        | FaultKind::FullMemory
        | FaultKind::FullDisk
        | FaultKind::SlowScript
        | FaultKind::MoveSlot
        | FaultKind::EvictKey
        | FaultKind::Promote
        | FaultKind::ServerClockJump => by_step(class, [10, 9, 7, 6, 4, 3, 1]),
        // A contender that dies, or gives up, leaves something behind: most of all between others.
        FaultKind::Crash => by_step(class, [8, 10, 7, 6, 4, 3, 1]),
        FaultKind::Cancel => cancelled(class),
        // A contender stands still, or hears nothing, while it believes. The whole of a section is before it at first.
        FaultKind::Pause
        | FaultKind::BlockEvents
        | FaultKind::BlackHole
        | FaultKind::SlowLink
        | FaultKind::LosePackets
        | FaultKind::Flap
        | FaultKind::ClockDrift
        | FaultKind::IsolateServer
        | FaultKind::Partition => by_step(class, [10, 8, 9, 4, 4, 3, 1]),
        // A contender reads a wall clock when it asks, or waits and compares; what a holder has written down stays.
        FaultKind::ClockJump => match class {
            MomentClass::Acquiring => 9,
            other => by_step(other, [6, 10, 3, 4, 4, 3, 1]),
        },
        // What is done, and its answer is not there.
        FaultKind::Cut => match class {
            MomentClass::Changing(RequestStage::Proposed | RequestStage::Committed, _) => 10,
            MomentClass::Changing(RequestStage::Sent, _) => 9,
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
        | FaultKind::StallRaft
        | FaultKind::SlowDisk => match class {
            MomentClass::Changing(RequestStage::Proposed, _) => 10,
            MomentClass::Changing(RequestStage::Sent, _) => 9,
            MomentClass::Changing(RequestStage::Committed, _) => 7,
            other => by_step(other, [5, 6, 3, 3, 3, 5, 1]),
        },
        // The less is there, the less is noticed.
        FaultKind::RecreateLock => match class {
            MomentClass::Released => 10,
            other => by_step(other, [8, 6, 4, 4, 4, 1, 1]),
        },
    }
}

/// How promising it is that a leader goes away, if what breaks next breaks when another leads, from 1 to 10: when the
/// lock is free, and each may take it from another.
pub(crate) fn promise_of_outage(class: MomentClass) -> u32 {
    match class {
        MomentClass::Succeeding | MomentClass::Connecting => 0,
        MomentClass::Released => 10,
        MomentClass::Acquired => 9,
        MomentClass::Changing(RequestStage::Sent, _)
        | MomentClass::First(RequestStage::Sent, _) => 7,
        other => by_step(other, [9, 4, 4, 4, 4, 3, 1]),
    }
}

/// How promising it is that a session is given up by its client, and lives on: a waiter finds its own place again, for
/// as long as that lasts.
pub(crate) fn promise_of_lapse(class: MomentClass) -> u32 {
    match class {
        MomentClass::Succeeding | MomentClass::Connecting => 0,
        other => by_step(other, [4, 10, 3, 8, 2, 1, 1]),
    }
}

/// Of these, that of the class: acquired, waiting, writing, queued, releasing, changing, and all others.
fn by_step(class: MomentClass, of: [u32; 7]) -> u32 {
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
        MomentClass::Acquired => acquired,
        MomentClass::Waiting => waiting,
        MomentClass::Writing => writing,
        MomentClass::Queued => queued,
        MomentClass::Releasing => releasing,
        MomentClass::Changing(..) | MomentClass::First(..) | MomentClass::Renewing(..) => changing,
        MomentClass::Acquiring | MomentClass::Released | MomentClass::Looking(..) => others,
        MomentClass::Connecting => 0,
        MomentClass::Told | MomentClass::Succeeding | MomentClass::Other => others,
    }
}

/// A contender that gives up while its request is under way leaves something behind; so does a waiter.
fn cancelled(class: MomentClass) -> u32 {
    match class {
        MomentClass::Changing(RequestStage::Sent, _) | MomentClass::Told => 7,
        MomentClass::Acquiring | MomentClass::Looking(..) => 3,
        MomentClass::Released => 0,
        other => by_step(other, [0, 10, 0, 8, 0, 3, 0]),
    }
}

/// The same of moments at which it is not the step of its victim that counts.
fn promise_apart(kind: FaultKind, class: MomentClass) -> Option<u32> {
    match class {
        MomentClass::First(way, request) => Some(between(kind, way, request.writes())),
        MomentClass::Renewing(way, request) => Some(renewal(kind, way, request)),
        // A client that is away for a moment misses what happens in it.
        MomentClass::Succeeding => Some(u32::from(kind == FaultKind::Cut) * 10),
        MomentClass::Connecting => Some(before_the_first_request(kind)),
        _ => None,
    }
}

/// What a client does once, when it begins, gets no answer; or it begins with a clock that is wrong.
fn before_the_first_request(kind: FaultKind) -> u32 {
    match kind {
        FaultKind::HangServer | FaultKind::CrashServer => 6,
        FaultKind::BlackHole => 5,
        FaultKind::ClockJump | FaultKind::IsolateServer | FaultKind::Partition => 4,
        FaultKind::Pause | FaultKind::SlowLink | FaultKind::Cut => 3,
        FaultKind::BlockEvents
        | FaultKind::Crash
        | FaultKind::Cancel
        | FaultKind::Stop
        | FaultKind::ExpireSession
        | FaultKind::LoseRequest
        | FaultKind::DelayRequest
        | FaultKind::LoseReply
        | FaultKind::SwallowReply
        | FaultKind::DelayReply
        | FaultKind::LoseMessage
        | FaultKind::DeleteNode
        | FaultKind::DeleteKey
        | FaultKind::DeleteStale
        | FaultKind::Revoke
        | FaultKind::RecreateLock
        | FaultKind::FullMemory
        | FaultKind::FullDisk
        | FaultKind::MoveSlot
        | FaultKind::EvictKey
        | FaultKind::Promote
        | FaultKind::ServerClockJump
        | FaultKind::ClockDrift
        | FaultKind::PowerLoss
        | FaultKind::LagServer
        | FaultKind::StallRaft
        | FaultKind::HoldLink
        | FaultKind::LosePackets
        | FaultKind::Flap
        | FaultKind::SlowScript
        | FaultKind::SlowDisk => 0,
    }
}

/// What keeps a lease alive and is late, or does not come, with all that comes behind it on the same way. If it is only
/// lost, the next one makes up for it.
fn renewal(kind: FaultKind, way: RequestStage, request: RequestKind) -> u32 {
    match (kind, way) {
        (FaultKind::DelayRequest, RequestStage::Sent) => 11,
        (FaultKind::DelayReply, RequestStage::Sent) => 7,
        _ => promise(kind, MomentClass::Changing(way, request)).min(6),
    }
}

/// Between two requests that belong together, the first of which changes something, or only looks. Without the second,
/// half of a change is left behind; where the second is late, it acts on what is not so any more.
fn between(kind: FaultKind, way: RequestStage, changes: bool) -> u32 {
    let done = matches!(way, RequestStage::Committed | RequestStage::Answered);
    match kind {
        FaultKind::LoseMessage => 0,
        FaultKind::LoseReply | FaultKind::SwallowReply | FaultKind::DelayReply
            if way == RequestStage::Proposed =>
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
            if way == RequestStage::Sent {
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
        FaultKind::Pause
        | FaultKind::BlackHole
        | FaultKind::SlowLink
        | FaultKind::LosePackets
        | FaultKind::Flap => match (changes, done) {
            (false, true) => 9,
            (true, true) => 8,
            (_, false) => 5,
        },
        FaultKind::ExpireSession
        | FaultKind::Stop
        | FaultKind::DeleteNode
        | FaultKind::DeleteKey
        | FaultKind::DeleteStale
        | FaultKind::Revoke
        | FaultKind::FullMemory
        | FaultKind::FullDisk
        | FaultKind::SlowScript
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
        | FaultKind::StallRaft
        | FaultKind::SlowDisk => match (changes, way) {
            // As if the answer were lost, but for the others on the connection.
            (true, RequestStage::Committed) if kind == FaultKind::Cut => 12,
            (true, RequestStage::Proposed) => 10,
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

fn at_request(class: MomentClass, ways: &[RequestStage]) -> u32 {
    match class {
        MomentClass::Changing(RequestStage::Sent, _) => 10,
        MomentClass::Changing(way, _) if ways.contains(&way) => 6,
        MomentClass::Looking(way, _) if ways.contains(&way) => 3,
        MomentClass::Changing(..)
        | MomentClass::Looking(..)
        | MomentClass::First(..)
        | MomentClass::Connecting
        | MomentClass::Acquiring
        | MomentClass::Queued
        | MomentClass::Waiting
        | MomentClass::Acquired
        | MomentClass::Writing
        | MomentClass::Releasing
        | MomentClass::Released
        | MomentClass::Told
        | MomentClass::Succeeding
        | MomentClass::Renewing(..)
        | MomentClass::Other => 0,
    }
}
