//! Sweeps over stretches of time: which of those so far lasts longest, by lock and mode; and which are not over.

use crate::mode::ByMode;
use crate::{Evidence, LockId, Mode, VirtualTime};

/// The stretch that lasts longest so far, and until when, for each lock and mode.
pub(super) struct Latest<'a, T> {
    by_lock: Vec<ByMode<Longest<'a, T>>>,
}

type Longest<'a, T> = Option<(VirtualTime, &'a T)>;

impl<'a, T> Latest<'a, T> {
    pub(super) fn of(evidence: &Evidence<'_>) -> Self {
        let locks = evidence.run.history.locks.len().max(1);
        let by_lock = std::iter::repeat_with(ByMode::default)
            .take(locks)
            .collect();
        Self { by_lock }
    }

    /// The stretch that is not over at this time and excludes one in this mode. One that ends at this very time is
    /// over.
    pub(super) fn over(&self, lock: LockId, mode: Mode, at: VirtualTime) -> Option<&'a T> {
        let known = self.by_lock.get(lock.0 as usize)?;
        let excluding = known.excluding(mode).copied().flatten();
        let (until, longest) = excluding.max_by_key(|(until, _)| *until)?;
        (at < until).then_some(longest)
    }

    pub(super) fn extend(
        &mut self,
        (lock, mode): (LockId, Mode),
        until: VirtualTime,
        stretch: &'a T,
    ) {
        let index = lock.0 as usize;
        if index >= self.by_lock.len() {
            self.by_lock.resize_with(index + 1, ByMode::default);
        }
        let longest = self.by_lock[index].of_mut(mode);
        if longest.is_none_or(|(latest, _)| latest < until) {
            *longest = Some((until, stretch));
        }
    }
}

/// The stretches of each lock that are not over yet. So long as no more are than there are permits, they are few.
pub(super) struct OpenStretches<'a, T> {
    by_lock: Vec<Vec<(VirtualTime, &'a T)>>,
}

impl<T> Default for OpenStretches<'_, T> {
    fn default() -> Self {
        Self {
            by_lock: Vec::new(),
        }
    }
}

impl<'a, T> OpenStretches<'a, T> {
    /// The stretches that are not over at this time, in the order in which they began. Times come in order.
    pub(super) fn at(&mut self, lock: LockId, at: VirtualTime) -> Vec<&'a T> {
        let Some(open) = self.by_lock.get_mut(lock.0 as usize) else {
            return Vec::new();
        };
        open.retain(|(until, _)| at < *until);
        open.iter().map(|(_, stretch)| *stretch).collect()
    }

    pub(super) fn add(&mut self, lock: LockId, until: VirtualTime, stretch: &'a T) {
        let index = lock.0 as usize;
        if index >= self.by_lock.len() {
            self.by_lock.resize_with(index + 1, Vec::new);
        }
        self.by_lock[index].push((until, stretch));
    }
}
