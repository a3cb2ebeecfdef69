//! Classes of moments: those of one class are alike to a recipe.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{ContenderName, Trigger};

/// Moments that are alike: it makes no difference to a recipe which contender it is, or how often it came there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MomentClass {
    /// It has asked for nothing yet, and is about to have its first connection.
    Connecting,
    Acquiring,
    Queued,
    Waiting,
    Acquired,
    Writing,
    Releasing,
    Released,
    /// A request that changes something is on its way to be done, or its answer is.
    Changing(RequestStage, RequestKind),
    /// A request that only looks.
    Looking(RequestStage, RequestKind),
    /// A server sends it a message of a channel.
    Told,
    /// The first of two requests that belong together: a change follows that was decided on before.
    First(RequestStage, RequestKind),
    /// Another contender gives the lock back, and this one has it next.
    Succeeding,
    /// A holder asks again for what it has, so as to keep it.
    Renewing(RequestStage, RequestKind),
    /// A session has ended already, or the moment is no moment of the protocol.
    Other,
}

impl MomentClass {
    /// Whether it is about a request that takes something away.
    pub(super) fn takes_away(self) -> bool {
        match self {
            Self::Changing(_, kind) | Self::First(_, kind) => {
                matches!(kind, RequestKind::Delete | RequestKind::Del)
            }
            _ => false,
        }
    }

    /// The same for all that differ so little that one of them makes the others less promising: how far a request has
    /// come, and, of two that belong together, what they ask.
    pub(super) fn kin(self) -> Self {
        match self {
            Self::Changing(_, kind) => Self::Changing(RequestStage::Sent, kind),
            Self::Looking(_, kind) => Self::Looking(RequestStage::Sent, kind),
            Self::Renewing(_, kind) => Self::Renewing(RequestStage::Sent, kind),
            Self::First(_, kind) if kind.writes() => {
                Self::First(RequestStage::Sent, RequestKind::Create)
            }
            Self::First(..) => Self::First(RequestStage::Sent, RequestKind::Exists),
            other => other,
        }
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestStage {
    Sent,
    Proposed,
    Committed,
    Answered,
}

/// What a trigger speaks of: the class of the moment, whose it is, and its `nth`.
pub(super) fn read(trigger: &Trigger) -> Option<(MomentClass, ContenderName, u32)> {
    Some(match *trigger {
        Trigger::Acquiring { by, nth } => (MomentClass::Acquiring, by, nth),
        Trigger::Queued { by, nth } => (MomentClass::Queued, by, nth),
        Trigger::Waiting { by, nth } => (MomentClass::Waiting, by, nth),
        Trigger::Acquired { by, nth } => (MomentClass::Acquired, by, nth),
        Trigger::Writing { by, nth } => (MomentClass::Writing, by, nth),
        Trigger::Releasing { by, nth } => (MomentClass::Releasing, by, nth),
        Trigger::Released { by, nth } => (MomentClass::Released, by, nth),
        Trigger::Sent {
            request, by, nth, ..
        } => (of_request(RequestStage::Sent, request), by, nth),
        Trigger::Proposed { request, by, nth } => {
            (of_request(RequestStage::Proposed, request), by, nth)
        }
        Trigger::Committed { request, by, nth } => {
            (of_request(RequestStage::Committed, request), by, nth)
        }
        Trigger::Answered {
            request, by, nth, ..
        }
        | Trigger::Received {
            request, by, nth, ..
        } => (of_request(RequestStage::Answered, request), by, nth),
        Trigger::Told { by, nth } => (MomentClass::Told, by, nth),
        Trigger::SessionExpired { by } => (MomentClass::Other, by, 1),
        Trigger::Disconnected { by, nth }
        | Trigger::Reconnected { by, nth }
        | Trigger::SessionLost { by, nth } => (MomentClass::Other, by, nth),
        // It comes at once after the answer, and too late for what an answer alone gives away.
        Trigger::Streamed { .. } => return None,
        Trigger::At(_)
        | Trigger::Applied { .. }
        | Trigger::Elected { .. }
        | Trigger::Fired { .. } => return None,
    })
}

fn of_request(stage: RequestStage, request: RequestKind) -> MomentClass {
    if request.writes() {
        MomentClass::Changing(stage, request)
    } else {
        MomentClass::Looking(stage, request)
    }
}
