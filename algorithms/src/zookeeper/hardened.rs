//! The predecessor watch with every known hole closed.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, "Locks", and what went wrong with it since: CURATOR-264 and CURATOR-498
//! (look-up after a lost create), CURATOR-79 and kazoo #732 (cancelled acquire), CURATOR-206 (holder unaware).
//!
//! # Steps
//!
//! 1. Create `lock/guid-lock-` as an ephemeral sequential node, with a guid of this attempt. If the answer is lost:
//!    send a write that changes nothing, wait for its answer, look for the guid, and adopt the node only if it belongs
//!    to the *current* session. The write is behind the create in the one order of all writes, so the look-up sees the
//!    create if it was done. `sync` alone is not enough: a leader answers the `sync` of a client of its own at once,
//!    as if it were a read (see `sync_lookup`).
//! 2. List the children of `lock`, without a watch.
//! 3. If our node is the lowest, we hold the lock.
//! 4. Otherwise watch the data of the node just ahead of ours. Reading data leaves no watch if the node is gone.
//! 5. On any event of any kind, go to 2.
//! 6. Whatever ends `acquire` early, an error or a cancel, goes through one exit, which sees to it in the background
//!    that no node of this guid stays.
//! 7. While holding, stop believing as soon as the connection is down or our node is gone.
//! 8. `release` deletes our node, and asks again while the connection is lost. If the call is dropped meanwhile, the
//!    same goes on in the background (scenario `zookeeper/cancelled-release`).
//!
//! # Guarantees
//!
//! - As for the predecessor watch; and no node outlives the attempt that made it (`no-orphan`).
//!
//! # Hazards
//!
//! - A pause longer than the session (scenario `zookeeper/gc-pause`) and a server that is cut off from its leader
//!   (scenario `zookeeper/isolated-follower`) still leave two believers for a while: no client can know. Send the
//!   token with every write.
//! - A deadline that drops `acquire` cuts the look of step 2 short, too. Where places in the queue end faster than an
//!   event and an answer take, no contender enters (scenario `zookeeper/deadline-on-acquire`): end the wait of step 4
//!   alone.
//! - Step 7 waits for events. While a callback of the same process blocks the client's event thread, none is delivered
//!   (scenario `zookeeper/blocked-event-thread`); `own_timer` looks for itself.

use async_trait::async_trait;

use super::queue::{Ticket, child, delete_own, make_ticket, predecessor, prefix};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    EventType, Path, SessionState, ZkError, ZkResult, ZooKeeper, until_answered,
};
use crate::{Build, Env, Held, Lock, LockError, Recipe, select};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
    RequestKind::GetData,
    RequestKind::GetChildren,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-hardened",
    summary: "The predecessor watch with ordered look-ups, owner checks, and one exit that cleans up.",
    source: "Apache ZooKeeper, 'Locks'; CURATOR-79, -206, -264, -498; kazoo #732",
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(Hardened { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

pub(super) struct Hardened {
    pub(super) zk: ZooKeeper,
    pub(super) env: Env,
    pub(super) lock: Path,
}

#[async_trait(?Send)]
impl Lock for Hardened {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let exit = CleanupGuard::new(self.zk.clone(), self.env.clone(), Path::clone(&self.lock));
        let prefix = prefix(&self.lock, &exit.guid);
        let ticket = take_ticket(&self.zk, &self.lock, &exit.guid, &prefix).await?; // Step 1.
        wait_for_turn(&self.zk, &self.lock, &ticket).await?;
        exit.not_needed();
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_for_certain(&self.zk, &self.env, held.path_or_key).await // Step 8.
    }

    async fn lost(&self, held: &Held) -> LockError {
        down_or_gone(&self.zk, &held.path_or_key).await // Step 7.
    }
}

/// Step 1. A node of an old session is about to go with it, so it is deleted and not adopted. The prefix is what the
/// path of the node begins with, and has the guid in it.
pub(super) async fn take_ticket(
    zk: &ZooKeeper,
    lock: &Path,
    guid: &str,
    prefix: &Path,
) -> ZkResult<Ticket> {
    loop {
        match make_ticket(zk, prefix).await {
            Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                for path in nodes_of(zk, lock, guid).await? {
                    match until_answered(|| zk.exists(&path)).await? {
                        Some(stat) if stat.ephemeral_owner == zk.session() => {
                            return Ok(Ticket::new(path, stat.czxid));
                        }
                        Some(_) => delete_if_there(zk, &path).await?,
                        None => {}
                    }
                }
            }
            answer => return answer,
        }
    }
}

