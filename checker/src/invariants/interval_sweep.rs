//! A sweep over stretches of time: which of those so far lasts longest, by lock and mode.

use crate::{Evidence, LockId, Mode, VirtualTime};

/// The stretch that lasts longest so far, for each lock.
pub(super) struct Latest<'a, T> {
    by_lock: Vec<Longest<'a, T>>,
}

/// The stretch of each mode that lasts longest, and until when.
struct Longest<'a, T> {
    exclusive: Option<(VirtualTime, &'a T)>,
    shared: Option<(VirtualTime, &'a T)>,
}

impl<T> Default for Longest<'_, T> {
    fn default() -> Self {
        Self {
            exclusive: None,
            shared: None,
        }
    }
}

impl<'a, T> Latest<'a, T> {
    pub(super) fn of(evidence: &Evidence<'_>) -> Self {
        let locks = evidence.run.history.locks.len().max(1);
        let by_lock = std::iter::repeat_with(Longest::default)
            .take(locks)
            .collect();
        Self { by_lock }
    }

    /// The stretch that is not over at this time and excludes one in this mode. One that ends at this very time is
    /// over.
    pub(super) fn over(&self, lock: LockId, mode: Mode, at: VirtualTime) -> Option<&'a T> {
        let known = self.by_lock.get(lock.0 as usize)?;
        let shared = known.shared.filter(|_| mode.is_exclusive());
        let excluding = known.exclusive.into_iter().chain(shared);
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
            self.by_lock.resize_with(index + 1, Longest::default);
        }
        let longest = match mode {
            Mode::Exclusive => &mut self.by_lock[index].exclusive,
            Mode::Shared => &mut self.by_lock[index].shared,
        };
        if longest.is_none_or(|(latest, _)| latest < until) {
            *longest = Some((until, stretch));
        }
    }
}
