//! What an event is about: a lock, a contender.

use super::{ContenderId, EventKind, LockId};

impl EventKind {
    /// The lock that the event is about, if it is about one.
    pub fn lock(&self) -> Option<LockId> {
        match *self {
            EventKind::AcquireStarted { lock, .. }
            | EventKind::Acquired { lock, .. }
            | EventKind::AcquireFailed { lock, .. }
            | EventKind::Reentry { lock, .. }
            | EventKind::Conversion { lock, .. }
            | EventKind::ReleaseStarted { lock, .. }
            | EventKind::Released { lock, .. }
            | EventKind::ReleaseFailed { lock, .. }
            | EventKind::Lost { lock, .. }
            | EventKind::Revoked { lock, .. }
            | EventKind::Cancelled { lock, .. }
            | EventKind::ReleaseCancelled { lock, .. }
            | EventKind::CouldHaveKnown { lock, .. }
            | EventKind::Queued { lock, .. }
            | EventKind::Unqueued { lock, .. }
            | EventKind::Owned { lock, .. }
            | EventKind::Disowned { lock, .. }
            | EventKind::Answered { lock, .. }
            | EventKind::Writing { lock, .. }
            | EventKind::Read { lock, .. }
            | EventKind::Effect { lock, .. }
            | EventKind::Written { lock, .. }
            | EventKind::StillWaiting { lock, .. }
            | EventKind::Leftover { lock, .. }
            | EventKind::Final { lock, .. } => Some(lock),
            EventKind::Finished { .. }
            | EventKind::Paused { .. }
            | EventKind::Resumed { .. }
            | EventKind::Crashed { .. }
            | EventKind::Restarted { .. }
            | EventKind::Disconnected { .. }
            | EventKind::Reconnected { .. }
            | EventKind::ConnectedReadOnly { .. }
            | EventKind::SessionLost { .. }
            | EventKind::Resent { .. }
            | EventKind::SessionExpired { .. }
            | EventKind::ServerChanged { .. }
            | EventKind::FaultFired { .. }
            | EventKind::FaultHealed { .. }
            | EventKind::CalmBegan
            | EventKind::Ended { .. } => None,
        }
    }

    /// The contender that the event is about, if it is about one.
    pub fn by(&self) -> Option<ContenderId> {
        match *self {
            EventKind::AcquireStarted { by, .. }
            | EventKind::Acquired { by, .. }
            | EventKind::AcquireFailed { by, .. }
            | EventKind::Reentry { by, .. }
            | EventKind::Conversion { by, .. }
            | EventKind::ReleaseStarted { by, .. }
            | EventKind::Released { by, .. }
            | EventKind::ReleaseFailed { by, .. }
            | EventKind::Lost { by, .. }
            | EventKind::Revoked { by, .. }
            | EventKind::Cancelled { by, .. }
            | EventKind::ReleaseCancelled { by, .. }
            | EventKind::Finished { by }
            | EventKind::Paused { by }
            | EventKind::Resumed { by }
            | EventKind::Crashed { by }
            | EventKind::Restarted { by }
            | EventKind::Disconnected { by }
            | EventKind::Reconnected { by }
            | EventKind::ConnectedReadOnly { by }
            | EventKind::SessionLost { by }
            | EventKind::Resent { by }
            | EventKind::CouldHaveKnown { by, .. }
            | EventKind::Queued { by, .. }
            | EventKind::Unqueued { by, .. }
            | EventKind::Owned { by, .. }
            | EventKind::Disowned { by, .. }
            | EventKind::Answered { by, .. }
            | EventKind::SessionExpired { by }
            | EventKind::Writing { by, .. }
            | EventKind::Read { by, .. }
            | EventKind::Effect { by, .. }
            | EventKind::Written { by, .. }
            | EventKind::StillWaiting { by, .. } => Some(by),
            EventKind::ServerChanged { .. }
            | EventKind::FaultFired { .. }
            | EventKind::FaultHealed { .. }
            | EventKind::CalmBegan
            | EventKind::Ended { .. }
            | EventKind::Leftover { .. }
            | EventKind::Final { .. } => None,
        }
    }
}