/// Steps 2 to 5.
async fn wait_for_turn(zk: &ZooKeeper, lock: &Path, ticket: &Ticket) -> Result<(), LockError> {
    loop {
        let children = until_answered(|| zk.children(lock)).await?;
        let Some(ahead) = predecessor(children, lock, ticket)? else {
            return Ok(());
        };
        match until_answered(|| zk.data_and_watch(&ahead)).await {
            Ok((_, _, gone)) => {
                gone.next().await;
            }
            Err(ZkError::NoNode) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The nodes of a guid, as of now: behind every write of this session that is still under way.
async fn nodes_of(zk: &ZooKeeper, lock: &Path, guid: &str) -> ZkResult<Vec<Path>> {
    let nothing = child(lock, &format!("{guid}-nothing"));
    // A refused write has its place in the order of all writes like any other.
    delete_if_there(zk, &nothing).await?;
    let children = until_answered(|| zk.children(lock)).await?;
    let ours = children.names().filter(|name| name.starts_with(guid));
    Ok(ours.map(|name| child(lock, name)).collect())
}

async fn delete_if_there(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    match until_answered(|| zk.delete(path, None)).await {
        Err(ZkError::NoNode) => Ok(()),
        answer => answer,
    }
}

/// Step 7: resolves when the connection is down, or our node is gone.
pub(super) async fn down_or_gone(zk: &ZooKeeper, node: &Path) -> LockError {
    select(disconnected(zk), node_gone(zk, node)).await
}

/// Resolves when the connection is down.
pub(super) async fn disconnected(zk: &ZooKeeper) -> LockError {
    let events = zk.session_events();
    loop {
        if let Some(error) = down(zk) {
            return error;
        }
        events.next().await;
    }
}

/// What it means that the connection is down, if it is.
pub(super) fn down(zk: &ZooKeeper) -> Option<LockError> {
    match zk.state() {
        SessionState::Connected => None,
        SessionState::Closed => Some(LockError::SessionExpired),
        SessionState::Connecting | SessionState::ConnectedReadOnly => Some(LockError::Disconnected),
    }
}

/// Resolves when our node is gone.
async fn node_gone(zk: &ZooKeeper, path: &Path) -> LockError {
    loop {
        match zk.exists_and_watch(path).await {
            Ok((Some(_), changed)) => {
                if changed.next().await.kind == EventType::NodeDeleted {
                    return LockError::PlaceLost;
                }
            }
            Ok((None, _)) => return LockError::PlaceLost,
            Err(error) => return error.into(),
        }
    }
}

/// Step 6: the one exit. Dropped before the lock is held, it deletes every node of this attempt in the background.
pub(super) struct CleanupGuard {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    pub(super) guid: String,
    needed: bool,
}

impl CleanupGuard {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path) -> Self {
        let guid = env.guid();
        Self {
            zk,
            env,
            lock,
            guid,
            needed: true,
        }
    }

    /// The lock is held, and `release` will see to the node.
    pub(super) fn not_needed(mut self) {
        self.needed = false;
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        if !self.needed {
            return;
        }
        let (zk, lock) = (self.zk.clone(), Path::clone(&self.lock));
        let guid = std::mem::take(&mut self.guid);
        self.env.spawn(async move {
            // An error here means that the session is gone, and its nodes with it.
            if let Ok(paths) = nodes_of(&zk, &lock, &guid).await {
                for path in paths {
                    let _gone = delete_if_there(&zk, &path).await;
                }
            }
        });
    }
}

/// Step 8: deletes our node, in the background if the call is dropped.
pub(super) async fn delete_for_certain(
    zk: &ZooKeeper,
    env: &Env,
    node: Path,
) -> Result<(), LockError> {
    let exit = ReleaseGuard::new(zk.clone(), env.clone(), node);
    let result = delete_own(zk, &exit.node).await;
    exit.not_needed();
    result
}

/// Step 8: dropped before the node is deleted, it deletes it in the background.
struct ReleaseGuard {
    zk: ZooKeeper,
    env: Env,
    node: Path,
    needed: bool,
}

impl ReleaseGuard {
    fn new(zk: ZooKeeper, env: Env, node: Path) -> Self {
        Self {
            zk,
            env,
            node,
            needed: true,
        }
    }

    /// `release` has its answer.
    fn not_needed(mut self) {
        self.needed = false;
    }
}

impl Drop for ReleaseGuard {
    fn drop(&mut self) {
        if self.needed {
            let (zk, node) = (self.zk.clone(), Path::clone(&self.node));
            self.env.spawn(async move {
                // An error here means that the session is gone, and its nodes with it.
                let _gone = delete_own(&zk, &node).await;
            });
        }
    }
}
