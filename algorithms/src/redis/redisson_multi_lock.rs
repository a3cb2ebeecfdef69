//! Redisson's `RedissonMultiLock`: several `RLock`s that are acquired by one call.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonMultiLock`.
//!
//! # Steps
//!
//! Functions have the names of Redisson's.
//!
//! 1. `lock()`: call `tryLock` until it has all of them, each time with 1.5 s for each lock. With a lease, a random
//!    time between that and the lease.
//! 2. `tryLock`: acquire each lock in the order in which they were given, for no longer than what is left of the time.
//!    Each has a watchdog; or, with a lease, one of twice the time that the call has, or the lease if it has none.
//! 3. If one throws, it is not acquired. After a response timeout, unlock it: it may be ours.
//! 4. If one is not acquired, unlock those that were, and begin with the first again, if there is time left. If there
//!    is none, also if it was the last that was acquired, unlock those that were, and give up.
//! 5. With a lease, set it at every lock.
//! 6. `unlock`: unlock each, in their order.
//!
//! # Guarantees
//!
//! - As `redisson`, of each lock. It waits for its time once, and not for each lock.
//!
//! # Hazards
//!
//! - Those of `redisson`, of each lock.
//! - Nothing is said of the order. Callers with two orders do not wait for ever, but all of them wait for the same
//!   time, and come again in step (scenario `redis/multi-lock-livelock`).
//! - Step 3 unlocks nothing when the connection breaks after the script was sent: the lock is ours at the server until
//!   its lease is over, and if the same thread enters it again, for one lease after its unlock (scenario
//!   `redis/multi-lock-reset`).
//! - Step 6 stops at the first lock that throws, and the watchdogs of the others go on for as long as the process lives
//!   (scenario `redis/multi-lock-failed-unlock`).

use std::time::Duration;

use async_trait::async_trait;

use super::leased::drift;
use super::redisson::sub_lock::{Hardening, SubLock};
use super::redisson::waits::{Remaining, Waits};
use crate::clients::redis::Redis;
use crate::{
    Build, Claim, Env, Held, Lease, Lock, LockError, MultiLock, MultiLockCall, OwnershipRule,
    Recipe, join,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-multi-lock",
    summary: "Redisson's RedissonMultiLock: several RLocks by one call, all or none.",
    source: "Redisson 4.x, RedissonMultiLock",
    claims: MULTI_LOCK_CLAIMS,
    ownership: OwnershipRule::KEY_OF_EACH,
    shareable: false,
    build: Build::MultiLockOverRedis {
        each: &sub_lock_of_redisson,
        all: &RedissonMultiLock {
            deviation: Deviation::NONE,
        },
    },
    ..super::redisson::RECIPE
};

/// What several locks promise that are acquired by one call.
pub(super) const MULTI_LOCK_CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
    Claim::AllOrNone,
];

/// For how long `lock()` lets one `tryLock` wait, for each of its locks.
const BASE_WAIT_TIME: Duration = Duration::from_millis(1500);

/// What failed at once is not asked for again at once: a client has a pause between its attempts.
const PAUSE: Duration = Duration::from_millis(10);

fn sub_lock_of_redisson(redis: Redis, env: Env, lease: Lease) -> Box<dyn Lock> {
    Box::new(SubLock::new(redis, env, lease, Hardening::NONE))
}

/// How a sibling deviates from Redisson's lock without a lease.
#[derive(Clone, Copy)]
pub(super) struct Deviation {
    /// Whether the locks have the lease that the caller asks for, and no watchdog.
    pub(super) is_leased: bool,
    /// Which lease a lock has while the call goes on, if the locks have one.
    pub(super) in_call: CallLease,
    /// Whether `lock()` takes the milliseconds of its lease for seconds when it tries again.
    pub(super) converts_each_time: bool,
    /// Whether a call looks whether all locks are still its own before it returns.
    pub(super) checks_locks: bool,
    /// Whether an unlock goes on after one of the locks has thrown.
    pub(super) unlocks_every_lock: bool,
    /// Whether a call that gives up says that a lock may be left behind, if one may.
    pub(super) tells_doubt: bool,
    /// Whether more than half of the locks are enough, each of which has its part of the time (`RedissonRedLock`).
    pub(super) is_of_majority: bool,
}

impl Deviation {
    /// Redisson as it is.
    pub(super) const NONE: Self = Self {
        is_leased: false,
        in_call: CallLease::TwiceItsTime,
        converts_each_time: false,
        checks_locks: false,
        unlocks_every_lock: false,
        tells_doubt: false,
        is_of_majority: false,
    };
}

