//! `compare_and_delete`, except that the client does not look up what became of a `SET` that was not answered: it
//! counts it as granted or as refused, whatever the server has done.

use async_trait::async_trait;

use super::compare_and_delete::CompareAndDelete;
use crate::clients::redis::Redis;
use crate::{Env, Held, Lease, Lock, LockError};

/// What a `SET` that was not answered counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// As one that has taken the lock.
    Granted,
    /// As one that has not.
    Refused,
}

/// A lock whose caller does not look up what became of a `SET`.
pub(super) struct UnansweredSet {
    lock: CompareAndDelete,
    counts_as: Unanswered,
}

impl UnansweredSet {
    pub(super) fn new(redis: Redis, env: Env, lease: Lease, counts_as: Unanswered) -> Self {
        Self {
            lock: CompareAndDelete::new(redis, env, lease),
            counts_as,
        }
    }
}

#[async_trait(?Send)]
impl Lock for UnansweredSet {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let lock = &mut self.lock;
        loop {
            lock.token = lock.leased.env.guid();
            let asked = lock.leased.env.monotonic();
            let deadline = lock.leased.deadline(asked);
            let set = lock.leased.set_if_missing(&lock.token).await;
            if set.unwrap_or(self.counts_as == Unanswered::Granted)
                && let Some(held) = lock.leased.in_time(deadline, None, &mut None)
            {
                return Ok(held);
            }
            lock.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.lock.lost(held).await
    }
}
