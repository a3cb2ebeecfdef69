//! Curator's `InterProcessSemaphoreV2`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessSemaphoreV2`. Functions and constants have Curator's names.
//!
//! # Steps
//!
//! A call of several leases acquires one after the other (`internalAcquire1Lease`, steps 1 to 5), and gives back those
//! that it has if one fails. How many there are, each process says for itself.
//! 1. Acquire the mutex (`curator_mutex`) at `lock/locks`.
//! 2. Create `lock/leases/_c_GUID-lease-` as an ephemeral sequential node, by a protected create.
//! 3. List the leases, and watch them. If our lease is not among them, go to 1, for as long as the retry policy allows.
//!    If they are no more than there may be, ours is one of them. Otherwise wait for any change, and list them again.
//! 4. If step 3 has failed, or was interrupted, or the time is over, give our lease back: delete it, however long that
//!    takes.
//! 5. Release the mutex, whatever has come of it.
//! 6. To release, delete each lease, however long that takes. That wakes the contender that has the mutex.
//!
//! # Guarantees
//!
//! - No more hold a lease than the service says there are. Only the contender that has the mutex waits and watches the
//!   leases: a lease that is given back wakes one contender. There is no token.
//!
//! # Hazards
//!
//! - If step 5 fails, or is interrupted, the new lease is not given back: the caller gets the error, and the lease
//!   stays for as long as its session (scenario `zookeeper/semaphore-interrupted`).
//! - The create of step 2 is repeated in a new session, and the mutex went with the old one. Another contender has it
//!   by then, and both wait for the leases to be few enough, and have one each: neither ever enters (scenario
//!   `zookeeper/semaphore-lost-mutex`). `curator_semaphore_hardened` closes both holes.
//! - The mutex goes between two leases of a call. So two calls may each have some of the leases, and wait for the rest
//!   for ever, unless they have a time (scenario `zookeeper/semaphore-halves`). `curator_semaphore_hardened` keeps the
//!   mutex until it has all.
//! - A session that ends between two leases of a call takes the first, and the call goes on with the second (scenario
//!   `zookeeper/semaphore-half-expired`).
//! - Those of `curator_mutex`: a pause that outlasts the session lets one more in than there are leases (scenario
//!   `zookeeper/semaphore-pause`); the look-up by guid is not ordered behind the create, and leaves a second lease,
//!   which takes a permit that no contender has (scenario `zookeeper/semaphore-second-lease`).
//! - Whether all processes say the same number is not checked.

mod deviation;

use std::time::Duration;

use async_trait::async_trait;

pub(super) use self::deviation::{Counts, Deviation, MutexFor, ReturnsLease};
use super::curator_mutex::{self, CleanupGuard, InterProcessMutex, WaitBudget};
use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::curator::{Curator, CuratorConfig, ErrorPolicy, ErrorState, Protection};
use crate::clients::zookeeper::{Path, ZkError, ZkResult, ZooKeeper};
use crate::lock::BASIC_CLAIMS;
use crate::ownership_rule::{as_many_as_permits, every_child};
use crate::{
    Build, Env, Held, Lock, LockError, LockKind, OwnershipRule, Place, Recipe, RecipeInput, timeout,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore",
    summary: "Curator's InterProcessSemaphoreV2: leases that the owner of a mutex counts, and a listener.",
    source: "Apache Curator 5.4, InterProcessSemaphoreV2",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OWNERSHIP,
    requests: REQUESTS,
    inputs: INPUTS,
    cancellable: true,
    shareable: true,
    build: Build::SemaphoreOverZooKeeper(&|zk, env, path, max_leases| {
        let semaphore = InterProcessSemaphoreV2::new(zk, env, path, max_leases);
        Box::new(semaphore)
    }),
};

/// Who owns a permit: the leases queue in sequence order, and the first own one each.
pub(super) const OWNERSHIP: OwnershipRule =
    OwnershipRule::of_leases(LockKind::Semaphore, lease_place, as_many_as_permits);

/// Leases are below a node of their own.
pub(super) fn lease_place(name: &str) -> Option<Place> {
    let lease = name.strip_prefix(LEASE_PARENT)?.strip_prefix('/')?;
    every_child(lease)
}

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
    RequestKind::GetData,
    RequestKind::GetChildren,
];

/// What it goes by besides.
const INPUTS: &[RecipeInput] = &[
    RecipeInput::WallClock,
    RecipeInput::LockNode,
    RecipeInput::TryAcquire,
    RecipeInput::SeveralPermits,
];

const LOCK_PARENT: &str = "locks";
const LEASE_PARENT: &str = "leases";
const LEASE_BASE_NAME: &str = "lease-";

