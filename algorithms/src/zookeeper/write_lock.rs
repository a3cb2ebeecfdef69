//! ZooKeeper's own lock for Java, as it ships. It must be caught by `zookeeper/write-lock`, by
//! `zookeeper/write-lock-unwatched`, and by `zookeeper/lost-create-reply`.
//!
//! # Source
//!
//! Apache ZooKeeper 3.9, `zookeeper-recipes-lock`: `WriteLock`, `LockWatcher`, `ZNodeName`, `ProtocolSupport`, as an
//! application has them that waits for `lockAcquired` of its `LockListener`, listens to the end of its session, and
//! calls `unlock` if it does not want to wait any more. Function names are those of the source.
//!
//! # Steps
//!
//! 1. `lock`, which is synchronized, as `unlock` is: make the node of the lock if it is not there. Then do what
//!    follows up to ten times, while the connection is lost, after pauses that grow by half a second.
//! 2. If we have no node: list the children, and take one whose name begins with `x-SESSION-` for ours. If there is
//!    none, create `lock/x-SESSION-`, an ephemeral sequential node.
//! 3. List the children, and sort them by number, and by what stands before it.
//! 4. If none is less than ours, and the first is ours, tell the listener that the lock is acquired.
//! 5. Otherwise look whether the last one that is less than ours exists, and leave a watch, whose `LockWatcher` calls
//!    `lock` on the event thread at whatever event. Whether it exists makes no difference.
//! 6. `unlock`: if we have a node, delete it, once. Whatever comes of it, we have none any more.
//!
//! # Guarantees
//!
//! - Of the callers whose listeners have said `lockAcquired`, one at a time holds the lock, while each is told when its
//!   session ends; and in the order in which they came.
//!
//! # Hazards
//!
//! - If the one ahead goes between steps 3 and 5, there is nothing left to watch, and the queue is not listed again:
//!   the lock is ours, and the listener is not told (scenario `zookeeper/write-lock-unwatched`).
//! - What is found in step 2 is a name, and what is made is a path. A node that was made by a create whose answer was
//!   lost is found by its name, less than its own path, and so waits for itself; it cannot be deleted either, for a
//!   name is no path (scenario `zookeeper/lost-create-reply`).
//! - `unlock` takes no watch back. When the one ahead of a waiter that has given up goes, its `LockWatcher` calls
//!   `lock`, and makes a node that no caller wants (scenario `zookeeper/write-lock`).
//! - A create that is interrupted leaves its node (scenario `incidents/curator-79`), as does a delete that is not
//!   answered.

mod monitor;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use self::monitor::Monitor;
use super::curator_mutex::CLAIMS;
use super::queue::{child, session_lost};
use crate::clients::completion::{Completion, completion};
use crate::clients::zookeeper::{CreateMode, Path, Watch, ZkError, ZkResult, ZooKeeper, sequence};
use crate::{Build, Env, Held, Lock, LockError, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-write-lock",
    summary: "ZooKeeper's own WriteLock for Java, as it ships.",
    source: "Apache ZooKeeper 3.9, zookeeper-recipes-lock, WriteLock",
    flaw: Some("a waiter that finds that the one ahead has just gone waits for it all the same"),
    claims: CLAIMS,
    inputs: &[crate::RecipeInput::LockNode],
    build: Build::ZooKeeper(&|zk, env, dir| Box::new(Application(WriteLock::new(zk, env, dir)))),
    ..super::predecessor_watch::RECIPE
};

/// How often an operation is tried while the connection is lost.
const RETRY_COUNT: u32 = 10;

/// What the pause after each try grows by.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// What the watchers and the callers of a lock share.
struct WriteLock {
    zk: ZooKeeper,
    env: Env,
    dir: Path,
    /// `synchronized`.
    monitor: Monitor,
    /// The path of our node, or its name if it was found.
    id: RefCell<Option<Path>>,
    /// What the listener was told last: whether the lock is acquired.
    acquired: Cell<bool>,
    waiter: Cell<Option<Completion<()>>>,
}

/// The part of a node's name that it is sorted by: `ZNodeName`.
fn znode_name(name: &str) -> (i64, &str) {
    (
        sequence(name),
        name.rsplit_once('-').map_or(name, |parts| parts.0),
    )
}

impl WriteLock {
    fn new(zk: ZooKeeper, env: Env, dir: Path) -> Rc<Self> {
        Rc::new(Self {
            zk,
            env,
            dir,
            monitor: Monitor::default(),
            id: RefCell::default(),
            acquired: Cell::new(false),
            waiter: Cell::default(),
        })
    }

    /// Step 1.
    async fn lock(self: &Rc<Self>) -> ZkResult<()> {
        let _synchronized = self.monitor.enter().await;
        // What fails is logged.
        let _logged = self.retry_operation(|| self.ensure_exists()).await;
        self.retry_operation(|| self.execute()).await
    }

