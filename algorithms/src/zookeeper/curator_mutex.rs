//! Curator's `InterProcessMutex`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessMutex`, `LockInternals`, `StandardLockInternalsDriver`. That a holder must listen
//! is in Curator's documentation of *Shared Reentrant Lock* and in Tech Note 10.
//!
//! # Steps
//!
//! Functions have Curator's names.
//! 0. If we hold the lock already, count one more entry, and send no request.
//! 1. Create `lock/_c_GUID-lock-` as an ephemeral sequential node that is open to all, with the address of our host
//!    for data. The create is protected: repeated by the retry policy, in a new session too, and looked for by its guid
//!    before it is made again (`clients::curator`). If its parent is not there, make what is missing above it, as
//!    containers, and try once more; if the parent has gone again, go on as in step 3.
//! 2. List the children, and sort them by what comes after the last `lock-`, as text.
//! 3. If our node is not among them, go to 1, for as long as the retry policy allows.
//! 4. If it is the first, we hold the lock.
//! 5. Otherwise watch the data of the one ahead of it; on any event, or if it is gone, go to 2. If we wait for a time,
//!    and it is over by the wall clock, delete our node; that was in vain.
//! 6. If any of that fails, delete our node, however long that takes.
//! 7. To release, count one entry less; with the last, delete our node, however long that takes.
//!
//! # Guarantees
//!
//! - As for the predecessor watch, without a token; and no node outlives a failed `acquire` (`no-orphan`).
//!
//! # Hazards
//!
//! - The look-up by guid is not ordered behind the create: after a move to a server that lags it misses the node, and
//!   the contender queues twice, behind itself (CURATOR-264, scenario `zookeeper/lookup-without-sync`).
//! - There is no token, so a pause that outlasts the session lets a stale write through (scenario
//!   `zookeeper/gc-pause`); Curator leaves that to the caller.
//! - `isAcquiredInThisProcess` and re-entrant calls go by a map of threads, which keeps its entry when the session is
//!   gone: another entry is granted though there is no node any more.
//! - The listener is called on account of an event. While a callback blocks the event thread, it is not called, and the
//!   section goes on (Tech Note 1, scenario `zookeeper/blocked-event-thread`).
//! - A node is trusted, whatever session has made it. When the connection has been lost for all of the session timeout,
//!   the framework goes on in a new session, and so does a call that waits; the servers may keep the old session for
//!   longer, with its node, and the contender that enters on it is not told when it ends (CURATOR-604, scenarios
//!   `zookeeper/curator-outlived-session` and `zookeeper/curator-unheard-session`; `curator-mutex-owner-check` asks).
//! - The parent is a container: when the queue has been empty for a while, ZooKeeper deletes it. The next contender
//!   makes it again, and the sequence numbers begin with zero again (scenario `zookeeper/container-reaped`).
//! - The time that a timed acquire waits is looked at only between a look at the queue and the next wait. A call that
//!   is repeated for long, or not answered, takes longer.

mod claims;
mod cleanup;
mod deviation;
mod driver;
mod revocation_spec;
mod wait;
mod write_lock;

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

pub(super) use claims::{CLAIMS, REENTRANT_CLAIMS};
pub(super) use cleanup::CleanupGuard;
pub(super) use deviation::Deviation;
pub(super) use driver::{
    LockInternalsDriver, PredicateResults, StandardLockInternalsDriver, after_mark, our_index,
};
pub(super) use revocation_spec::{REVOKE_MESSAGE, RevocationSpec, SecondRead};
pub(super) use wait::WaitBudget;
pub(super) use write_lock::HeldWrite;

use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::curator::{Curator, CuratorConfig, ErrorPolicy, ErrorState};
use crate::clients::zookeeper::{Path, ZkError, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe, RecipeInput, timeout};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::GetData,
    RequestKind::GetChildren,
];

/// What it goes by besides.
pub(super) const INPUTS: &[RecipeInput] = &[
    RecipeInput::WallClock,
    RecipeInput::LockNode,
    RecipeInput::TryAcquire,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex",
    summary: "Curator's InterProcessMutex: protected create, predecessor watch, guaranteed delete, and a listener.",
    source: "Apache Curator 5.4, InterProcessMutex; Tech Note 10",
    flaw: None,
    claims: REENTRANT_CLAIMS,
    ownership: OwnershipRule::LOWEST_CHILD,
    requests: REQUESTS,
    inputs: INPUTS,
    cancellable: true,
    shareable: true,
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(InterProcessMutex::new(zk, env, lock, Deviation::NONE))
    }),
};

