//! Which contenders still wait at the end of a run, and for what.

use crate::{ContenderId, EventKind, Evidence, LockId, NameId};

/// A contender that still waits at the end, and for what.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub event: usize,
    pub by: ContenderId,
    pub lock: LockId,
    pub behind: Option<NameId>,
    pub owner: Option<ContenderId>,
}

impl Wait {
    /// Reads an event of that kind.
    ///
    /// A service without a queue does not say for which contender another waits: for the owner, if there is one.
    pub fn read(evidence: &Evidence<'_>, event: usize) -> Option<Self> {
        let EventKind::StillWaiting {
            by,
            lock,
            behind,
            owner,
        } = evidence.event(event).what
        else {
            return None;
        };
        let names_none = behind.is_none() && owner.is_none() && evidence.permits() == 1;
        let mut ownerships = evidence.ownerships.iter().rev();
        let owned = ownerships.find(|own| names_none && own.lock == lock && own.disowned.is_none());
        Some(Self {
            event,
            by,
            lock,
            behind: owned.map_or(behind, |owned| Some(owned.name)),
            owner: owned.map_or(owner, |owned| Some(owned.by)),
        })
    }
}

/// Whether the service keeps a queue of waiters.
pub(super) fn has_queue(evidence: &Evidence<'_>) -> bool {
    let mut queueing = evidence.queueing.iter();
    queueing.any(|&event| matches!(evidence.event(event).what, EventKind::Queued { .. }))
}
