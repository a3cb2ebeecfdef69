//! Curator's `InterProcessMultiLock`: several `InterProcessMutex`es that are acquired by one call.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessMultiLock`.
//!
//! # Steps
//!
//! Functions have Curator's names.
//! 1. `acquire`: acquire each lock, in the order in which they were given; with a time, each for up to all of it.
//! 2. If one is not had in its time, stop. If one throws, remember that, the last of several, and go on to the next.
//! 3. Unless all were had, release those that were, in reverse, whatever comes of that; throw what is remembered.
//! 4. `release`: release all, in reverse, whatever comes of each; throw what was thrown first.
//!
//! # Guarantees
//!
//! - As `curator_mutex`, of each lock. A call that fails has given back the locks that it had got, or that goes on in
//!   the background (`all-or-none`).
//!
//! # Hazards
//!
//! - Those of `curator_mutex`, of each lock.
//! - Nothing is said of the order. Two callers with two orders wait for each other for ever, each in the middle of its
//!   call (scenario `zookeeper/multi-lock-order`).
//! - The call does not look back. One that waits for the second lock when its session ends goes on in a new session,
//!   and returns with the second lock and without the first (scenario `zookeeper/multi-lock-session-lost`).
//! - What the release of step 3 throws is dropped. A call says that it has none while the deletion of a node goes on in
//!   the background (scenario `zookeeper/multi-lock-failed-release`).
//! - The time is that of each lock, so all together may take as many times as long.
//! - After an exception the loop goes on: locks are acquired, and waited for, only to be released.

use std::time::Duration;

use async_trait::async_trait;

use super::curator_mutex::{self, InterProcessMutex};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{
    Build, Claim, Env, Held, Lock, LockError, MultiLock, MultiLockCall, OwnershipRule, Recipe,
    select,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-multi-lock",
    summary: "Curator's InterProcessMultiLock: several InterProcessMutexes by one call, all or none.",
    source: "Apache Curator 5.4, InterProcessMultiLock",
    claims: &[
        Claim::MutualExclusion,
        Claim::ExclusiveOwnership,
        Claim::Progress,
        Claim::NoOrphan,
        Claim::OwnReleaseOnly,
        Claim::Fifo,
        Claim::HonestAnswer,
        Claim::AllOrNone,
    ],
    ownership: OwnershipRule::LOWEST_CHILD_OF_EACH,
    shareable: false,
    build: build(&InterProcessMultiLock {
        deviation: Deviation::NONE,
    }),
    ..super::curator_mutex::RECIPE
};

/// How to build it over `InterProcessMutex`es.
pub(super) const fn build(lock: &'static InterProcessMultiLock) -> Build {
    Build::MultiLockOverZooKeeper {
        each: &inter_process_mutex,
        all: lock,
    }
}

fn inter_process_mutex(zk: ZooKeeper, env: Env, path: Path) -> Box<dyn Lock> {
    let mutex = InterProcessMutex::new(zk, env, path, curator_mutex::Deviation::NONE);
    Box::new(mutex)
}

/// How a sibling deviates from Curator.
#[derive(Clone, Copy)]
pub(super) struct Deviation {
    /// Whether a call that fails releases what it had got.
    pub(super) releases_what_it_had: bool,
    /// Whether a release goes on after one of its locks has thrown.
    pub(super) releases_every_lock: bool,
    /// Whether it gives up when the connection is lost while it waits for another lock.
    pub(super) listens: bool,
}

impl Deviation {
    /// Curator as it is.
    pub(super) const NONE: Self = Self {
        releases_what_it_had: true,
        releases_every_lock: true,
        listens: false,
    };
}

/// The lock.
pub(super) struct InterProcessMultiLock {
    pub(super) deviation: Deviation,
}