/// The semaphore.
#[derive(Clone)]
pub(super) struct InterProcessSemaphoreV2 {
    client: Curator,
    locks_path: Path,
    leases_path: Path,
    max_leases: u32,
    /// How many leases one call acquires.
    quantity: u32,
    /// Those that it has besides the first.
    others: Vec<Path>,
    deviation: Deviation,
}

enum InternalAcquireResult {
    /// We have these leases.
    Continue(Vec<Path>),
    /// The time is over.
    ReturnNull,
    RetryDueToMissingNode,
}

impl InterProcessSemaphoreV2 {
    pub(super) fn new(zk: ZooKeeper, env: Env, path: Path, max_leases: u32) -> Self {
        Self {
            client: Curator::of_process(zk, env, CuratorConfig::default()),
            locks_path: child(&path, LOCK_PARENT),
            leases_path: child(&path, LEASE_PARENT),
            max_leases,
            quantity: 1,
            others: Vec::new(),
            deviation: Deviation::NONE,
        }
    }

    pub(super) fn deviating(self, deviation: Deviation) -> Self {
        Self { deviation, ..self }
    }

    /// All leases of a call, or none.
    async fn internal_acquire(&mut self, time: Option<Duration>) -> Result<Held, LockError> {
        let mut wait = time.map(|time| WaitBudget::new(time, self.client.env()));
        let at_once = match self.deviation.mutex_for {
            MutexFor::OneLease => 1,
            MutexFor::AllLeases => self.quantity,
        };
        let mut leases = self.acquire_leases(at_once, &mut wait).await?;
        let mut earlier = Vec::new();
        while leases.len() < self.quantity as usize {
            if self.deviation.returns_earlier {
                let guard = |lease| CleanupGuard::new(&self.client, lease);
                earlier.extend(leases[earlier.len()..].iter().map(guard));
            }
            match self.acquire_leases(at_once, &mut wait).await {
                Ok(more) => leases.extend(more),
                Err(error) => {
                    for lease in earlier {
                        lease.clean_up().await;
                    }
                    return Err(error);
                }
            }
        }
        earlier.into_iter().for_each(CleanupGuard::disarm);
        self.others = leases.split_off(1);
        Ok(Held::at(leases.swap_remove(0)))
    }

    /// Steps 1 to 5.
    async fn acquire_leases(
        &self,
        at_once: u32,
        wait: &mut Option<WaitBudget>,
    ) -> Result<Vec<Path>, LockError> {
        let env = self.client.env();
        let began = env.monotonic();
        let mut retry_count = 0;
        loop {
            match self.internal_acquire_leases(at_once, wait).await? {
                InternalAcquireResult::Continue(leases) => return Ok(leases),
                InternalAcquireResult::ReturnNull => return Err(LockError::AcquireTimeout),
                InternalAcquireResult::RetryDueToMissingNode => {}
            }
            let elapsed = env.monotonic().saturating_sub(began);
            let policy = self.client.retry_policy();
            let Some(sleep) = policy.allow_retry(retry_count, elapsed, env) else {
                return Err(LockError::PlaceLost);
            };
            retry_count += 1;
            env.pause(sleep).await;
        }
    }

    /// The mutex of step 1.
    fn lock(&self) -> InterProcessMutex {
        let (client, path) = (self.client.clone(), Path::clone(&self.locks_path));
        InterProcessMutex::on(client, path, curator_mutex::Deviation::NONE)
    }

    /// As many leases, of which Curator takes one (`internalAcquire1Lease`), with the mutex of step 1.
    async fn internal_acquire_leases(
        &self,
        at_once: u32,
        wait: &mut Option<WaitBudget>,
    ) -> Result<InternalAcquireResult, LockError> {
        let mut lock = self.lock();
        let acquired = match wait {
            None => lock.acquire().await,
            Some(wait) => {
                let this_wait = wait.left(self.client.env()).unwrap_or_default();
                lock.acquire_within(this_wait).await
            }
        };
        let held = match acquired {
            Err(LockError::AcquireTimeout) => return Ok(InternalAcquireResult::ReturnNull),
            acquired => acquired?,
        };
        let interrupted = CleanupGuard::new(&self.client, &held.path_or_key);
        let (result, leases) = self.take_leases(at_once, wait).await;
        interrupted.disarm();
        let released = lock.release(held).await; // Step 5.
        for lease in leases {
            match released {
                Ok(()) => lease.disarm(),
                Err(_) => lease.clean_up().await,
            }
        }
        released?;
        Ok(result?)
    }