/// The lock.
pub struct InterProcessMutex {
    internals: LockInternals,
    /// What this thread holds.
    thread_data: Option<LockData>,
}

/// A hold, and how often its thread has entered it.
struct LockData {
    held: Held,
    lock_count: u32,
}

impl InterProcessMutex {
    pub(super) fn new(zk: ZooKeeper, env: Env, path: Path, deviation: Deviation) -> Self {
        Self::of(zk, env, path, deviation, CuratorConfig::default())
    }

    /// A lock over a framework that is set otherwise, and told to stop when its session is lost.
    pub fn with_settings(zk: ZooKeeper, env: Env, path: Path, settings: CuratorConfig) -> Self {
        let deviation = Deviation {
            policy: ErrorPolicy::Session,
            ..Deviation::NONE
        };
        Self::of(zk, env, path, deviation, settings)
    }

    fn of(zk: ZooKeeper, env: Env, path: Path, deviation: Deviation, with: CuratorConfig) -> Self {
        Self::on(Curator::of_process(zk, env, with), path, deviation)
    }

    /// A lock on a framework that is there already.
    pub(super) fn on(client: Curator, path: Path, deviation: Deviation) -> Self {
        let driver = &StandardLockInternalsDriver;
        Self::with_driver(client, path, (LOCK_NAME, driver), deviation)
    }

    /// A lock whose nodes have this name, and that goes by this driver.
    pub(super) fn with_driver(
        client: Curator,
        base_path: Path,
        (lock_name, driver): (&'static str, &'static dyn LockInternalsDriver),
        deviation: Deviation,
    ) -> Self {
        let internals = LockInternals {
            client,
            base_path,
            lock_name,
            driver,
            max_leases: 1,
            deviation,
            revocable: None,
            under_write: None,
        };
        Self {
            internals,
            thread_data: None,
        }
    }

    /// The same, which so many may have at once.
    pub(super) fn leasing(mut self, max_leases: u32) -> Self {
        self.internals.max_leases = max_leases as usize;
        self
    }

    /// The same object, used by another thread: each has an entry of its own in `threadData`.
    pub(super) fn of_thread(&self) -> Self {
        Self {
            internals: self.internals.clone(),
            thread_data: None,
        }
    }

    /// From its next `acquire` on, others may ask for it.
    pub(super) fn make_revocable(&mut self, spec: RevocationSpec) {
        self.internals.revocable = Some(spec);
    }

    /// Steps 0 to 6.
    async fn internal_lock(&mut self, time: Option<Duration>) -> Result<Held, LockError> {
        if let Some(data) = &mut self.thread_data {
            data.lock_count += 1;
            return Ok(data.held.clone());
        }
        let held = Held::at(self.internals.attempt_lock(time).await?);
        self.thread_data = Some(LockData {
            held: held.clone(),
            lock_count: 1,
        });
        Ok(held)
    }
}

#[async_trait(?Send)]
impl Lock for InterProcessMutex {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.internal_lock(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.internal_lock(Some(time)).await
    }

    /// Step 7. Whatever comes of it, we hold the lock no longer.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let mut data = self.thread_data.take().ok_or(LockError::NotHeld)?;
        if data.lock_count > 1 {
            data.lock_count -= 1;
            self.thread_data = Some(data);
            return Ok(());
        }
        let our_path = &data.held.path_or_key;
        Ok(self.internals.delete_our_path(our_path).await?)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        let policy = self.internals.deviation.policy;
        match self.internals.client.error(policy).await {
            ErrorState::Suspended => LockError::Disconnected,
            ErrorState::Lost => LockError::SessionExpired,
        }
    }

    fn renews_sessions(&self) -> bool {
        true
    }

    fn for_task(&self, _env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(self.of_thread()))
    }
}

#[derive(Clone)]
struct LockInternals {
    client: Curator,
    base_path: Path,
    lock_name: &'static str,
    driver: &'static dyn LockInternalsDriver,
    /// How many may have it at once.
    max_leases: usize,
    deviation: Deviation,
    /// What others may ask for it by, if they may.
    revocable: Option<RevocationSpec>,
    /// The write lock that this thread holds, of a read mutex.
    under_write: Option<HeldWrite>,
}

