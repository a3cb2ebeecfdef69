//! kazoo's `Lock`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! kazoo 2.11, `recipe/lock.py`: `Lock`. That a holder must listen for `SUSPENDED` and `LOST` is in the head of that
//! file. Function names are kazoo's. The client is that of `clients::kazoo`.
//!
//! # Steps
//!
//! 1. `_inner_acquire`: make the lock's own node if it is missing (`ensure_path`).
//! 2. If this object has tried to create before, list the children, and look for its uuid (`_find_node`). If there is
//!    no such node, create `lock/UUID__lock__` as an ephemeral sequential node. The uuid is that of the object, for
//!    life.
//! 3. List the children (`_get_predecessor`). If ours is not among them, begin again with 1 (`ForceRetryError`). Of
//!    those with `__lock__` in their names whose number is less than ours, as text, the last is ahead of us. If there
//!    is none, we hold the lock.
//! 4. Otherwise read its data and watch it, and wait for an event of the watch or of the session; for `timeout` each
//!    time, if there is one. Then go to 3.
//! 5. Steps 1 to 4 are repeated by `KazooRetry`, for ever, or for `timeout`, in a new session too.
//! 6. An acquire that fails deletes its node, once, and swallows the error of that (`_best_effort_cleanup`).
//! 7. `release`: delete our node, until that is answered.
//!
//! `cancel` of another thread sets a flag (`cancelled`), and wakes the acquire if it waits in step 4. The acquire looks
//! at the flag before each step 3; if it is set, it fails, with step 6, and clears it. Nothing ends a release.
//!
//! # Guarantees
//!
//! - As for the predecessor watch, without a token.
//!
//! # Hazards
//!
//! - The delete of step 6 is tried once. If the connection is lost then, the node stays for as long as the session
//!   lives, and every contender behind it waits (#732, scenario `incidents/kazoo-732`).
//! - `_find_node` is not ordered behind the create, and so misses a node that a server that lags has not seen
//!   (scenario `zookeeper/lookup-without-sync`). It takes a node of an older session, too, which is about to go.
//! - An object that is acquired and asked to acquire again repeats step 1 until its timeout.
//! - Nothing else clears the flag. A `cancel` that comes when the acquire has looked for the last time, or when none is
//!   pending, fails the next one at once (scenario `zookeeper/late-cancel`).
//! - There is no token, so a pause that outlasts the session lets a stale write through.

use std::time::Duration;

use async_trait::async_trait;

use super::cancel_flag::CancelFlag;
use super::hardened::disconnected;
use super::queue::child;
use crate::clients::completion::{Answer, Completion, completion};
use crate::clients::kazoo::{Failed, KazooClient};
use crate::clients::zookeeper::{CreateMode, Path, ZkError, ZkResult, ZooKeeper};
use crate::{
    Build, CancelCall, Claim, Env, Held, Lock, LockError, Recipe, RecipeInput, select, timeout,
};

/// What it promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::HonestAnswer,
];

/// What it goes by besides.
pub(super) const INPUTS: &[RecipeInput] = &[
    RecipeInput::CancelCall,
    RecipeInput::LockNode,
    RecipeInput::TryAcquire,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-lock",
    summary: "kazoo's Lock: a uuid for life, a predecessor watch, best-effort cleanup, and a listener.",
    source: "kazoo 2.11, recipe/lock.py, Lock",
    claims: CLAIMS,
    inputs: INPUTS,
    build: Build::ZooKeeper(&|zk, env, path| {
        let client = KazooClient::of_process(zk, &env);
        Box::new(KazooLock::new(client, path, &env, NAMES))
    }),
    ..super::hardened::RECIPE
};

/// What nodes are called, and for which others they wait.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// `_NODE_NAME`.
    pub(super) node_name: &'static str,
    /// `_EXCLUDE_NAMES`.
    pub(super) exclude_names: &'static [&'static str],
}

/// Those of `Lock`.
pub(super) const NAMES: Names = Names {
    node_name: "__lock__",
    exclude_names: &["__lock__"],
};

