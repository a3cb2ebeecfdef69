//! The `LockClient` of `zookeeper-client` for Rust, in the hands of an application that watches the state of its
//! session.
//!
//! # Source
//!
//! `zookeeper-client` 0.11 for Rust: `Client::lock`, `LockPrefix`, `LockClient`; function names are those of the
//! source. What a holder has to do with the state of its session is that of Curator's Tech Note 10.
//!
//! # Steps
//!
//! 1. `create_lock`: create `lock/GUID-lock-` (`LockPrefix::new_custom`), an ephemeral sequential node. If the answer
//!    is lost, `find_lock`: list the children that begin so, read all of them in one request, and take the one whose
//!    owner is our session; if there is none, create it again.
//! 2. `wait_lock`: list the children of the lock with a number, sort them by it as text, and go on if ours is the
//!    first. If it is not there, that is `RuntimeInconsistent`.
//! 3. Otherwise watch the data of the one ahead; on any event, or if it is gone, go to 2. What is asked is asked
//!    until it is answered.
//! 4. To release, drop the `LockClient`: its node is deleted in the background, and the delete repeated until it is
//!    answered. Dropping the call of `lock` while it waits is the same. Dropping it in step 1 looks for the node as
//!    `find_lock` does, and deletes it.
//!
//! A holder does not say that it has released before the delete is answered: `drop` itself does not wait for that.
//!
//! # Guarantees
//!
//! - Those of every lock, and the order of the queue; and no node outlives the call that made it (`no-orphan`).
//!
//! # Hazards
//!
//! - What is written to ZooKeeper by the `LockClient` is written in one request with a check that the lock is still
//!   there. For a resource elsewhere there is no token (scenario `zookeeper/gc-pause` shows what that costs others).
//! - The look-up after a lost answer goes to a server that may lag, as with `own_nodes`.
//! - It knows its node by its number. When the lock was deleted and made again, that may be another's, and it takes
//!   itself for the owner (scenario `zookeeper/numbers-start-again`).
//! - `LockPrefix::new_curator` is not cleaned up behind in 0.11.1 (`rust_lock_client_curator_prefix`).

use std::rc::Rc;

use async_trait::async_trait;

use super::curator_mutex::{CLAIMS, after_mark};
use super::hardened::disconnected;
use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::completion::completion;
use crate::clients::zookeeper::{
    CreateMode, Path, ReadOp, ReadResult, ZkError, ZkResult, ZooKeeper, until_answered,
};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The requests that it makes with a prefix of one's own.
const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::GetData,
    RequestKind::GetChildren,
    RequestKind::MultiRead,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "rust-lock-client",
    summary: "The LockClient of zookeeper-client for Rust, whose holder watches the state of its session.",
    source: "zookeeper-client 0.11 for Rust, Client::lock; Apache Curator, Tech Note 10",
    claims: CLAIMS,
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, dir| {
        let kind = LockPrefixKind::Custom;
        Box::new(RustLock { zk, env, dir, kind })
    }),
    ..super::hardened::RECIPE
};

/// What stands before the sequence number of a node.
const LOCK_NAME: &str = "lock-";

/// What the names of nodes begin with, and how our own is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockPrefixKind {
    /// As Curator's: found by its guid.
    Curator,
    /// Of one's own: found by its owner, too.
    Custom,
}

/// The lock.
#[derive(Clone)]
pub(super) struct RustLock {
    pub(super) zk: ZooKeeper,
    pub(super) env: Env,
    pub(super) dir: Path,
    pub(super) kind: LockPrefixKind,
}

#[async_trait(?Send)]
impl Lock for RustLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let lock = self.create_lock().await?;
        let client = LockClient {
            zk: self.zk.clone(),
            env: self.env.clone(),
            lock: Some(lock),
        };
        client.wait_lock(&self.dir).await
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let (zk, lock) = (self.zk.clone(), held.path_or_key);
        let (told, deleted) = completion();
        self.env.spawn(async move {
            told.complete(delete_foreground(&zk, &lock).await);
        });
        Ok(deleted.await?)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        disconnected(&self.zk).await
    }
}

