//! Curator's `DistributedDoubleBarrier`.
//!
//! # Source
//!
//! Apache Curator: `DistributedDoubleBarrier`, with `internalEnter` as the pull request of GH-1290 (July 2026)
//! describes it. Names of functions and fields are Curator's.
//!
//! # Steps
//!
//! One watcher serves all calls. On each event, of a node or of the connection, it notes in `connectionLost` whether
//! the connection is lost, and wakes the thread that waits. An event that comes while a call does something else wakes
//! the next wait of that call.
//!
//! `enter`:
//! 1. Look whether `readyPath` is there, with the watcher.
//! 2. Create `ourPath` as an ephemeral node, whose name is a random one of this object.
//! 3. If `readyPath` was there, that is all. Otherwise (`internalEnter`) list the children; if there are `memberQty`,
//!    create `readyPath`; otherwise wait, and list them again.
//! 4. If the connection is lost, fail.
//!
//! `leave` (`internalLeave`):
//! 5. If the connection is lost, fail. List the children without `readyPath`. If there are none, go to 8.
//! 6. If there is one, delete `ourPath`, unless we have, and go to 8.
//! 7. If ours is the lowest, look whether the highest is there, with the watcher. Otherwise look whether the lowest is
//!    there, and delete `ourPath`, unless we have. If it is there, wait. Go to 5.
//! 8. Delete `readyPath`.
//!
//! # Guarantees
//!
//! - No process enters before all have come (half of `barrier`).
//!
//! # Hazards
//!
//! - Step 6 does not look whose node the one is. A process that has deleted its own and is woken by its connection
//!   leaves while the last is still inside (scenario `zookeeper/barrier-reconnect`).
//! - Step 3 counts `readyPath` as one of the children, and does not look for it again. A process that is woken late,
//!   when two others have left, counts too few and waits for ever (scenario `zookeeper/late-to-the-barrier`).
//! - Calls are repeated by the retry policy. A create or a delete that was done and not answered fails when it is
//!   repeated: the party never enters, or leaves by an error.
//! - `connectionLost` is not reset with a new session: a process that tries again fails.
//! - A process that is restarted has another random name, and counts twice until its old session has ended (scenario
//!   `zookeeper/restarted-at-the-barrier`).
//! - The object serves once: a process that comes again before the last has left keeps that from leaving.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use async_trait::async_trait;

use super::double_barrier::READY;
use super::queue::child;
use crate::clients::completion::{Completion, completion};
use crate::clients::curator::{Curator, CuratorConfig};
use crate::clients::zookeeper::{
    CreateMode, EventType, Path, SessionState, Watch, WatchedEvent, ZkError, ZkResult, ZooKeeper,
};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-double-barrier",
    summary: "Curator's DistributedDoubleBarrier since GH-1290: a process woken on entering counts again.",
    source: "Apache Curator, DistributedDoubleBarrier; GH-1290",
    flaw: Some(
        "a process that its connection wakes leaves if one node is left, even if that is another's",
    ),
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(DistributedDoubleBarrier::new(
            zk,
            env,
            path,
            Wakes::CountAgain,
        ))
    }),
    ..super::double_barrier::RECIPE
};

/// What a process that waits to enter does when it is woken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wakes {
    /// It counts again.
    CountAgain,
    /// It enters.
    Enter,
}

/// The barrier.
pub(super) struct DistributedDoubleBarrier {
    client: Curator,
    barrier_path: Path,
    our_path: Path,
    ready_path: Path,
    member_qty: usize,
    watcher: Rc<Watcher>,
    wakes: Wakes,
}

/// What the watcher has been told, and the call that waits for it.
#[derive(Default)]
struct Watcher {
    connection_lost: Cell<bool>,
    notified: Cell<bool>,
    waiter: Cell<Option<Completion<()>>>,
}

impl Watcher {
    fn process(&self, event: &WatchedEvent) {
        let lost = match event.kind {
            EventType::Session(state) => state != SessionState::Connected,
            EventType::NodeCreated
            | EventType::NodeDeleted
            | EventType::NodeDataChanged
            | EventType::NodeChildrenChanged
            | EventType::DataWatchRemoved
            | EventType::ChildWatchRemoved
            | EventType::PersistentWatchRemoved => false,
        };
        self.connection_lost.set(lost);
        self.notified.set(true);
        if let Some(waiter) = self.waiter.take() {
            waiter.complete(());
        }
    }

    /// A call takes the monitor: earlier notifications do not wake it.
    fn synchronized(&self) {
        self.notified.set(false);
    }

    async fn wait(&self) {
        while !self.notified.get() {
            let (told, notified) = completion();
            self.waiter.set(Some(told));
            notified.await;
        }
        self.notified.set(false);
    }
}