/// The lock.
pub(super) struct KazooLock {
    client: KazooClient,
    path: Path,
    names: Names,
    /// The uuid and the node's name.
    prefix: String,
    create_tried: bool,
    is_acquired: bool,
    assured_path: bool,
    cancelled: CancelFlag,
    node: Option<String>,
    /// The session in which the lock was acquired.
    acquired_in: Option<ZooKeeper>,
    /// The cleanup behind a call that was given up.
    cleaning: Option<Answer<()>>,
}

impl KazooLock {
    pub(super) fn new(client: KazooClient, path: Path, env: &Env, names: Names) -> Self {
        Self {
            client,
            path,
            names,
            prefix: env.guid() + names.node_name,
            create_tried: false,
            is_acquired: false,
            assured_path: false,
            cancelled: CancelFlag::default(),
            node: None,
            acquired_in: None,
            cleaning: None,
        }
    }

    /// Steps 1 to 6.
    async fn acquire_for(&mut self, time: Option<Duration>) -> Result<Held, LockError> {
        if let Some(cleaning) = self.cleaning.take() {
            cleaning.await;
        }
        let (cleaned, cleaning) = completion();
        self.cleaning = Some(cleaning);
        let cleanup = CleanupGuard {
            client: self.client.clone(),
            path: Path::clone(&self.path),
            prefix: self.prefix.clone(),
            cleaned: Some(cleaned),
        };
        let client = self.client.clone();
        let deadline = time.filter(|time| !time.is_zero());
        let got = client.retry(deadline, async || self.inner_acquire(time).await);
        let failed = match got.await {
            Ok(held) => {
                cleanup.disarm();
                self.is_acquired = true;
                return Ok(held);
            }
            Err(failed) => failed,
        };
        cleanup.clean_up().await;
        self.node = None;
        if failed != Failed::RetryFailed {
            self.cancelled.clear();
        }
        Err(match failed {
            Failed::Keeper(error) => error.into(),
            Failed::Cancelled => LockError::Cancelled,
            Failed::ForceRetry | Failed::RetryFailed | Failed::Timeout => LockError::AcquireTimeout,
        })
    }

    async fn inner_acquire(&mut self, time: Option<Duration>) -> Result<Held, Failed> {
        if self.is_acquired {
            return Err(Failed::ForceRetry);
        }
        if !self.assured_path {
            self.client.ensure_path(&self.path).await?; // Step 1.
            self.assured_path = true;
        }
        let node = self.find_or_create().await?; // Step 2.
        loop {
            let cancelled = self.cancelled.next();
            if self.cancelled.is_set() {
                return Err(Failed::Cancelled);
            }
            let Some(predecessor) = self.get_predecessor(&node).await? else {
                self.acquired_in = Some(self.client.session());
                return Ok(Held::at(child(&self.path, &node)));
            };
            if time == Some(Duration::ZERO) {
                return Err(Failed::Timeout); // `blocking=False`
            }
            let zk = self.client.session();
            let states = zk.session_events();
            let watched = zk.data_and_watch(&child(&self.path, &predecessor)).await;
            let changed = match watched {
                Ok((_, _, changed)) => changed,
                Err(ZkError::NoNode) => continue,
                Err(error) => return Err(error.into()),
            };
            let wake_event = async {
                let told = async {
                    select(changed.next(), states.next()).await;
                };
                select(told, cancelled).await;
            };
            match time {
                None => wake_event.await,
                Some(time) => {
                    let set = timeout(self.client.env(), time, wake_event).await;
                    set.ok_or(Failed::Timeout)?; // Step 4.
                }
            }
        }
    }

    async fn find_or_create(&mut self) -> ZkResult<String> {
        let found = match self.create_tried {
            true => find_node(&self.client.session(), &self.path, &self.prefix).await?,
            false => None,
        };
        self.create_tried = true;
        let node = match found {
            Some(node) => node,
            None => {
                let create_path = child(&self.path, &self.prefix);
                let mode = CreateMode::EphemeralSequential;
                let zk = self.client.session();
                let path = zk.create(&create_path, b"", mode).await?;
                path[self.path.len() + 1..].to_owned()
            }
        };
        Ok(self.node.insert(node).clone())
    }