impl RustLock {
    /// Step 1.
    async fn create_lock(&self) -> ZkResult<Path> {
        let guid = self.env.guid();
        let name = match self.kind {
            LockPrefixKind::Curator => ["_c_", &guid, "-", LOCK_NAME].concat(),
            LockPrefixKind::Custom => [&guid, "-", LOCK_NAME].concat(),
        };
        let prefix = child(&self.dir, &name);
        let guard = LockingGuard {
            lock: self.clone(),
            name,
            armed: true,
        };
        let made = loop {
            let mode = CreateMode::EphemeralSequential;
            match self.zk.create_with_stat(&prefix, b"", mode).await {
                Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                    if let Some(found) = self.find_lock(&guard.name).await? {
                        break Ok(child(&self.dir, &found));
                    }
                }
                answer => break answer.map(|(path, _)| path),
            }
        };
        // Other errors say that nothing was made, or that it goes with its session.
        guard.disarm();
        made
    }

    /// The name of our node, if it is there.
    async fn find_lock(&self, name: &str) -> ZkResult<Option<Rc<str>>> {
        let children = until_answered(|| self.zk.children(&self.dir)).await?;
        let mut ours = children
            .names()
            .filter(|child| child.starts_with(name))
            .cloned();
        if self.kind == LockPrefixKind::Curator {
            return Ok(ours.next());
        }
        let ours: Vec<Rc<str>> = ours.collect();
        if ours.is_empty() {
            return Ok(None);
        }
        let reads = until_answered(async || {
            let reads = ours.iter().map(|name| ReadOp::Data(child(&self.dir, name)));
            self.zk.multi_read(reads.collect()).await
        });
        let results = reads.await?.into_iter().zip(ours);
        let mut ours = results.filter_map(|(result, name)| match result {
            Ok(ReadResult::Data { stat, .. }) if stat.ephemeral_owner == self.zk.session() => {
                Some(name)
            }
            Ok(_) | Err(_) => None,
        });
        Ok(ours.next())
    }
}

/// Dropped while it is armed, it looks for the node that may have been made, and deletes it in the background.
struct LockingGuard {
    lock: RustLock,
    name: String,
    armed: bool,
}

impl LockingGuard {
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for LockingGuard {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let (lock, name) = (self.lock.clone(), std::mem::take(&mut self.name));
        self.lock.env.spawn(async move {
            let Ok(Some(found)) = lock.find_lock(&name).await else {
                return;
            };
            let path = match lock.kind {
                // The flaw of the sibling: a name is no path.
                LockPrefixKind::Curator => found,
                LockPrefixKind::Custom => child(&lock.dir, &found),
            };
            let _ignored = delete_foreground(&lock.zk, &path).await;
        });
    }
}

/// A lock that is waited for. Dropped before it is held, its node is deleted in the background.
struct LockClient {
    zk: ZooKeeper,
    env: Env,
    lock: Option<Path>,
}

impl LockClient {
    /// Steps 2 and 3.
    async fn wait_lock(mut self, dir: &Path) -> Result<Held, LockError> {
        let lock = self.lock.clone().unwrap_or_default();
        let this = after_mark(&lock, LOCK_NAME);
        loop {
            let children = until_answered(|| self.zk.children(dir)).await?;
            let mut children: Vec<&Rc<str>> =
                children.names().filter(|name| is_candidate(name)).collect();
            children.sort_unstable_by(|a, b| number(a).cmp(number(b)));
            let ahead = match children.binary_search_by(|name| number(name).cmp(this)) {
                Ok(0) => {
                    self.lock = None;
                    return Ok(Held::at(lock));
                }
                Ok(index) => child(dir, children[index - 1]),
                Err(_) => {
                    self.lock = None;
                    return Err(LockError::PlaceLost);
                }
            };
            match until_answered(|| self.zk.data_and_watch(&ahead)).await {
                Ok((_, _, changed)) => {
                    changed.next().await;
                }
                Err(ZkError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The number of a node, as text.
fn number(name: &str) -> &str {
    after_mark(name, LOCK_NAME)
}

fn is_candidate(name: &str) -> bool {
    name.contains(LOCK_NAME) && number(name).parse::<i32>().is_ok()
}

impl Drop for LockClient {
    fn drop(&mut self) {
        let Some(lock) = self.lock.take() else {
            return;
        };
        let zk = self.zk.clone();
        self.env.spawn(async move {
            let _ignored = delete_foreground(&zk, &lock).await;
        });
    }
}

async fn delete_foreground(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    match until_answered(|| zk.delete(path, None)).await {
        Err(ZkError::NoNode) => Ok(()),
        answer => answer,
    }
}
