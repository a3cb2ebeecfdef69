//! Which moments of a run are alike to a recipe.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{ContenderName, Trigger};

/// Moments that are alike: at which it makes no difference to a recipe who it is, or for the how manieth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
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
    Changing(Stage, RequestKind),
    /// A request that only looks.
    Looking(Stage, RequestKind),
    /// A server sends it a message of a channel.
    Told,
    /// The first of two requests that belong together: a change follows that was decided on before.
    First(Stage, RequestKind),
    /// Another gives the lock back, and it is the one who has it next.
    Succeeding,
    /// A holder asks again for what it has, so as to keep it.
    Renewing(Stage, RequestKind),
    /// A session has ended already, or the moment is no moment of the protocol.
    Other,
}

impl Class {
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
            Self::Changing(_, kind) => Self::Changing(Stage::Sent, kind),
            Self::Looking(_, kind) => Self::Looking(Stage::Sent, kind),
            Self::Renewing(_, kind) => Self::Renewing(Stage::Sent, kind),
            Self::First(_, kind) if kind.writes() => Self::First(Stage::Sent, RequestKind::Create),
            Self::First(..) => Self::First(Stage::Sent, RequestKind::Exists),
            other => other,
        }
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
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
        Trigger::Sent { request, by, nth } => (of_request(Stage::Sent, request), by, nth),
        Trigger::Proposed { request, by, nth } => (of_request(Stage::Proposed, request), by, nth),
        Trigger::Committed { request, by, nth } => (of_request(Stage::Committed, request), by, nth),
        Trigger::Answered { request, by, nth } => (of_request(Stage::Answered, request), by, nth),
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

fn of_request(stage: Stage, request: RequestKind) -> Class {
    if request.writes() {
        Class::Changing(stage, request)
    } else {
        Class::Looking(stage, request)
    }
}
