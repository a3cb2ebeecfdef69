//! Moments of the protocol that a fault can wait for, and what it makes of the message that is just being sent.

use picklock_clients::RequestKind;

use crate::network::RequestId;

/// Something that has just happened to a contender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The contender, by its index; moments of other clients are ignored.
    pub by: u32,
    /// What has happened.
    pub kind: MomentKind,
    /// The request that it is about, if it is about one.
    pub request: Option<RequestId>,
    /// Whether the answer to it is being sent.
    pub answers: bool,
}

impl Moment {
    /// Something that has happened to a contender, and is about no request.
    pub(crate) fn new(by: u32, kind: MomentKind) -> Self {
        Self {
            by,
            kind,
            request: None,
            answers: false,
        }
    }

    /// The same, about a request.
    pub(crate) fn about(self, request: RequestId) -> Self {
        Self {
            request: Some(request),
            ..self
        }
    }

    /// The same, about an answer that is being sent.
    pub(crate) fn about_answer(self, request: RequestId) -> Self {
        Self {
            request: Some(request),
            answers: true,
            ..self
        }
    }
}

/// What a fault can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MomentKind {
    Acquiring,
    Queued,
    Waiting,
    Acquired,
    Writing,
    Releasing,
    Released,
    Sent(RequestKind),
    Proposed(RequestKind),
    Committed(RequestKind),
    Answered(RequestKind),
    Received(RequestKind),
    Streamed(RequestKind),
    Told,
    SessionExpired,
    Disconnected,
    Reconnected,
    SessionLost,
}

impl MomentKind {
    /// The same, of the kind of request that scenarios mostly name.
    pub fn general(self) -> Self {
        match self {
            Self::Sent(kind) => Self::Sent(kind.general()),
            Self::Proposed(kind) => Self::Proposed(kind.general()),
            Self::Committed(kind) => Self::Committed(kind.general()),
            Self::Answered(kind) => Self::Answered(kind.general()),
            Self::Received(kind) => Self::Received(kind.general()),
            Self::Streamed(kind) => Self::Streamed(kind.general()),
            other => other,
        }
    }

    /// Whether the other is such an kind.
    pub fn covers(self, other: Self) -> bool {
        self == other || self == other.general()
    }
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageFate {
    /// It never comes, and its connection breaks.
    Lost,
    /// It never comes, and its connection stays.
    Swallowed,
    /// It comes so much later.
    Late(u64),
}