impl LockInternals {
    /// Steps 1 to 6.
    async fn attempt_lock(&self, time: Option<Duration>) -> Result<Path, LockError> {
        let env = self.client.env();
        let mut wait = time.map(|time_to_wait| WaitBudget::new(time_to_wait, env));
        let began = env.monotonic();
        let mut retry_count = 0;
        loop {
            let error = match self.creates_and_waits(&mut wait).await {
                Ok(Some(our_path)) => return Ok(our_path),
                Ok(None) => return Err(LockError::AcquireTimeout),
                Err(error) if error == ZkError::NoNode => error,
                Err(error) => return Err(error.into()),
            };
            let elapsed = env.monotonic().saturating_sub(began);
            let policy = self.client.retry_policy();
            let Some(sleep) = policy.allow_retry(retry_count, elapsed, env) else {
                return Err(error.into());
            };
            retry_count += 1;
            env.pause(sleep).await; // Step 3.
        }
    }

    /// Steps 1 to 6, once. Nothing if the time is over.
    async fn creates_and_waits(&self, wait: &mut Option<WaitBudget>) -> ZkResult<Option<Path>> {
        let our_path = self.creates_the_lock().await?; // Step 1.
        let cleanup = CleanupGuard::new(&self.client, &our_path);
        match self.internal_lock_loop(&our_path, wait).await {
            Ok(true) => {
                cleanup.disarm();
                Ok(Some(our_path))
            }
            Ok(false) => {
                cleanup.disarm();
                if self.deviation.deletes_our_path {
                    self.delete_our_path(&our_path).await?;
                }
                Ok(None)
            }
            Err(error) => {
                cleanup.clean_up().await; // Step 6.
                Err(error)
            }
        }
    }

    /// Steps 2 to 5. Whether we have the lock before the time is over.
    async fn internal_lock_loop(
        &self,
        our_path: &Path,
        wait: &mut Option<WaitBudget>,
    ) -> ZkResult<bool> {
        if let Some(revocable) = &self.revocable {
            revocable.watch(&self.client, our_path).await?;
        }
        loop {
            // The list is not kept while it waits: Java collects it then.
            let path_to_watch = {
                let children = self.get_sorted_children().await?;
                let sequence_node_name = our_path.rsplit('/').next().unwrap_or_default();
                let driver = self.driver;
                if self.under_write.is_some() {
                    return Ok(true);
                }
                match driver.gets_the_lock(&children, sequence_node_name, self.max_leases)? {
                    PredicateResults::GetsTheLock => None,
                    PredicateResults::PathToWatch(name) => Some(child(&self.base_path, name)),
                }
            };
            let Some(path_to_watch) = path_to_watch else {
                return self.is_of_this_session(our_path).await;
            };
            let watch = async |zk: &ZooKeeper| zk.data_and_watch(&path_to_watch).await;
            let changed = match self.client.call_with_retry(watch).await {
                Ok((_, _, changed)) => changed,
                Err(ZkError::NoNode) => continue,
                Err(error) => return Err(error),
            };
            let notified = async {
                changed.next().await;
            };
            match wait {
                None => notified.await,
                Some(wait) => match wait.left(self.client.env()) {
                    Some(left) => {
                        timeout(self.client.env(), left, notified).await;
                    }
                    None => return Ok(false),
                },
            }
        }
    }

    /// Step 2.
    async fn get_sorted_children(&self) -> ZkResult<Vec<Rc<str>>> {
        // Curator asks for the stat, and does not use it.
        let list = async |zk: &ZooKeeper| zk.children_with_stat(&self.base_path).await;
        let children = match self.client.call_with_retry(list).await {
            Ok((children, _)) => children,
            // Our own node is not there, so the caller does not go on.
            Err(ZkError::NoNode) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names: Vec<Rc<str>> = children.names().cloned().collect();
        let driver = self.driver;
        names.sort_unstable_by(|a, b| driver.fix_for_sorting(a).cmp(driver.fix_for_sorting(b)));
        Ok(names)
    }

    /// A node of another session is about to go, and as good as gone.
    async fn is_of_this_session(&self, our_path: &Path) -> ZkResult<bool> {
        if !self.deviation.checks_owner {
            return Ok(true);
        }
        let owner = async |zk: &ZooKeeper| {
            let (_, stat) = zk.data(our_path).await?;
            Ok(stat.ephemeral_owner == zk.session())
        };
        let is_ours = self.client.call_with_retry(owner).await?;
        is_ours.then_some(true).ok_or(ZkError::NoNode)
    }

    async fn delete_our_path(&self, our_path: &Path) -> ZkResult<()> {
        self.client.delete_guaranteed(our_path).await
    }
}

/// What stands before the sequence number of a node.
const LOCK_NAME: &str = "lock-";
