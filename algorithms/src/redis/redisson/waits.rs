//! Steps 1 to 3: `lock`, which waits for ever, and `tryLock`, which does not.

use std::time::Duration;

use super::RedissonLock;
use super::scripts::TryAcquire;
use crate::clients::redis::Subscription;
use crate::redis::leased::Leased;
use crate::{Env, LockError, timeout};

/// How long a place in a queue is kept for a caller who waits for ever (`fairLockWaitTimeout`).
const FAIR_LOCK_WAIT_TIMEOUT: Duration = Duration::from_secs(300);

/// For how long a caller waits for the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// `lock()`
    ForEver,
    /// `tryLock(time, unit)`
    For(Duration),
    /// `tryLock()`
    NotAtAll,
}

/// The wall clock of the client in milliseconds, as an argument of a script (`System.currentTimeMillis`).
pub(super) fn now(env: &Env) -> String {
    env.wall().as_millis().to_string()
}

impl Waits {
    /// No longer than so long, in whole milliseconds: less than one is no time.
    pub fn at_most(time: Duration) -> Self {
        match time < Duration::from_millis(1) {
            true => Self::NotAtAll,
            false => Self::For(time),
        }
    }

    /// What a script of a queue is told: what time it is, and for how long its caller waits: in milliseconds,
    /// or, if that is taken for them, in whole seconds.
    pub(super) fn as_args(self, env: &Env, in_seconds: bool) -> [String; 2] {
        let wait = match self {
            Self::For(time) if in_seconds => time.as_secs().into(),
            _ => self.in_queue().as_millis(),
        };
        [now(env), wait.to_string()]
    }

    /// For how long a place in a queue is kept for such a caller.
    pub(super) fn in_queue(self) -> Duration {
        match self {
            Self::For(time) => time,
            Self::ForEver | Self::NotAtAll => FAIR_LOCK_WAIT_TIMEOUT,
        }
    }

    /// The caller begins to wait now.
    pub fn begin(self, env: &Env) -> Remaining<'_> {
        let until = match self {
            Self::ForEver => None,
            Self::For(time) => Some(env.wall() + time),
            Self::NotAtAll => Some(Duration::ZERO),
        };
        Remaining { env, until }
    }
}

/// How much longer a caller waits, by the wall clock.
pub struct Remaining<'a> {
    env: &'a Env,
    until: Option<Duration>,
}

impl Remaining<'_> {
    /// What is left, if it has an end.
    ///
    /// # Errors
    ///
    /// Nothing is.
    pub fn left(&self) -> Result<Option<Duration>, LockError> {
        let Some(until) = self.until else {
            return Ok(None);
        };
        match until.saturating_sub(self.env.wall()) {
            Duration::ZERO => Err(LockError::AcquireTimeout),
            left => Ok(Some(left)),
        }
    }
}

impl RedissonLock {
    /// Steps 1 to 3. Answers the number of the entry, if it has one.
    pub(super) async fn lock(&self, waits: Waits) -> Result<Option<u64>, LockError> {
        let entered = self.enter(waits).await;
        if entered.is_err() && waits != Waits::NotAtAll {
            self.acquire_failed(waits).await;
        }
        entered
    }

    async fn enter(&self, waits: Waits) -> Result<Option<u64>, LockError> {
        let channel = self.channel_to_wait_at();
        acquire_when_told(&self.leased, &channel, waits, async || {
            Ok(match self.try_acquire(waits).await? {
                TryAcquire::Ttl(left) => TryAcquire::Ttl(left.filter(|_| self.waits_for_ttl)),
                acquired => acquired,
            })
        })
        .await
    }
}

/// Tries, subscribes, and tries again after each message of the channel, or when what is left of a lease is over.
/// Answers the number of the entry, if it has one.
pub async fn acquire_when_told(
    leased: &Leased,
    channel: &str,
    waits: Waits,
    try_acquire: impl AsyncFn() -> Result<TryAcquire, LockError>,
) -> Result<Option<u64>, LockError> {
    let remaining = waits.begin(&leased.env);
    if let TryAcquire::Acquired(token) = try_acquire().await? {
        return Ok(token);
    }
    let subscription = subscribe(leased, channel, remaining.left()?).await?;
    loop {
        remaining.left()?;
        match try_acquire().await? {
            TryAcquire::Acquired(token) => return Ok(token),
            TryAcquire::Ttl(ttl) => {
                let limits = ttl.into_iter().chain(remaining.left()?);
                wait_for_message(&leased.env, &subscription, limits.min()).await;
            }
        }
    }
}

async fn subscribe(
    leased: &Leased,
    channel: &str,
    limit: Option<Duration>,
) -> Result<Subscription, LockError> {
    let subscribed = leased.redis.subscribe(channel);
    let Some(limit) = limit else {
        return Ok(subscribed.await?);
    };
    let subscribed = timeout(&leased.env, limit, subscribed).await;
    Ok(subscribed.ok_or(LockError::AcquireTimeout)??)
}

async fn wait_for_message(env: &Env, subscription: &Subscription, limit: Option<Duration>) {
    let told = async {
        subscription.next().await;
    };
    match limit {
        Some(limit) => {
            timeout(env, limit, told).await;
        }
        None => told.await,
    }
}