/// The lease of a lock while the call goes on that acquires it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallLease {
    /// The one that the caller asks for.
    AsAsked,
    /// Twice the time that the call has, or the one that the caller asks for if it has none.
    TwiceItsTime,
    /// Twice the time that the call has, also if it has none.
    TwiceNone,
}

/// The lock.
pub(super) struct RedissonMultiLock {
    pub(super) deviation: Deviation,
}

/// What was acquired: each lock by its place.
pub(super) type Acquired = Vec<(usize, Held)>;

/// One `tryLock`.
struct Try<'a> {
    env: &'a Env,
    /// The lease that the caller has asked for.
    lease: Duration,
    waits: Waits,
    remaining: Remaining<'a>,
    /// For how long each of the locks is waited for at most (`calcLockWaitTime`).
    lock_wait: Duration,
    /// The lease of each lock for as long as the call takes, if it has one.
    new_lease_time: Option<Duration>,
    /// What a lock has thrown that may have left it behind.
    doubt: Option<LockError>,
}

impl Try<'_> {
    /// Whether its time is over. A call that has none looks at no clock.
    fn is_over(&self) -> bool {
        self.waits != Waits::NotAtAll && self.remaining.left().is_err()
    }

    /// Acquires one of the locks.
    async fn acquire(&self, lock: &mut dyn Lock) -> Result<Held, LockError> {
        let left = self.remaining.left().ok().flatten();
        let wait = left.map_or(Duration::ZERO, |left| left.min(self.lock_wait));
        match self.new_lease_time {
            Some(lease) => lock.acquire_leased(wait, lease).await,
            None => lock.acquire_within(wait).await,
        }
    }

    /// Unlocks what was acquired, all at the same time, whatever comes of that.
    async fn unlock_inner(&mut self, locks: &mut [&mut dyn Lock], acquired: &mut Acquired) {
        let unlocked = unlock_inner(locks, std::mem::take(acquired)).await;
        // That an unlock was not sent says nothing of the lock.
        let thrown = unlocked.into_iter().filter_map(Result::err);
        let mut left = thrown.filter(|error| *error != LockError::PlaceLost);
        let left = left.next().map(|_| LockError::TimedOut);
        self.doubt = self.doubt.or(left);
    }
}

/// Unlocks these locks, all at the same time.
pub(super) async fn unlock_inner(
    locks: &mut [&mut dyn Lock],
    acquired: Acquired,
) -> Vec<Result<(), LockError>> {
    let mut acquired = acquired.into_iter().peekable();
    let unlocked = locks.iter_mut().enumerate().filter_map(|(place, lock)| {
        let (_, held) = acquired.next_if(|(of, _)| *of == place)?;
        Some(lock.release(held))
    });
    join(unlocked.collect::<Vec<_>>()).await
}

impl RedissonMultiLock {
    /// `failedLocksLimit`
    fn failed_locks_limit(&self, locks: usize) -> usize {
        match self.deviation.is_of_majority {
            true => locks - (locks / 2 + 1),
            false => 0,
        }
    }

    /// For how long `lock()` lets a `tryLock` wait.
    fn wait_time(env: &Env, locks: usize, lease: Option<Duration>) -> Duration {
        let base = BASE_WAIT_TIME * u32::try_from(locks).unwrap_or(u32::MAX);
        let Some(lease) = lease else {
            return base;
        };
        let least = if lease <= base { lease / 2 } else { base };
        let span = u64::try_from((lease - least).as_millis()).unwrap_or(u64::MAX);
        least + Duration::from_millis(env.random() % span.max(1))
    }

    /// Steps 2 to 5. `None` if not all could be had in the time; an error if a lease could not be set.
    async fn try_lock(
        &self,
        call: &mut Try<'_>,
        locks: &mut [&mut dyn Lock],
        lease: Option<Duration>,
    ) -> Result<Option<Acquired>, LockError> {
        let limit = self.failed_locks_limit(locks.len());
        let (mut may_fail, mut next) = (limit, 0);
        let mut acquired = Acquired::new();
        while next < locks.len() {
            match call.acquire(locks[next]).await {
                Ok(held) => {
                    acquired.push((next, held));
                    next += 1;
                }
                Err(error) => {
                    let in_doubt = Some(error).filter(|error| !error.definite());
                    call.doubt = call.doubt.or(in_doubt); // Step 3.
                    if locks.len() - acquired.len() == limit {
                        break;
                    }
                    if may_fail > 0 {
                        may_fail -= 1;
                        next += 1;
                    } else {
                        call.unlock_inner(locks, &mut acquired).await; // Step 4.
                        if call.waits == Waits::NotAtAll {
                            return Ok(None);
                        }
                        call.env.sleep(PAUSE).await;
                        (may_fail, next) = (limit, 0);
                    }
                }
            }
            if call.is_over() {
                call.unlock_inner(locks, &mut acquired).await;
                return Ok(None);
            }
        }
        match lease {
            Some(lease) => self.set_lease(call, locks, acquired, lease).await,
            None if self.deviation.checks_locks => {
                let lease = call.lease;
                self.set_lease(call, locks, acquired, lease).await
            }
            None => Ok(Some(acquired)),
        }
    }

