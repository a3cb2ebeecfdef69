//! Why calls of a lock fail.

use thiserror::Error;

/// Why `acquire` or `release` failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LockError {
    /// The session is gone, and with it everything that was held in it.
    #[error("the session has expired")]
    SessionExpired,
    /// The connection broke. The request may or may not have taken effect.
    #[error("the connection was lost; the request may have taken effect")]
    ConnectionLoss,
    /// Our place in the queue has disappeared although our session lives.
    #[error("our place in the queue has disappeared")]
    PlaceLost,
    /// The connection is down, so we cannot know whether our session still lives.
    #[error("disconnected: the session may be gone")]
    Disconnected,
    /// The service refused the request; it has not taken effect.
    #[error("the service refused the request")]
    Refused,
    /// No answer came in time. The request may or may not have taken effect, or may still.
    #[error("no answer in time; the request may have taken effect")]
    TimedOut,
    /// The time for which we wanted to wait is over, and nothing is left of our request.
    #[error("the lock was not free for as long as we wanted to wait")]
    AcquireTimeout,
    /// We do not hold what we want to release.
    #[error("we do not hold the lock")]
    NotHeld,
    /// The lock object says that we hold it already.
    #[error("the lock object says that it is locked already")]
    AlreadyHeld,
    /// By our own clock, the lease has run out.
    #[error("the lease has run out")]
    LeaseLapsed,
    /// The call was cancelled, and nothing is left of our request.
    #[error("the call was cancelled")]
    Cancelled,
    /// We are asked to give the lock back. We still hold it.
    #[error("we are asked to give the lock back")]
    Revoked,
}

impl LockError {
    /// Whether nothing can have been left behind at the service.
    pub fn definite(self) -> bool {
        match self {
            Self::SessionExpired
            | Self::PlaceLost
            | Self::Refused
            | Self::AcquireTimeout
            | Self::NotHeld
            | Self::Cancelled => true,
            Self::ConnectionLoss
            | Self::Disconnected
            | Self::TimedOut
            | Self::AlreadyHeld
            | Self::LeaseLapsed
            | Self::Revoked => false,
        }
    }
}
