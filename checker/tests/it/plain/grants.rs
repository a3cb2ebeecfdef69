//! Which grant of the service a belief rests on.

use super::*;

impl Plain<'_> {
    /// The grant behind a belief: the contender's latest, which must not have ended before the
    /// call, and if it ended before the answer must not be behind an earlier belief as well.
    pub(super) fn grant(&self, acquired: usize) -> Option<usize> {
        let belief = self.belief(acquired)?;
        let grant = self.last_before(
            acquired,
            |what| matches!(what, EventKind::Owned { by, lock, .. } if (by, lock) == belief),
        )?;
        let over = self.ownership_ends(grant).filter(|&end| end < acquired);
        let Some(over) = over else {
            return Some(grant);
        };
        let asked = self.asked(acquired, belief.0, belief.1);
        let since = self
            .stood_since(acquired, belief)
            .filter(|stood| *stood < grant);
        let in_time = since.or(asked).is_none_or(|since| since < over);
        let taken = (grant..acquired).any(|other| self.grant(other) == Some(grant));
        (in_time && !taken).then_some(grant)
    }

    /// Where it learned its loss, if no call has come back since, and nothing was released: it stays a candidate.
    fn stood_since(&self, acquired: usize, of: (ContenderId, LockId)) -> Option<usize> {
        let last = self.last_before(acquired, |what| match what {
            EventKind::Lost { by, lock, .. }
            | EventKind::Released { by, lock }
            | EventKind::Acquired { by, lock, .. }
            | EventKind::AcquireFailed { by, lock, .. }
            | EventKind::Cancelled { by, lock } => (by, lock) == of,
            EventKind::Crashed { by } => by == of.0,
            _ => false,
        })?;
        matches!(self.what(last), EventKind::Lost { .. }).then_some(last)
    }
}
