//! Curator's `InterProcessSemaphoreMutex`: a mutex that is not re-entrant, of a semaphore with one lease.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessSemaphoreMutex`.
//!
//! # Steps
//!
//! 1. Acquire a lease of `curator_semaphore`, of which there is one, and keep it.
//! 2. To release, forget the lease, and give it back. A release without a lease is an error.
//!
//! # Guarantees
//!
//! - As of `curator_semaphore`. It goes by no thread: a thread that acquires again while it holds the lock waits for
//!   itself, and any thread may release.
//!
//! # Hazards
//!
//! - Those of `curator_semaphore`; and each hand-over costs what two locks cost.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::curator_semaphore::{InterProcessSemaphoreV2, lease_place};
use crate::ownership_rule::first;
use crate::{Build, Env, Held, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore-mutex",
    summary: "Curator's InterProcessSemaphoreMutex: a mutex that is not re-entrant, of a semaphore with one lease.",
    source: "Apache Curator 5.4, InterProcessSemaphoreMutex",
    ownership: OwnershipRule::of_leases(LockKind::Mutex, lease_place, first),
    inputs: super::curator_mutex::INPUTS,
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(InterProcessSemaphoreMutex {
            semaphore: InterProcessSemaphoreV2::new(zk, env, path, 1),
            lease: Rc::default(),
        })
    }),
    ..super::curator_semaphore::RECIPE
};

struct InterProcessSemaphoreMutex {
    semaphore: InterProcessSemaphoreV2,
    /// That of all threads: whichever has it may give it back.
    lease: Rc<RefCell<Option<Held>>>,
}

#[async_trait(?Send)]
impl Lock for InterProcessSemaphoreMutex {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let lease = self.semaphore.acquire().await?;
        Ok(self.lease.borrow_mut().insert(lease).clone())
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        let acquired_lease = self.semaphore.acquire_within(time).await?;
        Ok(self.lease.borrow_mut().insert(acquired_lease).clone())
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let lease = self.lease.take().ok_or(LockError::NotHeld)?;
        self.semaphore.release(lease).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.semaphore.lost(held).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }

    fn for_task(&self, _env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Self {
            semaphore: self.semaphore.clone(),
            lease: Rc::clone(&self.lease),
        }))
    }
}