    /// Step 5. The caller counts the lease that it has asked for from before it is set.
    async fn set_lease(
        &self,
        call: &mut Try<'_>,
        locks: &mut [&mut dyn Lock],
        mut acquired: Acquired,
        lease: Duration,
    ) -> Result<Option<Acquired>, LockError> {
        let until = (call.env.monotonic() + call.lease).saturating_sub(drift(call.lease));
        let mut of = acquired.iter_mut().peekable();
        let set = locks.iter_mut().enumerate().filter_map(|(place, lock)| {
            let (_, held) = of.next_if(|(of, _)| *of == place)?;
            held.valid_until = self.deviation.is_leased.then_some(until);
            Some(lock.expire(held, lease))
        });
        let set = join(set.collect::<Vec<_>>()).await;
        if !self.deviation.checks_locks {
            let thrown = set.into_iter().find_map(Result::err);
            return thrown.map_or(Ok(Some(acquired)), Err);
        }
        if set.iter().all(|set| *set == Ok(true)) && call.env.monotonic() < until {
            return Ok(Some(acquired));
        }
        let thrown = set.into_iter().find_map(Result::err);
        call.doubt = call.doubt.or(thrown.filter(|error| !error.definite()));
        call.unlock_inner(locks, &mut acquired).await;
        Ok(None)
    }

    /// One `tryLock`, of a caller that waits for so long.
    fn begin<'a>(
        &self,
        call: MultiLockCall<'a>,
        locks: usize,
        wait: Duration,
        lease: Option<Duration>,
    ) -> Try<'a> {
        let waits = Waits::at_most(wait);
        let parts = u32::try_from(locks).unwrap_or(u32::MAX);
        Try {
            env: call.env,
            lease: call.lease,
            waits,
            remaining: waits.begin(call.env),
            lock_wait: match self.deviation.is_of_majority {
                true => (wait / parts).max(Duration::from_millis(1)),
                false => wait,
            },
            new_lease_time: lease.map(|lease| match self.deviation.in_call {
                CallLease::TwiceItsTime if waits != Waits::NotAtAll => wait * 2,
                CallLease::AsAsked | CallLease::TwiceItsTime => lease,
                CallLease::TwiceNone => wait * 2,
            }),
            doubt: None,
        }
    }
}

#[async_trait(?Send)]
impl MultiLock for RedissonMultiLock {
    /// Step 1, or `tryLock` of a caller that has so much time.
    async fn acquire(
        &self,
        call: MultiLockCall<'_>,
        locks: &mut [&mut dyn Lock],
    ) -> Result<Vec<Held>, LockError> {
        let mut lease = self.deviation.is_leased.then_some(call.lease);
        let held = |acquired: Acquired| acquired.into_iter().map(|(_, held)| held).collect();
        if let Some(wait) = call.wait {
            let mut once = self.begin(call, locks.len(), wait, lease);
            let acquired = self.try_lock(&mut once, locks, lease).await?;
            let doubt = once.doubt.filter(|_| self.deviation.tells_doubt);
            return match acquired {
                Some(acquired) => Ok(held(acquired)),
                None => Err(doubt.unwrap_or(LockError::AcquireTimeout)),
            };
        }
        loop {
            let wait = Self::wait_time(call.env, locks.len(), lease);
            let mut again = self.begin(call, locks.len(), wait, lease);
            if let Some(acquired) = self.try_lock(&mut again, locks, lease).await? {
                return Ok(held(acquired));
            }
            if self.deviation.converts_each_time {
                lease = lease.map(|lease| lease.saturating_mul(1000));
            }
        }
    }

    /// Step 6.
    async fn release(&self, locks: &mut [&mut dyn Lock], held: Vec<Held>) -> Result<(), LockError> {
        let mut thrown = Ok(());
        for (lock, held) in locks.iter_mut().zip(held) {
            let unlocked = lock.release(held).await;
            thrown = thrown.and(unlocked);
            if thrown.is_err() && !self.deviation.unlocks_every_lock {
                break;
            }
        }
        thrown
    }
}

#[cfg(test)]
mod tests;
