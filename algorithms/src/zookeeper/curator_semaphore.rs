//! Curator's `InterProcessSemaphoreV2`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessSemaphoreV2`. Functions and constants have Curator's names.
//!
//! # Steps
//!
//! One lease is acquired at a time (`internalAcquire1Lease`); how many there are, each process says for itself.
//! 1. Acquire the mutex (`curator_mutex`) at `lock/locks`.
//! 2. Create `lock/leases/_c_GUID-lease-` as an ephemeral sequential node, by a protected create.
//! 3. List the leases, and watch them. If our lease is not among them, go to 1, for as long as the retry policy allows.
//!    If they are no more than there may be, ours is one of them. Otherwise wait for any change, and list them again.
//! 4. If step 3 has failed, or was interrupted, or the time is over, give our lease back: delete it, however long that
//!    takes.
//! 5. Release the mutex, whatever has come of it.
//! 6. To release, delete the lease, however long that takes. Whoever has the mutex is woken by that.
//!
//! # Guarantees
//!
//! - No more hold a lease than the service says there are. Whoever waits for one has the mutex, and nobody else watches
//!   the leases: a lease that is given back wakes one. There is no token.
//!
//! # Hazards
//!
//! - If step 5 fails, or is interrupted, the lease that it has just acquired is nobody's: the error goes to the caller,
//!   and the lease stays for as long as its session (scenario `zookeeper/semaphore-interrupted`).
//! - The create of step 2 is repeated in a new session, and the mutex went with the old one. Somebody else has it by
//!   then, and two wait for the leases to be few enough, each of which has one: neither ever enters (scenario
//!   `zookeeper/semaphore-lost-mutex`). `curator_semaphore_hardened` closes both holes.
//! - Those of `curator_mutex`: a pause that outlasts the session lets one more in than there are leases (scenario
//!   `zookeeper/semaphore-pause`); the look-up by guid is not ordered behind the create, and leaves a second lease,
//!   which takes a permit that no contender has (scenario `zookeeper/semaphore-second-lease`).
//! - That all processes say the same number is checked by nobody.

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::curator_mutex::{self, CleanupGuard, InterProcessMutex, WaitBudget, after_mark};
use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::curator::{Curator, CuratorConfig, ErrorPolicy, ErrorState, Protection};
use crate::clients::zookeeper::{Children, Path, ZkError, ZkResult, ZooKeeper};
use crate::lock::BASIC_CLAIMS;
use crate::ownership_rule::{as_many_as_permits, every_child};
use crate::{Build, Env, Held, Lock, LockError, LockKind, OwnershipRule, Place, Recipe, timeout};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-semaphore",
    summary: "Curator's InterProcessSemaphoreV2: leases that are counted by whoever has a mutex, and a listener.",
    source: "Apache Curator 5.4, InterProcessSemaphoreV2",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OWNERSHIP,
    requests: REQUESTS,
    inputs: super::curator_mutex::INPUTS,
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

const LOCK_PARENT: &str = "locks";
const LEASE_PARENT: &str = "leases";
const LEASE_BASE_NAME: &str = "lease-";

/// How a sibling deviates from Curator.
#[derive(Clone, Copy)]
pub(super) struct Deviation {
    pub(super) returns_lease: ReturnsLease,
    pub(super) counts: Counts,
}

impl Deviation {
    /// Curator as it is.
    pub(super) const NONE: Self = Self {
        returns_lease: ReturnsLease::UnlessCounted,
        counts: Counts::All,
    };
}

/// Whether a lease is given back whose acquire has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReturnsLease {
    /// It is not.
    Never,
    /// If the count has failed.
    UnlessCounted,
    /// If the count has failed, or the release of the mutex after it.
    UnlessAcquired,
}

/// Which leases must be no more than there may be.
#[derive(Clone, Copy)]
pub(super) enum Counts {
    /// All that there are.
    All,
    /// All but its own.
    Others,
    /// Its own, and those with lower numbers.
    UpToOwn,
}

impl Counts {
    /// How many those are, of all that there are.
    fn of(self, children: &Children, node_name: &str) -> usize {
        match self {
            Self::All => children.len(),
            Self::Others => children.len() - 1,
            Self::UpToOwn => {
                let own = after_mark(node_name, LEASE_BASE_NAME);
                let up_to_own = |name: &&Rc<str>| after_mark(name, LEASE_BASE_NAME) <= own;
                children.names().filter(up_to_own).count()
            }
        }
    }
}

/// The semaphore.
#[derive(Clone)]
pub(super) struct InterProcessSemaphoreV2 {
    client: Curator,
    locks_path: Path,
    leases_path: Path,
    max_leases: u32,
    deviation: Deviation,
}

enum InternalAcquireResult {
    /// We have this lease.
    Continue(Path),
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
            deviation: Deviation::NONE,
        }
    }

    pub(super) fn deviating(self, deviation: Deviation) -> Self {
        Self { deviation, ..self }
    }

    /// Steps 1 to 5.
    async fn internal_acquire(&self, time: Option<Duration>) -> Result<Held, LockError> {
        let env = self.client.env();
        let mut wait = time.map(|time| WaitBudget::new(time, env));
        let began = env.monotonic();
        let mut retry_count = 0;
        loop {
            match self.internal_acquire_1_lease(&mut wait).await? {
                InternalAcquireResult::Continue(lease) => return Ok(Held::at(lease)),
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

    async fn internal_acquire_1_lease(
        &self,
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
        let (result, lease) = self.take_lease(wait).await;
        interrupted.disarm();
        let released = lock.release(held).await; // Step 5.
        match (&released, lease) {
            (Ok(()), Some(lease)) => lease.disarm(),
            (Err(_), Some(lease)) => lease.clean_up().await,
            (_, None) => {}
        }
        released?;
        Ok(result?)
    }

    /// Steps 2 to 4. What gives the lease back if the acquire fails after all, where anything does.
    async fn take_lease(
        &self,
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
            return (self.count_leases(&path, wait).await, None);
        }
        let result = self.count_leases(&path, wait).await;
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

    /// Step 3.
    async fn count_leases(
        &self,
        path: &Path,
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
            if self.deviation.counts.of(&children, node_name) <= max_leases {
                return Ok(InternalAcquireResult::Continue(Path::clone(path)));
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

    /// Step 6: `Lease.close`.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        Ok(self.client.delete_guaranteed(&held.path_or_key).await?)
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