impl InterProcessMultiLock {
    /// Acquires one lock, while those before it are held.
    async fn acquire_next(
        &self,
        before: &[&mut dyn Lock],
        held: Option<&Held>,
        lock: &mut dyn Lock,
        time: Option<Duration>,
    ) -> Result<Held, LockError> {
        let acquire = match time {
            None => lock.acquire(),
            Some(time) => lock.acquire_within(time),
        };
        match before.first().zip(held) {
            // They stand on one connection: what the first hears of it, all do.
            Some((first, held)) if self.deviation.listens => {
                select(acquire, async { Err(first.lost(held).await) }).await
            }
            Some(_) | None => acquire.await,
        }
    }
}

#[async_trait(?Send)]
impl MultiLock for InterProcessMultiLock {
    /// Steps 1 to 3.
    async fn acquire(
        &self,
        call: MultiLockCall<'_>,
        locks: &mut [&mut dyn Lock],
    ) -> Result<Vec<Held>, LockError> {
        let mut exception = None;
        let mut acquired: Vec<(usize, Held)> = Vec::new();
        let mut success = true;
        for index in 0..locks.len() {
            let (before, rest) = locks.split_at_mut(index);
            let held = acquired.first().map(|(_, held)| held);
            match self.acquire_next(before, held, rest[0], call.wait).await {
                Ok(held) => acquired.push((index, held)),
                Err(LockError::AcquireTimeout) => {
                    success = false;
                    break;
                }
                Err(error) => {
                    success = false;
                    exception = Some(error);
                    if self.deviation.listens {
                        break;
                    }
                }
            }
        }
        if success {
            return Ok(acquired.into_iter().map(|(_, held)| held).collect());
        }
        if self.deviation.releases_what_it_had {
            for (index, held) in acquired.into_iter().rev() {
                let _ignored = locks[index].release(held).await;
            }
        }
        Err(exception.unwrap_or(LockError::AcquireTimeout))
    }

    /// Step 4.
    async fn release(&self, locks: &mut [&mut dyn Lock], held: Vec<Held>) -> Result<(), LockError> {
        let mut base_exception = Ok(());
        for (lock, held) in locks.iter_mut().zip(held).rev() {
            let released = lock.release(held).await;
            base_exception = base_exception.and(released);
            if base_exception.is_err() && !self.deviation.releases_every_lock {
                break;
            }
        }
        base_exception
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub_locks::{StubLock, acquire_and_release};

    const LOCK: InterProcessMultiLock = InterProcessMultiLock {
        deviation: Deviation::NONE,
    };

    /// `testSomeReleasesFail`.
    #[test]
    fn a_release_that_fails_does_not_keep_the_others_and_is_told() {
        let bad = StubLock {
            release_fails: Some(LockError::ConnectionLoss),
            ..StubLock::default()
        };
        let mut locks = [StubLock::default(), bad, StubLock::default()];
        let (acquired, released, held) = acquire_and_release(&LOCK, None, &mut locks);
        assert_eq!(acquired, Ok(()));
        assert_eq!(released, Some(Err(LockError::ConnectionLoss)));
        assert_eq!(held, [false, true, false]);
    }

    /// `testSomeLocksFailToLock`.
    #[test]
    fn an_acquire_that_fails_gives_back_the_others_those_behind_it_too() {
        let bad = |error| StubLock {
            acquire_fails: vec![error],
            ..StubLock::default()
        };
        let mut locks = [
            StubLock::default(),
            bad(LockError::ConnectionLoss),
            StubLock::default(),
        ];
        let (acquired, _, held) = acquire_and_release(&LOCK, None, &mut locks);
        assert_eq!(acquired, Err(LockError::ConnectionLoss));
        assert_eq!(held, [false, false, false]);
        // What was not had in its time ends the loop, and an exception before it is what is thrown.
        let mut locks = [
            StubLock::default(),
            bad(LockError::Refused),
            bad(LockError::AcquireTimeout),
        ];
        let (acquired, _, held) = acquire_and_release(&LOCK, None, &mut locks);
        assert_eq!(acquired, Err(LockError::Refused));
        assert_eq!(held, [false, false, false]);
    }
}