    /// Steps 2 to 4, for each of these. What gives them back if the acquire fails after all, where anything does.
    async fn take_leases(
        &self,
        at_once: u32,
        wait: &mut Option<WaitBudget>,
    ) -> (ZkResult<InternalAcquireResult>, Vec<CleanupGuard>) {
        let (mut leases, mut guards) = (Vec::new(), Vec::new());
        for _ in 0..at_once {
            match self.take_lease(&leases, wait).await {
                (Ok(InternalAcquireResult::Continue(lease)), guard) => {
                    leases.extend(lease);
                    guards.extend(guard);
                }
                (failed, _) => {
                    for lease in guards {
                        lease.clean_up().await;
                    }
                    return (failed, Vec::new());
                }
            }
        }
        (Ok(InternalAcquireResult::Continue(leases)), guards)
    }

    /// Steps 2 to 4. What gives the lease back if the acquire fails after all, where anything does.
    async fn take_lease(
        &self,
        earlier: &[Path],
        wait: &mut Option<WaitBudget>,
    ) -> (ZkResult<InternalAcquireResult>, Option<CleanupGuard>) {
        let (parent, name) = (&self.leases_path, LEASE_BASE_NAME);
        let created = self.client.create_protected(parent, name, Protection::FULL);
        let path = match created.await {
            Ok(path) => path,
            Err(error) => return (Err(error), None),
        };
        let lease = CleanupGuard::new(&self.client, &path);
        let returns = self.deviation.returns_lease;
        if returns == ReturnsLease::Never {
            lease.disarm();
            return (self.count_leases(&path, earlier, wait).await, None);
        }
        let result = self.count_leases(&path, earlier, wait).await;
        match result {
            Ok(InternalAcquireResult::Continue(_)) if returns == ReturnsLease::UnlessAcquired => {
                (result, Some(lease))
            }
            Ok(InternalAcquireResult::Continue(_)) => {
                lease.disarm();
                (result, None)
            }
            Ok(_) | Err(_) => {
                lease.clean_up().await; // Step 4.
                (result, None)
            }
        }
    }

    /// Step 3. The leases that the call has acquired before with this mutex must be there, too.
    async fn count_leases(
        &self,
        path: &Path,
        earlier: &[Path],
        wait: &mut Option<WaitBudget>,
    ) -> ZkResult<InternalAcquireResult> {
        let node_name = path.rsplit('/').next().unwrap_or_default();
        let max_leases = self.max_leases as usize;
        loop {
            let list =
                async |zk: &ZooKeeper| zk.children_with_stat_and_watch(&self.leases_path).await;
            let (children, _, changed) = match self.client.call_with_retry(list).await {
                Err(ZkError::NoNode) => return Ok(InternalAcquireResult::RetryDueToMissingNode),
                listed => listed?,
            };
            if !children.names().any(|name| **name == *node_name) {
                return Ok(InternalAcquireResult::RetryDueToMissingNode);
            }
            let is_there = |lease: &Path| children.names().any(|name| lease.ends_with(&**name));
            if !earlier.iter().all(is_there) {
                return Ok(InternalAcquireResult::RetryDueToMissingNode);
            }
            if self.deviation.counts.of(&children, node_name) <= max_leases {
                return Ok(InternalAcquireResult::Continue(vec![Path::clone(path)]));
            }
            let notified = async {
                changed.next().await;
            };
            match wait {
                None => notified.await,
                Some(wait) => match wait.left(self.client.env()) {
                    Some(this_wait) => {
                        timeout(self.client.env(), this_wait, notified).await;
                    }
                    None => return Ok(InternalAcquireResult::ReturnNull),
                },
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for InterProcessSemaphoreV2 {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.internal_acquire(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.internal_acquire(Some(time)).await
    }

    /// Step 6: `Lease.close` of each.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let others = std::mem::take(&mut self.others).into_iter();
        let guards = others.map(|lease| (CleanupGuard::new(&self.client, &lease), lease));
        let guards: Vec<_> = guards.collect();
        let mut released = self.client.delete_guaranteed(&held.path_or_key).await;
        for (guard, lease) in guards {
            released = released.and(self.client.delete_guaranteed(&lease).await);
            guard.disarm();
        }
        Ok(released?)
    }

    fn set_permits_per_acquire(&mut self, permits: u32) {
        self.quantity = permits;
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match self.client.error(ErrorPolicy::Standard).await {
            ErrorState::Suspended => LockError::Disconnected,
            ErrorState::Lost => LockError::SessionExpired,
        }
    }

    fn renews_sessions(&self) -> bool {
        true
    }

    /// What a thread has acquired is the lease that it was given: the object keeps nothing.
    fn for_task(&self, _env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(self.clone()))
    }
}
