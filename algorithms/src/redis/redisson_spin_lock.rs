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
//! - A try that is followed by a look at the time, and not at its answer, takes the lock for a caller that is told no
//!   ([`redisson_spin_lock_budget_first`](super::redisson_spin_lock_budget_first), scenario
//!   `redis/spin-lock-last-try`).
//! - Who waits asks eight times a second or more, and who has just come asks more often than who waits for long.

use std::time::Duration;

use async_trait::async_trait;

use super::leased::never;
use super::redisson::RedissonLock;
use super::redisson::scripts::{TryAcquire, UNLOCK, without_message};
use super::redisson::waits::Waits;
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-spin-lock",
    summary: "Redisson's RSpinLock: RLock's hash and watchdog, asked for with an exponential back-off.",
    source: "Redisson 4.x, RedissonSpinLock",
    requests: &[RequestKind::Script, RequestKind::Del],
    inputs: &[RecipeInput::WallClock, RecipeInput::TryAcquire],
    build: Build::Redis(&|redis, env, lease| Box::new(RedissonSpinLock::new(redis, env, lease))),
    ..super::redisson::RECIPE
};

/// `LockOptions.ExponentialBackOff`: `initialDelay`, `multiplier`, `maxDelay`.
const INITIAL_DELAY: Duration = Duration::from_millis(1);
const MULTIPLIER: u32 = 2;
const MAX_DELAY: Duration = Duration::from_millis(128);

pub(super) struct RedissonSpinLock {
    lock: RedissonLock,
    env: Env,
    /// Whether each try but the first is followed by a look at the time that is left, before its answer counts.
    pub looks_at_time_first: bool,
}

impl RedissonSpinLock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self::with_unlock(redis, env, lease, UNLOCK)
    }

    /// The same with another script of `RLock` for the release.
    pub fn with_unlock(redis: Redis, env: Env, lease: Lease, unlock: &str) -> Self {
        let lock = RedissonLock::new(redis, env.clone(), lease);
        let lock = lock.with_unlock(&without_message(unlock));
        Self {
            lock,
            env,
            looks_at_time_first: false,
        }
    }

    async fn lock(&mut self, waits: Waits) -> Result<Held, LockError> {
        let env = self.env.clone();
        let remaining = waits.begin(&env);
        let mut delay = INITIAL_DELAY;
        let mut is_first = true;
        loop {
            if let TryAcquire::Acquired(token) = self.lock.try_acquire(waits).await? {
                let held = self.lock.schedule_expiration_renewal(token); // Steps 1 and 3.
                if self.looks_at_time_first && !is_first {
                    remaining.left()?;
                }
                return Ok(held);
            }
            is_first = false;
            remaining.left()?;
            env.sleep(delay).await; // Step 2.
            delay = MAX_DELAY.min(delay * MULTIPLIER);
        }
    }
}

#[async_trait(?Send)]
impl Lock for RedissonSpinLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.lock(Waits::ForEver).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.lock(Waits::at_most(time)).await
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
            looks_at_time_first: self.looks_at_time_first,
        }))
    }
}
