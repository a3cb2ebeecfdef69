//! Redisson's `RedissonRedLock` as it was: a `RedissonMultiLock` that is content with a majority.
//!
//! # Source
//!
//! Redisson 3.12, `RedissonRedLock`: deprecated since 3.12.5.
//!
//! # Steps
//!
//! Those of [`redisson_multi_lock`](super::redisson_multi_lock), of one `RLock` on each of several servers that know
//! nothing of each other, but:
//! - Step 2 gives each lock its part of the time, one millisecond at least.
//! - Step 4 gives up an attempt when more locks could not be had than a majority can do without, and no lock before.
//! - Step 6 unlocks all at the same time, also those that were not had, and ignores what that throws.
//!
//! # Guarantees
//!
//! - No two have a majority that no server forgets.
//!
//! # Hazards
//!
//! It is not Redlock. Where that looks at the clock, this one has a watchdog for each server:
//! - Servers are asked one after the other (scenario `redis/red-lock-regions`).
//! - No validity is counted. A holder that no server hears, or that a majority has forgotten, goes on believing
//!   (scenario `redis/red-lock-partition`).
//! - A lock that was not had may have been had: after a broken connection it is not unlocked (scenario
//!   `redis/red-lock-reset`).
//! - The value names the thread, and not the attempt: an unlock that comes late unlocks what was acquired since
//!   (scenario `redis/red-lock-late-unlock`).
//! - An unlock that no server has heard is done (scenario `redis/red-lock-unheard-unlock`).

use std::time::Duration;

use async_trait::async_trait;

use super::leased::CLAIMS;
use super::quorum::servers;
use super::redisson::sub_lock::{Hardening, SubLock};
use super::redisson_multi_lock::{Deviation, RedissonMultiLock, unlock_inner};
use crate::clients::redis::Redis;
use crate::{Build, Env, Held, Lease, Lock, LockError, MultiLock, MultiLockCall, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-red-lock",
    summary: "Redisson's RedissonRedLock as it was: RLocks on a majority of several independent servers.",
    source: "Redisson before 3.12.5, RedissonRedLock",
    flaw: Some(
        "it counts no validity, names the thread and not the attempt, and ignores what it cannot unlock",
    ),
    claims: CLAIMS,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(LockOfServers::new(redis, env, lease, MAJORITY))
    }),
    ..super::redisson::RECIPE
};

/// A majority is enough.
const MAJORITY: Deviation = Deviation {
    is_of_majority: true,
    ..Deviation::NONE
};

/// A majority is enough, for a lease.
pub(super) const LEASED_MAJORITY: Deviation = Deviation {
    is_leased: true,
    ..MAJORITY
};

/// An `RLock` on each server.
pub(super) struct LockOfServers {
    env: Env,
    lease: Duration,
    locks: Vec<SubLock>,
    all: RedissonMultiLock,
}

impl LockOfServers {
    pub(super) fn new(redis: Redis, env: Env, lease: Lease, deviation: Deviation) -> Self {
        let servers = servers(&redis);
        let lock = |server| SubLock::new(server, env.clone(), lease.clone(), Hardening::NONE);
        Self {
            locks: servers.map(lock).collect(),
            lease: lease.time,
            env,
            all: RedissonMultiLock { deviation },
        }
    }

    async fn lock(&mut self, wait: Option<Duration>) -> Result<Held, LockError> {
        let call = MultiLockCall {
            env: &self.env,
            wait,
            lease: self.lease,
        };
        let mut locks = all_of(&mut self.locks);
        let held = self.all.acquire(call, &mut locks).await?;
        held.into_iter().next().ok_or(LockError::AcquireTimeout)
    }
}

fn all_of(locks: &mut [SubLock]) -> Vec<&mut dyn Lock> {
    locks.iter_mut().map(|lock| lock as &mut dyn Lock).collect()
}

#[async_trait(?Send)]
impl Lock for LockOfServers {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.lock(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.lock(Some(time)).await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let holds = vec![held; self.locks.len()];
        let mut locks = all_of(&mut self.locks);
        if self.all.deviation.is_of_majority {
            unlock_inner(&mut locks, holds.into_iter().enumerate().collect()).await;
            return Ok(());
        }
        self.all.release(&mut locks, holds).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        match self.locks.first() {
            Some(lock) => lock.lost(held).await,
            None => super::leased::never().await,
        }
    }
}
