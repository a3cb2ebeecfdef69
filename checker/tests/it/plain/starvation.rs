//! Which contender asks in vain while others are let in, as plainly as can be.

use picklock_checker::{ContenderId, EventKind, LockId, Mode, VirtualTime};

use super::Plain;

impl Plain<'_> {
    /// The mode of the latest call of one that asks at this event, and since when what it sees counts.
    fn asks(&self, at: usize, who: ContenderId, of: LockId) -> Option<(Mode, usize)> {
        let ended = self.last_before(at, |what| match what {
            EventKind::Acquired { by, lock, .. } | EventKind::Cancelled { by, lock } => {
                (by, lock) == (who, of)
            }
            EventKind::Crashed { by } | EventKind::Finished { by } => by == who,
            _ => false,
        });
        let calls = |what| matches!(what, EventKind::AcquireStarted { by, lock, .. } if (by, lock) == (who, of));
        let from = ended.map_or(0, |ended| ended + 1);
        let first = (from..at).find(|&index| calls(self.what(index)))?;
        let mode = self.mode(self.last_before(at, calls)?);
        let kept = self.last_before(at, |what| match what {
            EventKind::Paused { by }
            | EventKind::Resumed { by }
            | EventKind::Disconnected { by }
            | EventKind::Reconnected { by }
            | EventKind::SessionLost { by }
            | EventKind::SessionExpired { by } => by == who,
            _ => false,
        });
        Some((mode, kept.map_or(first, |kept| kept.max(first))))
    }

    /// Whether it stands still, or has no connection.
    fn is_kept(&self, at: usize, who: ContenderId) -> bool {
        let paused = self.last_before(at, |what| match what {
            EventKind::Paused { by }
            | EventKind::Resumed { by }
            | EventKind::Crashed { by }
            | EventKind::Finished { by } => by == who,
            _ => false,
        });
        let cut = self.last_before(at, |what| match what {
            EventKind::Disconnected { by }
            | EventKind::Reconnected { by }
            | EventKind::SessionLost { by }
            | EventKind::Crashed { by }
            | EventKind::Finished { by } => by == who,
            _ => false,
        });
        paused.is_some_and(|last| matches!(self.what(last), EventKind::Paused { .. }))
            || cut.is_some_and(|last| matches!(self.what(last), EventKind::Disconnected { .. }))
    }

    /// Whether one that asks sees another let in that excludes it.
    fn sees_let_in(&self, entry: usize, who: ContenderId, of: LockId) -> bool {
        let EventKind::Acquired { by, lock, mode, .. } = self.what(entry) else {
            return false;
        };
        let asks = self.asks(entry, who, of);
        by != who
            && lock == of
            && asks.is_some_and(|(wants, _)| wants.excludes(mode))
            && !self.is_kept(entry, who)
    }

    pub fn let_in_more_often_than(&self, bound: usize) -> Option<VirtualTime> {
        let found = self.indices().find(|&now| {
            let EventKind::Acquired { by, lock, .. } = self.what(now) else {
                return false;
            };
            (0..3).map(ContenderId).filter(|who| *who != by).any(|who| {
                self.asks(now, who, lock).is_some_and(|(_, since)| {
                    let seen = (since..=now).filter(|&entry| self.sees_let_in(entry, who, lock));
                    seen.count() > bound
                })
            })
        });
        found.map(|now| self.at(now))
    }
}
