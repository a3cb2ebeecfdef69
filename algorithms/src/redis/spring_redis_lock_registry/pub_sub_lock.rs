//! How a `RedisPubSubLock` waits: for the message of an unlock.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::clients::redis::{RedisError, RedisResult, Subscription};
use crate::redis::leased::Leased;
use crate::{Env, Lease, LockError, timeout};

/// Between a subscription for which there was no connection and the next one (`DEFAULT_RECOVERY_INTERVAL`).
const RECOVERY_INTERVAL: Duration = Duration::from_secs(5);

/// What becomes of a container whose start has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FailedStart {
    CountsAsStarted,
    IsUndone,
}

/// What a container that was started has subscribed to.
type Started = Option<Rc<Subscription>>;

/// The containers of a process that were started, by the key whose messages they receive.
#[derive(Default)]
struct Containers(RefCell<BTreeMap<Rc<str>, Started>>);

/// How a `RedisPubSubLock` waits.
pub struct PubSubLock {
    channel: String,
    containers: Rc<Containers>,
    failed_start: FailedStart,
}

impl PubSubLock {
    pub fn new(env: &Env, lease: &Lease, failed_start: FailedStart) -> Self {
        Self {
            channel: format!("registry-channel:{}", lease.key),
            containers: env.process_wide(Containers::default),
            failed_start,
        }
    }

    /// What an unlock publishes to.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Step 2: whether the lock was obtained, within so long if that is given.
    pub async fn subscribe_lock(
        &self,
        leased: &Leased,
        time: Option<Duration>,
        obtain: impl AsyncFn() -> Result<bool, LockError>,
    ) -> Result<bool, LockError> {
        let (env, lease) = (&leased.env, &leased.lease);
        let expired_time = time.map(|time| env.monotonic() + time);
        if obtain().await? {
            return Ok(true);
        }
        let subscription = self.run_container(leased).await?;
        while expired_time.is_none_or(|expired_time| expired_time >= env.monotonic()) {
            if let Some(subscription) = &subscription {
                subscription.clear();
            }
            if obtain().await? {
                return Ok(true);
            }
            let wait_time = time.unwrap_or(lease.time);
            match &subscription {
                Some(subscription) => drop(timeout(env, wait_time, subscription.next()).await),
                None => env.sleep(wait_time).await,
            }
            if obtain().await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `runRedisMessageListenerContainer`
    async fn run_container(&self, leased: &Leased) -> Result<Started, LockError> {
        let key = &leased.lease.key;
        if let Some(started) = self.containers.0.borrow().get(key) {
            return Ok(started.clone());
        }
        self.containers.0.borrow_mut().insert(key.clone(), None);
        let started = self.start(leased).await;
        let mut containers = self.containers.0.borrow_mut();
        match started {
            Ok(subscription) => {
                let subscription = Some(Rc::new(subscription));
                containers.insert(key.clone(), subscription.clone());
                Ok(subscription)
            }
            Err(error) => {
                if self.failed_start == FailedStart::IsUndone {
                    containers.remove(key);
                }
                Err(error.into())
            }
        }
    }

    /// `RedisMessageListenerContainer.start`
    async fn start(&self, leased: &Leased) -> RedisResult<Subscription> {
        loop {
            match leased.redis.subscribe(&self.channel).await {
                Err(RedisError::NotConnected | RedisError::ConnectionLoss) => {
                    leased.env.sleep(RECOVERY_INTERVAL).await;
                }
                answer => return answer,
            }
        }
    }
}
