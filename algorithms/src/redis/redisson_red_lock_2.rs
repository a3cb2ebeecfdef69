//! Redisson's first `RedissonRedLock`: `RLock`s on a majority of several servers, all asked at the same time.
//!
//! # Source
//!
//! Redisson 2.2.18, `RedissonRedLock.tryLock()`. The lease is 30 s if the caller asks for none.
//!
//! # Steps
//!
//! 1. At the same time, a script on each server: if the key is missing, or has our field, count one up, set the lease,
//!    and answer nothing; otherwise answer what is left of the lease. Each lock that is acquired has a watchdog.
//! 2. More than half of the locks are acquired: we hold the lock.
//! 3. Otherwise unlock those that were acquired, as in step 4, and give up. The caller tries again by itself.
//! 4. Release: a script on each server: if our field is missing, nothing; count one down; at zero delete the key and
//!    publish.
//!
//! # Guarantees
//!
//! - A call that fails takes nothing from another contender.
//!
//! # Hazards
//!
//! - Those of [`redisson_red_lock`](super::redisson_red_lock) that are not of asking one server after the other.
//! - [`redisson_red_lock_2_force_unlock`](super::redisson_red_lock_2_force_unlock) unlocks what it has not acquired
//!   (scenario `redis/red-lock-force-unlock`).

use async_trait::async_trait;

use super::leased::{Leased, never};
use super::quorum::servers;
use super::redisson::RedissonLock;
use super::redisson::scripts::TryAcquire;
use super::redisson::waits::Waits;
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, RecipeInput, join};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-red-lock-2",
    summary: "Redisson's first RedissonRedLock: RLocks on a majority of servers, asked at the same time.",
    source: "Redisson 2.2.18, RedissonRedLock",
    requests: &[RequestKind::Script, RequestKind::Del],
    inputs: &[RecipeInput::TryAcquire],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedLock::new(redis, env, lease, UnlockInner::Unlock))
    }),
    ..super::redisson_red_lock::RECIPE
};

/// How the locks are given back (`unlockInner`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnlockInner {
    /// Each by the script of step 4; after a failed call, those that were acquired.
    Unlock,
    /// All of them by `forceUnlock`.
    ForceUnlock,
}

/// An `RLock` on each server.
pub(super) struct RedLock {
    leased: Leased,
    locks: Vec<RedissonLock>,
    unlock_inner: UnlockInner,
}

impl RedLock {
    pub fn new(redis: Redis, env: Env, lease: Lease, unlock_inner: UnlockInner) -> Self {
        let servers = servers(&redis);
        let lock = |server| RedissonLock::new(server, env.clone(), lease.clone()).without_latch();
        Self {
            locks: servers.map(lock).collect(),
            leased: Leased { redis, env, lease },
            unlock_inner,
        }
    }

    /// Unlocks those of these places, all at the same time, whatever comes of that.
    async fn unlock(&mut self, places: &[usize]) {
        let (held, how) = (self.leased.held(None), self.unlock_inner);
        let locks = self.locks.iter_mut().enumerate();
        let unlocked = locks.filter_map(|(place, lock)| {
            let held = held.clone();
            let is_one = how == UnlockInner::ForceUnlock || places.contains(&place);
            is_one.then_some(async move {
                match how {
                    UnlockInner::Unlock => drop(lock.release(held).await),
                    UnlockInner::ForceUnlock => drop(lock.force_unlock().await),
                }
            })
        });
        join(unlocked.collect::<Vec<_>>()).await;
    }

    /// Steps 1 to 3.
    async fn try_lock(&mut self) -> Option<Held> {
        let asked = self
            .locks
            .iter()
            .map(|lock| lock.try_acquire(Waits::NotAtAll));
        let answers = join(asked.collect::<Vec<_>>()).await;
        let acquired =
            |answer: &Result<TryAcquire, LockError>| matches!(answer, Ok(TryAcquire::Acquired(_)));
        let places = (0..answers.len()).filter(|place| acquired(&answers[*place]));
        let places: Vec<usize> = places.collect();
        for place in &places {
            self.locks[*place].schedule_expiration_renewal(None);
        }
        if places.len() * 2 > self.locks.len() {
            return Some(self.leased.held(None)); // Step 2.
        }
        self.unlock(&places).await; // Step 3.
        None
    }
}

#[async_trait(?Send)]
impl Lock for RedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            if let Some(held) = self.try_lock().await {
                return Ok(held);
            }
            self.leased.pause().await;
        }
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    /// `tryLock()` again and again, for so long.
    async fn acquire_within(&mut self, time: std::time::Duration) -> Result<Held, LockError> {
        let until = self.leased.env.monotonic() + time;
        loop {
            if let Some(held) = self.try_lock().await {
                return Ok(held);
            }
            if self.leased.env.monotonic() >= until {
                return Err(LockError::AcquireTimeout);
            }
            self.leased.pause().await;
        }
    }

    /// Step 4.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let all: Vec<usize> = (0..self.locks.len()).collect();
        self.unlock(&all).await;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
