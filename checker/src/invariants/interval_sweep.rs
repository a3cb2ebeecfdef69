//! A sweep over stretches of time: which of those so far lasts longest, by lock.

use crate::{Evidence, LockId, VirtualTime};

/// The stretch that lasts longest so far, for each lock.
pub(super) struct Latest<'a, T> {
    by_lock: Vec<Option<(VirtualTime, &'a T)>>,
}

impl<'a, T> Latest<'a, T> {
    pub(super) fn of(evidence: &Evidence<'_>) -> Self {
        let locks = evidence.run.history.locks.len().max(1);
        let by_lock = std::iter::repeat_with(|| None).take(locks).collect();
        Self { by_lock }
    }

    /// The stretch that is not over at this time. One that ends at this very time is.
    pub(super) fn over(&self, lock: LockId, at: VirtualTime) -> Option<&'a T> {
        let (until, longest) = (*self.by_lock.get(lock.0 as usize)?)?;
        (at < until).then_some(longest)
    }

    pub(super) fn extend(&mut self, lock: LockId, until: VirtualTime, stretch: &'a T) {
        let index = lock.0 as usize;
        if index >= self.by_lock.len() {
            self.by_lock.resize(index + 1, None);
        }
        let longest = &mut self.by_lock[index];
        if longest.is_none_or(|(latest, _)| latest < until) {
            *longest = Some((until, stretch));
        }
    }
}