impl DistributedDoubleBarrier {
    pub(super) fn new(zk: ZooKeeper, env: Env, barrier_path: Path, wakes: Wakes) -> Self {
        let our_path = child(&barrier_path, &env.guid());
        let ready_path = child(&barrier_path, READY);
        Self {
            client: Curator::of_process(zk, env, CuratorConfig::default()),
            barrier_path,
            our_path,
            ready_path,
            member_qty: 1,
            watcher: Rc::default(),
            wakes,
        }
    }

    async fn enter(&self) -> ZkResult<()> {
        let ready_path_exists = self.check_exists(&self.ready_path).await?; // Step 1.
        self.create(&self.our_path, CreateMode::Ephemeral).await?; // Step 2.
        if !ready_path_exists {
            self.internal_enter().await?;
        }
        match self.watcher.connection_lost.get() {
            true => Err(ZkError::ConnectionLoss), // Step 4.
            false => Ok(()),
        }
    }

    /// Step 3.
    async fn internal_enter(&self) -> ZkResult<()> {
        self.watcher.synchronized();
        loop {
            if self.get_children().await?.len() >= self.member_qty {
                return match self.create(&self.ready_path, CreateMode::Persistent).await {
                    Err(ZkError::NodeExists) => Ok(()),
                    answer => answer,
                };
            }
            self.watcher.wait().await;
            if self.wakes == Wakes::Enter {
                return Ok(());
            }
        }
    }

    /// Steps 5 to 8.
    async fn internal_leave(&self) -> Result<(), LockError> {
        self.watcher.synchronized();
        let mut our_node_should_exist = true;
        loop {
            if self.watcher.connection_lost.get() {
                return Err(LockError::ConnectionLoss);
            }
            let children = self.filter_and_sort_children().await?;
            let ours = children.iter().position(|path| *path == self.our_path);
            let (lowest, highest) = match &*children {
                [] => break,
                _ if ours.is_none() && our_node_should_exist => return Err(LockError::PlaceLost),
                [_] => {
                    self.check_delete_our_path(our_node_should_exist).await?; // Step 6.
                    break;
                }
                [lowest, .., highest] => (lowest, highest),
            };
            // Step 7.
            let is_there = if ours == Some(0) {
                self.check_exists(highest).await?
            } else {
                let is_there = self.check_exists(lowest).await?;
                self.check_delete_our_path(our_node_should_exist).await?;
                our_node_should_exist = false;
                is_there
            };
            if is_there {
                self.watcher.wait().await;
            }
        }
        match self.delete(&self.ready_path).await {
            Ok(()) | Err(ZkError::NoNode) => Ok(()), // Step 8.
            Err(error) => Err(error.into()),
        }
    }

    async fn check_delete_our_path(&self, should_exist: bool) -> ZkResult<()> {
        match should_exist {
            true => self.delete(&self.our_path).await,
            false => Ok(()),
        }
    }

    async fn get_children(&self) -> ZkResult<Vec<Path>> {
        let path = &self.barrier_path;
        let children = self
            .client
            .call_with_retry(async |zk| zk.children(path).await)
            .await?;
        Ok(children.names().map(|name| child(path, name)).collect())
    }

    async fn filter_and_sort_children(&self) -> ZkResult<Vec<Path>> {
        let mut children = match self.get_children().await {
            Err(ZkError::NoNode) => Vec::new(),
            answer => answer?,
        };
        children.retain(|path| *path != self.ready_path);
        children.sort_unstable();
        Ok(children)
    }

    /// Whether a node is there; sets the watcher on it.
    async fn check_exists(&self, path: &Path) -> ZkResult<bool> {
        let (stat, watch) = self
            .client
            .call_with_retry(async |zk| zk.exists_and_watch(path).await)
            .await?;
        self.register(watch);
        Ok(stat.is_some())
    }

    /// Has the watcher told whatever this watch is told, until the session is gone.
    fn register(&self, watch: Watch) {
        let watcher = Rc::clone(&self.watcher);
        self.client.env().spawn(async move {
            loop {
                let event = watch.next().await;
                watcher.process(&event);
                let is_last = match event.kind {
                    EventType::Session(state) => state == SessionState::Closed,
                    _ => true,
                };
                if is_last {
                    return;
                }
            }
        });
    }

    async fn create(&self, path: &Path, mode: CreateMode) -> ZkResult<()> {
        let host = self.client.env().host();
        let create = async |zk: &ZooKeeper| zk.create(path, host.as_bytes(), mode).await;
        self.client.call_with_retry(create).await.map(|_| ())
    }

    async fn delete(&self, path: &Path) -> ZkResult<()> {
        self.client
            .call_with_retry(async |zk| zk.delete(path, None).await)
            .await
    }
}

#[async_trait(?Send)]
impl Lock for DistributedDoubleBarrier {
    fn set_parties(&mut self, parties: u32) {
        self.member_qty = parties as usize;
    }

    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.enter().await?;
        Ok(Held::at(Path::clone(&self.our_path)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.internal_leave().await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