    /// Step 3.
    async fn get_predecessor(&self, node: &str) -> Result<Option<String>, Failed> {
        let children = self.client.session().children(&self.path).await?;
        let mut names = children.names();
        if !names.any(|name| **name == *node) {
            return Err(Failed::ForceRetry);
        }
        let is_contender = |name: &&str| {
            let number = sequence(name);
            let excludes = |mark: &&str| name[..name.len() - number.len()].ends_with(*mark);
            self.names.exclude_names.iter().any(excludes) && number < sequence(node)
        };
        let contenders = children.names().map(|name| &**name).filter(is_contender);
        Ok(contenders
            .max_by_key(|name| sequence(name))
            .map(str::to_owned))
    }

    async fn inner_release(&self) -> Result<(), Failed> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        match delete_node(&self.client.session(), &self.path, node).await {
            Ok(()) | Err(ZkError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The number at the end of a name, which is compared as text.
fn sequence(name: &str) -> &str {
    &name[name.len().saturating_sub(10)..]
}

/// `_find_node`.
async fn find_node(zk: &ZooKeeper, path: &Path, prefix: &str) -> ZkResult<Option<String>> {
    let children = zk.children(path).await?;
    let mut names = children.names();
    let ours = names.find(|name| name.starts_with(prefix));
    Ok(ours.map(|name| (**name).to_owned()))
}

/// `_delete_node`.
async fn delete_node(zk: &ZooKeeper, path: &Path, node: &str) -> ZkResult<()> {
    zk.delete(&child(path, node), None).await
}

#[async_trait(?Send)]
impl Lock for KazooLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.acquire_for(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.acquire_for(Some(time)).await
    }

    fn cancel_call(&self) -> Option<CancelCall> {
        Some(self.cancelled.cancel_call())
    }

    /// Step 7.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        if !self.is_acquired {
            return Err(LockError::NotHeld);
        }
        let released = self.client.retry(None, async || self.inner_release().await);
        match released.await {
            Ok(()) => {
                self.is_acquired = false;
                self.node = None;
                Ok(())
            }
            Err(Failed::Keeper(error)) => Err(error.into()),
            Err(Failed::ForceRetry | Failed::RetryFailed | Failed::Timeout | Failed::Cancelled) => {
                Err(LockError::TimedOut)
            }
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.acquired_in {
            Some(zk) => disconnected(zk).await,
            None => LockError::NotHeld,
        }
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}

/// Step 6. If the acquire is dropped, it goes on in the background, as in kazoo's thread after a `cancel`.
struct CleanupGuard {
    client: KazooClient,
    path: Path,
    prefix: String,
    cleaned: Option<Completion<()>>,
}

impl CleanupGuard {
    /// The lock is held, and `release` will see to the node.
    fn disarm(mut self) {
        if let Some(cleaned) = self.cleaned.take() {
            cleaned.complete(());
        }
    }

    /// Whatever comes of it is swallowed.
    async fn clean_up(mut self) {
        let cleaned = self.cleaned.take();
        best_effort_cleanup(&self.client, &self.path, &self.prefix).await;
        if let Some(cleaned) = cleaned {
            cleaned.complete(());
        }
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        if let Some(cleaned) = self.cleaned.take() {
            let (client, path) = (self.client.clone(), Path::clone(&self.path));
            let prefix = std::mem::take(&mut self.prefix);
            self.client.env().spawn(async move {
                best_effort_cleanup(&client, &path, &prefix).await;
                cleaned.complete(());
            });
        }
    }
}

/// `_best_effort_cleanup`.
async fn best_effort_cleanup(client: &KazooClient, path: &Path, prefix: &str) {
    let zk = client.session();
    if let Ok(Some(node)) = find_node(&zk, path, prefix).await {
        let _swallowed = delete_node(&zk, path, &node).await;
    }
}
