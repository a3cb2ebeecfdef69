//! What most recipes over Redis have in common: a key with a token of our own, a deadline, and waiting by asking again.

use std::cell::Cell;
use std::future::pending;
use std::time::Duration;

use crate::clients::redis::{Redis, RedisError, RedisResult};
use crate::clients::select;
use crate::lock::BASIC_CLAIMS;
use crate::{Claim, Env, Held, Lease, LockError};

/// What locks by a lease promise: no order, and no token.
pub const CLAIMS: &[Claim] = BASIC_CLAIMS;

/// What such a lock promises that counts for each thread how often it has entered.
pub const REENTRANT_CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Reentrancy,
    Claim::HonestAnswer,
];

/// A handle, the environment of the process, and the key.
pub struct Leased {
    /// The handle.
    pub redis: Redis,
    /// The environment of the process.
    pub env: Env,
    /// The key, and for how long it is held.
    pub lease: Lease,
}

/// Between two attempts pass this much, and a random part of as much again, so that clients do not keep step.
const PAUSE: Duration = Duration::from_millis(20);

/// Clocks may differ in their pace by one in a hundred, and keys expire by the millisecond.
pub fn drift(lease: Duration) -> Duration {
    lease / 100 + Duration::from_millis(2)
}

impl Leased {
    /// Waits before the next attempt.
    pub async fn pause(&self) {
        self.pause_at_random(PAUSE).await;
    }

    /// Waits before the next attempt, with a random part of so much.
    pub async fn pause_at_random(&self, part: Duration) {
        let most = u64::try_from(part.max(PAUSE).as_micros()).unwrap_or(u64::MAX);
        let more = Duration::from_micros(self.env.random() % most);
        self.env.sleep(PAUSE + more).await;
    }

    /// `SET key token NX PX lease`
    pub fn set_if_missing(&self, token: &str) -> impl Future<Output = RedisResult<bool>> {
        let Lease { key, time } = &self.lease;
        self.redis.set_if_missing(key, token, *time)
    }

    /// The hold, if its lease is not over. What the service has given too late to be believed may still be there by its
    /// clock, so that the call must not fail for certain any more.
    pub fn in_time(
        &self,
        deadline: Duration,
        token: Option<u64>,
        unanswered: &mut Option<RedisError>,
    ) -> Option<Held> {
        let held = || self.held(token).until(deadline);
        self.is_in_time(deadline, unanswered).then(held)
    }

    /// The same of a hold whose deadline is kept elsewhere: whether its lease is not over.
    pub fn is_in_time(&self, deadline: Duration, unanswered: &mut Option<RedisError>) -> bool {
        let is_in_time = self.env.monotonic() < deadline;
        if !is_in_time {
            *unanswered = Some(RedisError::TimedOut);
        }
        is_in_time
    }

    /// When a lease that was asked for at `asked` is over for certain, by our own monotonic clock: the server has
    /// begun to count later than that.
    pub fn deadline(&self, asked: Duration) -> Duration {
        (asked + self.lease.time).saturating_sub(drift(self.lease.time))
    }

    /// Resolves when the hold is valid no longer: never, if nothing says until when it is.
    pub async fn lapsed(&self, held: &Held) -> LockError {
        let Some(deadline) = held.valid_until else {
            return never().await;
        };
        let left = deadline.saturating_sub(self.env.monotonic());
        self.env.sleep(left).await;
        LockError::LeaseLapsed
    }

    /// Resolves when a deadline that extensions move has passed by our own monotonic clock.
    pub async fn lapses(&self, deadline: &Cell<Duration>) -> LockError {
        while deadline.get() > self.env.monotonic() {
            let left = deadline.get().saturating_sub(self.env.monotonic());
            self.env.sleep(left).await;
        }
        LockError::LeaseLapsed
    }

    /// Extends the hold every third of its lease, and moves its deadline each time that the service says yes. Resolves
    /// when the service says no, or when the deadline has passed. After no answer, it asks again at the next third.
    pub async fn extended(
        &self,
        deadline: &Cell<Duration>,
        extend: impl AsyncFn() -> RedisResult<bool>,
    ) -> LockError {
        let refused = async {
            loop {
                self.env.sleep(self.lease.time / 3).await;
                let asked = self.env.monotonic();
                match extend().await {
                    Ok(true) => deadline.set(self.deadline(asked)),
                    Ok(false) => return LockError::PlaceLost,
                    Err(_) => {}
                }
            }
        };
        select(self.lapses(deadline), refused).await
    }

    /// Releases by a request that says whether it has deleted the key, and asks again until an answer comes.
    ///
    /// # Errors
    ///
    /// What the service refuses at first; the key is not ours.
    pub async fn released(
        &self,
        delete: impl AsyncFn() -> RedisResult<bool>,
    ) -> Result<(), LockError> {
        let mut asked_before = false;
        loop {
            match delete().await {
                Ok(true) => return Ok(()),
                // An earlier request of this release may have deleted it.
                Ok(false) if asked_before => return Ok(()),
                Ok(false) => return Err(LockError::PlaceLost),
                Err(error) if error.definite() && !asked_before => return Err(error.into()),
                Err(_) => {}
            }
            asked_before = true;
            self.pause().await;
        }
    }

    /// Proof that we hold the key.
    pub fn held(&self, token: Option<u64>) -> Held {
        Held {
            token,
            ..Held::at(self.lease.key.clone())
        }
    }
}

/// The loss of a lock whose recipe never checks: it is never reported.
pub async fn never() -> LockError {
    pending().await
}

/// Asks again until an answer comes. A call of which a request has gone unanswered must not fail for certain, for that
/// request may be executed yet, whatever the service says meanwhile: then `unanswered` is how it fails.
///
/// # Errors
///
/// What the service refuses; what went unanswered before, if anything did.
pub async fn until_answered<T>(
    leased: &Leased,
    unanswered: &mut Option<RedisError>,
    ask: impl AsyncFn() -> RedisResult<T>,
) -> RedisResult<T> {
    loop {
        match ask().await {
            Err(RedisError::NotConnected) => {}
            Err(error @ (RedisError::ConnectionLoss | RedisError::TimedOut)) => {
                *unanswered = Some(error);
            }
            Err(refused) => return Err(unanswered.take().unwrap_or(refused)),
            answer => return answer,
        }
        leased.pause().await;
    }
}