    async fn retry_operation(
        &self,
        mut operation: impl AsyncFnMut() -> ZkResult<()>,
    ) -> ZkResult<()> {
        let mut exception = None;
        for attempt in 0..RETRY_COUNT {
            match operation().await {
                Err(error @ (ZkError::ConnectionLoss | ZkError::NoServer)) => {
                    exception.get_or_insert(error);
                    if attempt > 0 {
                        self.env.pause(RETRY_DELAY * attempt).await;
                    }
                }
                answer => return answer,
            }
        }
        exception.map_or(Ok(()), Err)
    }

    async fn ensure_exists(&self) -> ZkResult<()> {
        if self.zk.exists(&self.dir).await?.is_none() {
            self.zk
                .create(&self.dir, b"", CreateMode::Persistent)
                .await?;
        }
        Ok(())
    }

    /// Steps 2 to 5.
    async fn execute(self: &Rc<Self>) -> ZkResult<()> {
        loop {
            let id = self.find_prefix_in_children().await?;
            let names = self.zk.children(&self.dir).await?;
            let mut nodes: Vec<Path> = names.names().map(|name| child(&self.dir, name)).collect();
            nodes.sort_unstable_by(|a, b| znode_name(a).cmp(&znode_name(b)));
            let Some(owner_id) = nodes.first() else {
                self.id.take();
                continue;
            };
            let less_than_me = nodes
                .iter()
                .rev()
                .find(|name| znode_name(name) < znode_name(&id));
            match less_than_me {
                None if *owner_id == id => self.lock_acquired(),
                None => {}
                Some(last_child_id) => {
                    let (_, watch) = self.zk.exists_and_watch(last_child_id).await?;
                    self.leaves_watcher(watch);
                }
            }
            return Ok(());
        }
    }

    /// Step 2.
    async fn find_prefix_in_children(&self) -> ZkResult<Path> {
        if let Some(id) = &*self.id.borrow() {
            return Ok(Path::clone(id));
        }
        let prefix = format!("x-{}-", self.zk.session().0);
        let names = self.zk.children(&self.dir).await?;
        let found = names.names().find(|name| name.starts_with(&prefix));
        let id = match found {
            Some(name) => Path::clone(name),
            None => {
                let (path, data) = (child(&self.dir, &prefix), [0x12, 0x34]);
                let mode = CreateMode::EphemeralSequential;
                self.zk.create(&path, &data, mode).await?
            }
        };
        self.id.replace(Some(Path::clone(&id)));
        Ok(id)
    }

    /// Step 5. A watcher hears of the session until it has heard of its node.
    fn leaves_watcher(self: &Rc<Self>, watch: Watch) {
        let lock = Rc::clone(self);
        self.env.spawn(async move {
            loop {
                let event = watch.next().await;
                // What fails is logged.
                let _logged = lock.zk.in_callback(lock.lock()).await;
                if !event.kind.is_session() {
                    return;
                }
            }
        });
    }

    fn lock_acquired(&self) {
        self.acquired.set(true);
        if let Some(waiter) = self.waiter.take() {
            waiter.complete(());
        }
    }

    /// Step 6.
    async fn unlock(&self) -> ZkResult<()> {
        let _synchronized = self.monitor.enter().await;
        let Some(id) = self.id.borrow().clone() else {
            return Ok(());
        };
        let deleted = match id.starts_with('/') {
            true => self.zk.delete(&id, None).await,
            false => Err(ZkError::BadArguments),
        };
        self.acquired.set(false);
        self.id.take();
        match deleted {
            Err(ZkError::NoNode) => Ok(()),
            answer => answer,
        }
    }
}

/// An application that waits for the lock.
struct Application(Rc<WriteLock>);

#[async_trait(?Send)]
impl Lock for Application {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let request = Request::of(&self.0);
        let session_lost = async { Err(session_lost(&self.0.zk).await) };
        let acquired = select(request.acquired(), session_lost).await;
        match &acquired {
            Ok(_) => request.granted(),
            Err(_) => request.given_up().await,
        }
        acquired
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        Ok(self.0.unlock().await?)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.0.zk).await
    }
}

/// An acquire that has not returned. If it is dropped, the application calls `unlock`.
struct Request {
    lock: Rc<WriteLock>,
    is_over: bool,
}

impl Request {
    fn of(lock: &Rc<WriteLock>) -> Self {
        Self {
            lock: Rc::clone(lock),
            is_over: false,
        }
    }

    async fn acquired(&self) -> Result<Held, LockError> {
        self.lock.lock().await?;
        while !self.lock.acquired.get() {
            let (told, acquired) = completion();
            self.lock.waiter.set(Some(told));
            acquired.await;
        }
        let id = self.lock.id.borrow().clone();
        id.map(Held::at).ok_or(LockError::PlaceLost)
    }

    fn granted(mut self) {
        self.is_over = true;
    }

    async fn given_up(mut self) {
        self.is_over = true;
        // The caller gets the first error, not this one.
        let _quietly = self.lock.unlock().await;
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.is_over {
            let lock = Rc::clone(&self.lock);
            self.lock.env.spawn(async move {
                let _quietly = lock.unlock().await;
            });
        }
    }
}
