//! Which contender overtakes which, as plainly as can be.

use picklock_checker::{ContenderId, EventKind, LockId, VirtualTime};

use super::Plain;

impl Plain<'_> {
    /// A request for a lock: a place, where the service keeps a queue of it, or else a call. Whose, and when it came.
    fn request(&self, index: usize) -> Option<(ContenderId, LockId, u64)> {
        let in_queue = |of| {
            self.events
                .iter()
                .any(|event| matches!(event.what, EventKind::Queued { lock, .. } if lock == of))
        };
        match self.what(index) {
            EventKind::Queued {
                by, lock, place, ..
            } => Some((by, lock, place)),
            EventKind::AcquireStarted { by, lock, .. } if !in_queue(lock) => {
                Some((by, lock, self.at(index).micros()))
            }
            _ => None,
        }
    }

    fn request_ends(&self, index: usize) -> Option<usize> {
        let (who, of, _) = self.request(index)?;
        if matches!(self.what(index), EventKind::Queued { .. }) {
            return self.gone(index);
        }
        self.first_after(index, |what| match what {
            EventKind::Acquired { by, lock, .. }
            | EventKind::AcquireFailed { by, lock, .. }
            | EventKind::Cancelled { by, lock } => (by, lock) == (who, of),
            EventKind::Crashed { by } => by == who,
            _ => false,
        })
    }

    fn granted_request(&self, owned: usize) -> Option<usize> {
        let EventKind::Owned { by, lock, .. } = self.what(owned) else {
            return None;
        };
        let queued = self.served(owned);
        queued.or_else(|| {
            let calls = |index| matches!(self.what(index), EventKind::AcquireStarted { .. });
            let own = |index| {
                self.request(index)
                    .is_some_and(|request| (request.0, request.1) == (by, lock))
            };
            (0..owned).find(|&index| calls(index) && own(index) && self.still_waits(index, owned))
        })
    }

    fn still_waits(&self, request: usize, at: usize) -> bool {
        let ended = self.request_ends(request).is_some_and(|end| end < at);
        let served = (request..at).any(|owned| self.granted_request(owned) == Some(request));
        request < at && self.request(request).is_some() && !ended && !served
    }

    /// Whether a grant overtakes a request that waits.
    fn overtakes(&self, owned: usize, waiting: usize) -> bool {
        let granted = self.granted_request(owned);
        let Some((served, winner)) = granted.and_then(|own| Some((own, self.request(own)?))) else {
            return false;
        };
        let goes_now = |gone: usize| self.at(gone) == self.at(owned);
        self.request(waiting).is_some_and(|(by, lock, came)| {
            by != winner.0
                && lock == winner.1
                && came < winner.2
                && self.exclude(waiting, served)
                && self.still_waits(waiting, owned)
                && !self.gone(waiting).is_some_and(goes_now)
        })
    }

    pub fn bypassed_more_than(&self, bound: usize) -> Option<VirtualTime> {
        let found = self.indices().find(|&now| {
            self.indices().any(|waiting| {
                let overtaking = (0..=now).filter(|&owned| self.overtakes(owned, waiting));
                overtaking.count() > bound
            })
        });
        found.map(|now| self.at(now))
    }
}
