//! Redisson's `RSpinLock`: the hash and the watchdog of `RLock`, and no channel: it is asked for again and again.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonSpinLock`, `LockOptions.ExponentialBackOff`.
//!
//! # Steps
//!
//! 1. As step 1 of [`redisson`](super::redisson).
//! 2. If we did not get it, wait for a millisecond, for twice as long after each further attempt, up to 128 of them,
//!    and go to 1.
//! 3. While we hold it, the watchdog of `RLock` renews the lease.
//! 4. Release: as step 5 of `RLock`, with its latch, and without a message.
//!
//! # Guarantees
//!
//! - A message that is lost costs no contender a lease.
//!
//! # Hazards
//!
//! - Those of [`redisson`](super::redisson) that are not of messages (scenario `redis/pause`).
//! - Who waits asks eight times a second or more, and who has just come asks more often than who waits for long.

use std::time::Duration;

use async_trait::async_trait;

use super::leased::{REENTRANT_CLAIMS, never};
use super::redisson::{RedissonLock, TryAcquire};
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-spin-lock",
    summary: "Redisson's RSpinLock: RLock's hash and watchdog, asked for with an exponential back-off.",
    source: "Redisson 4.x, RedissonSpinLock",
    flaw: None,
    claims: REENTRANT_CLAIMS,
    ownership: OwnershipRule::Key,
    requests: REQUESTS,
    inputs: &[],
    cancellable: false,
    shareable: true,
    build: Build::Redis(&|redis, env, lease| Box::new(RedissonSpinLock::new(redis, env, lease))),
};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[RequestKind::Script, RequestKind::Del];

const UNLOCK: &str = "\
local done = redis.call('GET', KEYS[3])
if done ~= false then
  return tonumber(done)
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[3])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[3], 1, 'PX', ARGV[3])
return 1";

/// `LockOptions.ExponentialBackOff`: `initialDelay`, `multiplier`, `maxDelay`.
const INITIAL_DELAY: Duration = Duration::from_millis(1);
const MULTIPLIER: u32 = 2;
const MAX_DELAY: Duration = Duration::from_millis(128);

pub(super) struct RedissonSpinLock {
    lock: RedissonLock,
    env: Env,
}

impl RedissonSpinLock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        let lock = RedissonLock::new(redis, env.clone(), lease).with_unlock(UNLOCK);
        Self { lock, env }
    }

    /// The same with another script for the release.
    pub fn with_unlock(mut self, unlock: &str) -> Self {
        self.lock = self.lock.with_unlock(unlock);
        self
    }
}

#[async_trait(?Send)]
impl Lock for RedissonSpinLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut delay = INITIAL_DELAY;
        loop {
            if let TryAcquire::Acquired(token) = self.lock.try_acquire().await? {
                return Ok(self.lock.schedule_expiration_renewal(token)); // Steps 1 and 3.
            }
            self.env.sleep(delay).await; // Step 2.
            delay = MAX_DELAY.min(delay * MULTIPLIER);
        }
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        let lock = self.lock.of_thread(env);
        Some(Box::new(Self {
            lock,
            env: env.clone(),
        }))
    }
}
