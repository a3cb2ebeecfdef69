//! Calls that acquire several locks: their `AcquireStarted`s stand together, and the first that ends, ends all.

use super::{Evidence, Ownership};
use crate::{ContenderId, EventKind, LockId};

/// A call that acquires several locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MultiCall {
    pub(crate) by: ContenderId,
    /// The locks, and the `AcquireStarted` of each.
    pub(crate) locks: Vec<(LockId, usize)>,
    /// What the history says when it has returned or was dropped, in the order in which it says so; the `Crashed`, if
    /// the contender died first. Nothing of a call that was pending when the history ends.
    pub(crate) ends: Vec<usize>,
    /// How many of its locks have no end yet.
    open: usize,
}

impl MultiCall {
    /// One that begins with this lock.
    fn of(by: ContenderId, lock: LockId, asked: usize) -> Self {
        Self {
            by,
            locks: vec![(lock, asked)],
            ends: Vec::new(),
            open: 1,
        }
    }

    /// When it asked for a lock.
    pub(crate) fn asked(&self, lock: LockId) -> Option<usize> {
        let found = self.locks.iter().find(|(of, _)| *of == lock);
        found.map(|(_, asked)| *asked)
    }

    fn ends(&mut self, lock: LockId, index: usize) {
        if self.open > 0 && self.asked(lock).is_some() {
            self.ends.push(index);
            self.open -= 1;
        }
    }
}

/// All calls so far, and by contender the place of its latest.
struct Calls {
    all: Vec<MultiCall>,
    latest: Vec<Option<usize>>,
}

impl Calls {
    fn of(contenders: usize) -> Self {
        Self {
            all: Vec::new(),
            latest: vec![None; contenders],
        }
    }

    fn latest(&mut self, by: ContenderId) -> Option<&mut MultiCall> {
        let latest = self.latest.get(by.0 as usize).copied().flatten();
        self.all.get_mut(latest?)
    }

    /// A contender asks for a lock: by the call that asks for others already, if none of it has ended.
    fn asks(&mut self, by: ContenderId, lock: LockId, index: usize) {
        let pending = |call: &&mut MultiCall| call.open > 0 && call.ends.is_empty();
        let call = self.latest(by).filter(pending);
        if let Some(call) = call.filter(|call| call.asked(lock).is_none()) {
            call.locks.push((lock, index));
            call.open += 1;
        } else if let Some(latest) = self.latest.get_mut(by.0 as usize) {
            *latest = Some(self.all.len());
            self.all.push(MultiCall::of(by, lock, index));
        }
    }
}

impl Evidence<'_> {
    /// The calls that acquire several locks, in the order in which they begin.
    pub(crate) fn multi_calls(&self) -> Vec<MultiCall> {
        if self.run.history.locks.len() < 2 {
            return Vec::new();
        }
        let mut calls = Calls::of(self.run.history.contenders.len());
        for (index, event) in self.run.history.events.iter().enumerate() {
            match event.what {
                EventKind::AcquireStarted { by, lock, .. } => calls.asks(by, lock, index),
                EventKind::Acquired { by, lock, .. }
                | EventKind::AcquireFailed { by, lock, .. }
                | EventKind::Cancelled { by, lock } => {
                    if let Some(call) = calls.latest(by) {
                        call.ends(lock, index);
                    }
                }
                EventKind::Crashed { by } => {
                    if let Some(call) = calls.latest(by).filter(|call| call.open > 0) {
                        call.ends.push(index);
                        call.open = 0;
                    }
                }
                _ => {}
            }
        }
        calls.all.retain(|call| call.locks.len() > 1);
        calls.all
    }

    /// From which event on the service has the caller as the owner of all locks of a call at once, before this one, if
    /// it ever does.
    pub(crate) fn owns_all_from(&self, call: &MultiCall, before: Option<usize>) -> Option<usize> {
        let of_call = |own: &&Ownership| own.by == call.by && call.asked(own.lock).is_some();
        let begin = call.locks.iter().map(|(_, asked)| *asked).max()?;
        let before = before.unwrap_or(self.run.history.events.len());
        let ownerships = self.ownerships.iter().filter(of_call);
        let mut moments: Vec<usize> = ownerships.map(|own| own.owned.max(begin)).collect();
        moments.sort_unstable();
        let owned_at = |lock: LockId, moment: usize| {
            let mut ownerships = self.ownerships.iter();
            ownerships.any(|own| {
                (own.by, own.lock) == (call.by, lock)
                    && own.owned <= moment
                    && own.disowned.is_none_or(|end| end > moment)
            })
        };
        let mut moments = moments.into_iter().filter(|moment| *moment < before);
        moments.find(|moment| call.locks.iter().all(|(lock, _)| owned_at(*lock, *moment)))
    }
}
