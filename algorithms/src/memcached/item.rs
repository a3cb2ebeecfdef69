//! What recipes over memcached have in common: the item of the lock, a deadline, and waiting by asking again.

use std::time::Duration;

use super::{is_definite, seen};
use crate::clients::memcached::{Memcached, MemcachedError, MemcachedResult};
use crate::{Env, Held, Lease, LockError};

/// Between two attempts pass this much, and a random part of as much again, so that no contender keeps step with
/// another.
const PAUSE: Duration = Duration::from_millis(50);

/// The item of a lock.
pub(super) struct Item {
    pub client: Memcached,
    pub env: Env,
    pub lease: Lease,
    /// What tells this acquisition from others.
    pub token: String,
}

impl Item {
    pub fn new(client: Memcached, env: Env, lease: Lease) -> Self {
        Self {
            client,
            env,
            lease,
            token: String::new(),
        }
    }

    /// The lease in whole seconds, as memcached has it.
    pub fn exptime(&self) -> i64 {
        i64::try_from(self.lease.time.as_secs()).unwrap_or(i64::MAX)
    }

    /// Waits before the next attempt.
    pub async fn pause(&self) {
        let most = PAUSE.as_micros() as u64;
        let more = Duration::from_micros(self.env.random() % most);
        self.env.sleep(PAUSE + more).await;
    }

    /// Asks until there is an answer. What has been asked before may be done yet, if it had none.
    pub async fn until_answered<T>(
        &self,
        unanswered: &mut Option<MemcachedError>,
        ask: impl AsyncFn() -> MemcachedResult<T>,
    ) -> Result<T, LockError> {
        loop {
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(MemcachedError::Refused) => return Err(LockError::Refused),
                Err(error) if !is_definite(error) => *unanswered = Some(error),
                Err(_) => {}
            }
            self.pause().await;
        }
    }

    /// Takes the lock by a command that stores our token if there is none. If it has no answer, looks whose token is
    /// there.
    pub async fn takes(
        &self,
        store: impl AsyncFn() -> MemcachedResult<bool>,
        look: impl AsyncFn() -> MemcachedResult<bool>,
        unanswered: &mut Option<MemcachedError>,
    ) -> Result<bool, LockError> {
        match store().await {
            Ok(stored) => Ok(stored),
            Err(error) if !is_definite(error) => {
                *unanswered = Some(error);
                self.until_answered(unanswered, look).await
            }
            // An earlier command may be done yet.
            Err(refused) => Err(seen(unanswered.unwrap_or(refused))),
        }
    }

    /// Whether the item has our token.
    pub async fn is_ours(&self) -> MemcachedResult<bool> {
        let value = self.client.get(&self.lease.key).await?;
        Ok(value.as_deref() == Some(&*self.token))
    }

    /// Proof that we hold the lock.
    pub fn held(&self) -> Held {
        Held::at(self.lease.key.clone())
    }

    /// Resolves when the hold is valid no longer.
    pub async fn lapsed(&self, held: &Held) -> LockError {
        let until = held.valid_until.unwrap_or_default();
        let left = until.saturating_sub(self.env.monotonic());
        self.env.sleep(left).await;
        LockError::LeaseLapsed
    }
}

/// What a release comes to that has done its part, or has found that there is nothing of ours: it may have been done
/// by a command that had no answer.
pub(super) fn released(done: bool, unanswered: Option<MemcachedError>) -> Result<(), LockError> {
    match done || unanswered.is_some() {
        true => Ok(()),
        false => Err(LockError::PlaceLost),
    }
}
