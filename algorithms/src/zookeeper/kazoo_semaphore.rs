//! kazoo's `Semaphore`.
//!
//! # Source
//!
//! kazoo 2.10, `recipe/lock.py`: `Semaphore`. Functions have kazoo's names.
//!
//! # Steps
//!
//! Each semaphore object has a name for its lease, `lock/UUID`, for as long as it lives.
//! 1. If our lease is there, we have it (`_inner_acquire`).
//! 2. Acquire the lock at `lock-__lock__`.
//! 3. List the leases, and watch them. If they are fewer than there may be, create ours as an ephemeral node; if ours
//!    is there then, we have it (`_get_lease`).
//! 4. Otherwise wait for any change, and go to 3. A timed acquire waits for all of its time after each change; when
//!    that is over, acquire fails.
//! 5. Release the lock, whatever has come of it. If the connection was lost, go to 1.
//! 6. If acquire fails, delete our lease once, and do not mind whether that was done (`_best_effort_cleanup`).
//! 7. To release, delete our lease, and ask again while the connection is lost.
//!
//! # Guarantees
//!
//! - No more contenders hold a lease than there may be: the one that counts them has the lock, so no other makes a
//!   lease meanwhile (`kazoo_semaphore_unlocked` has no lock). It keeps the lock while it waits, so no other watches
//!   the leases. There is no token.
//!
//! # Hazards
//!
//! - A pause that outlasts the session lets one more in than there are leases (scenario `zookeeper/semaphore-pause`).
//! - The time of a timed acquire does not count while it waits for the lock, and begins again with every change.
//! - A contender that is cancelled while it waits for the lock fails only when it has that, however late.
//! - A create whose answer was lost, and that is made late, has the next one fail: `NodeExists` is not asked whose.
//!
//! `cancel` of another thread sets a flag, and wakes the acquire if it waits in step 4. The acquire looks at the flag
//! before each step 3; if it is set, it fails, with steps 5 and 6. A new acquire clears it. Nothing ends a release.
//!
//! Not as there: the holder of a lease stops when the connection is suspended or the lease is gone, as kazoo's
//! documentation wants a listener to do; the lock of step 2 is `hardened`, because kazoo's own has holes of its own
//! (`best_effort_cleanup`); a new session is a new object, with a name of its own; and the number of leases is not
//! compared with what is written into `lock`.

use std::time::Duration;

use async_trait::async_trait;

use super::cancel_flag::CancelFlag;
use super::hardened::{Hardened, down_or_gone};
use super::queue::{child, delete_own};
use crate::clients::zookeeper::{CreateMode, Path, Watch, ZkError, ZooKeeper, until_answered};
use crate::lock::BASIC_CLAIMS;
use crate::{
    Build, CancelCall, Env, Held, Lock, LockError, OwnershipRule, Recipe, RecipeInput, select,
    timeout,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-semaphore",
    summary: "kazoo's Semaphore: leases that the owner of a lock counts, and then makes.",
    source: "kazoo 2.10, recipe/lock.py, Semaphore",
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::EVERY_LEASE,
    inputs: &[RecipeInput::CancelCall],
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        Box::new(Semaphore::new(zk, env, path, max_leases))
    }),
    ..super::hardened::RECIPE
};

/// The semaphore.
pub(super) struct Semaphore {
    zk: ZooKeeper,
    env: Env,
    path: Path,
    max_leases: u32,
    create_path: Path,
    lock_path: Path,
    assured_path: bool,
    cancelled: CancelFlag,
    /// Whether the lock is held while the leases are counted.
    pub(super) locks: bool,
}

impl Semaphore {
    pub(super) fn new(zk: ZooKeeper, env: Env, path: Path, max_leases: u32) -> Self {
        let create_path = child(&path, &env.guid());
        let lock_path = [&*path, "-__lock__"].concat().into();
        Self {
            zk,
            env,
            path,
            max_leases,
            create_path,
            lock_path,
            assured_path: false,
            cancelled: CancelFlag::default(),
            locks: true,
        }
    }

    /// Steps 1 to 6.
    async fn retry_acquire(&mut self, time: Option<Duration>) -> Result<Held, LockError> {
        self.cancelled.clear();
        let acquired = loop {
            match self.inner_acquire(time).await {
                Err(LockError::ConnectionLoss) => {}
                answer => break answer,
            }
        };
        if acquired.is_err() {
            self.best_effort_cleanup().await;
            self.cancelled.clear();
        }
        acquired.map(|()| Held::at(Path::clone(&self.create_path)))
    }

    async fn inner_acquire(&mut self, time: Option<Duration>) -> Result<(), LockError> {
        if self.zk.exists(&self.create_path).await?.is_some() {
            return Ok(());
        }
        if !self.locks {
            return self.wait_for_lease(time).await;
        }
        self.ensure_lock_path().await?;
        let mut lock = Hardened {
            zk: self.zk.clone(),
            env: self.env.clone(),
            lock: Path::clone(&self.lock_path),
        };
        let held = lock.acquire().await?; // Step 2.
        let acquired = self.wait_for_lease(time).await;
        let released = lock.release(held).await; // Step 5.
        acquired.and(released)
    }

    async fn ensure_lock_path(&mut self) -> Result<(), LockError> {
        if !self.assured_path {
            let mode = CreateMode::Persistent;
            match until_answered(|| self.zk.create(&self.lock_path, b"", mode)).await {
                Ok(_) | Err(ZkError::NodeExists) => self.assured_path = true,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Steps 3 and 4.
    async fn wait_for_lease(&self, time: Option<Duration>) -> Result<(), LockError> {
        loop {
            let cancelled = self.cancelled.next();
            let Some(changed) = self.get_lease().await? else {
                return Ok(());
            };
            let changed = async {
                changed.next().await;
            };
            let woken = select(changed, cancelled);
            match time {
                None => woken.await,
                Some(time) => {
                    let woken = timeout(&self.env, time, woken).await;
                    woken.ok_or(LockError::AcquireTimeout)?;
                }
            }
        }
    }

    /// Step 3. The watch, if we have no lease.
    async fn get_lease(&self) -> Result<Option<Watch>, LockError> {
        if self.cancelled.is_set() {
            return Err(LockError::Cancelled);
        }
        let (children, changed) = self.zk.children_and_watch(&self.path).await?;
        if children.len() < self.max_leases as usize {
            let lease = CreateMode::Ephemeral;
            self.zk.create(&self.create_path, b"", lease).await?;
        }
        let acquired = self.zk.exists(&self.create_path).await?.is_some();
        Ok((!acquired).then_some(changed))
    }

    async fn best_effort_cleanup(&self) {
        let _swallowed = self.zk.delete(&self.create_path, None).await;
    }
}

#[async_trait(?Send)]
impl Lock for Semaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.retry_acquire(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.retry_acquire(Some(time)).await
    }

    fn cancel_call(&self) -> Option<CancelCall> {
        Some(self.cancelled.cancel_call())
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await // Step 7.
    }

    async fn lost(&self, held: &Held) -> LockError {
        down_or_gone(&self.zk, &held.path_or_key).await
    }
}
