//! Locks that contenders give back for others, by the names of their owners.

use std::collections::VecDeque;

use picklock_algorithms::LockError;
use picklock_checker::LockId;
use picklock_clients::completion::{Answer, Completion, completion};

/// A hold that one contender gives back for another.
pub(crate) struct RestoredLock {
    pub lock: LockId,
    /// The owner's name.
    pub owner: String,
    /// What comes of the release.
    pub released: Completion<Result<(), LockError>>,
}

/// What others have sent a contender to give back.
#[derive(Default)]
pub(crate) struct RestoredLocks {
    queue: VecDeque<RestoredLock>,
    more: Option<Completion<()>>,
}

impl RestoredLocks {
    /// Another has sent one.
    pub fn send(&mut self, lock: RestoredLock) {
        self.queue.push_back(lock);
        if let Some(more) = self.more.take() {
            more.complete(());
        }
    }

    /// The next one; or else what resolves when there may be one.
    pub fn next(&mut self) -> Result<RestoredLock, Answer<()>> {
        self.queue.pop_front().ok_or_else(|| {
            let (more, has_more) = completion();
            self.more = Some(more);
            has_more
        })
    }
}
