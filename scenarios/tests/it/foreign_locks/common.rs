//! What the locks of this folder share: how one is described, and the sound ways to take a place in a queue, to leave
//! it, and to hear of its loss.

use std::time::Duration;

use picklock_algorithms::clients::zookeeper::{
    Path, SessionState, ZkError, ZkResult, ZooKeeper, until_answered,
};
use picklock_algorithms::zookeeper::queue::{Ticket, child, make_ticket, prefix};
use picklock_algorithms::{Env, LockError, Recipe, select, timeout};

/// Which text of a lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// With its flaw.
    AsWritten,
    /// The same with the flaw mended, in one place.
    Mended,
}

/// A lock as other people write it, with one flaw that its author did not see.
pub struct ForeignLock {
    /// Its name.
    pub name: &'static str,
    /// Where the idea of the flaw comes from.
    pub source: &'static str,
    /// What is wrong.
    pub flaw: &'static str,
    /// The invariant that it breaks.
    pub breaks: &'static str,
    /// The faults that it takes.
    pub takes: &'static str,
    /// Whether the search was written without a look at it.
    pub held_out: bool,
    /// The service and the workload, as a scenario file has them.
    pub world: &'static str,
    /// The lock.
    pub recipe: fn(Version) -> Recipe,
}

/// A place in the queue, taken once whatever becomes of answers: behind every write of the session that is still under
/// way, and never of another session.
///
/// # Errors
///
/// Those of the requests, but for a connection that is lost.
pub async fn take_ticket(zk: &ZooKeeper, lock: &Path, guid: &str) -> ZkResult<Ticket> {
    let prefix = prefix(lock, guid);
    loop {
        match make_ticket(zk, &prefix).await {
            Err(ZkError::ConnectionLoss | ZkError::RequestTimeout) => {
                for path in nodes_of(zk, lock, guid).await? {
                    if let Some(stat) = until_answered(|| zk.exists(&path)).await? {
                        if stat.ephemeral_owner == zk.session() {
                            return Ok(Ticket::new(path, stat.czxid));
                        }
                        delete_surely(zk, &path).await?;
                    }
                }
            }
            answer => return answer,
        }
    }
}

/// The nodes whose name begins with a guid.
async fn nodes_of(zk: &ZooKeeper, lock: &Path, guid: &str) -> ZkResult<Vec<Path>> {
    // A write that is refused is in the one order of all writes, too.
    delete_surely(zk, &child(lock, &format!("{guid}-none"))).await?;
    let children = until_answered(|| zk.children(lock)).await?;
    let ours = children.names().filter(|name| name.contains(guid));
    Ok(ours.map(|name| child(lock, name)).collect())
}

/// Deletes a node whose name no other client can have.
///
/// # Errors
///
/// Those of the request, but for a connection that is lost.
pub async fn delete_surely(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    match until_answered(|| zk.delete(path, None)).await {
        Err(ZkError::NoNode) => Ok(()),
        answer => answer,
    }
}

/// A call of `acquire` that is dropped leaves no node of its guid.
pub struct LeavesNothing {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    pub guid: String,
    entered: bool,
}

impl LeavesNothing {
    pub fn new(zk: &ZooKeeper, env: &Env, lock: &Path) -> Self {
        Self {
            zk: zk.clone(),
            env: env.clone(),
            lock: Path::clone(lock),
            guid: env.guid(),
            entered: false,
        }
    }

    /// The lock is held: `release` sees to the node.
    pub fn entered(mut self) {
        self.entered = true;
    }
}

impl Drop for LeavesNothing {
    fn drop(&mut self) {
        if self.entered {
            return;
        }
        let (zk, lock) = (self.zk.clone(), Path::clone(&self.lock));
        let guid = std::mem::take(&mut self.guid);
        self.env.spawn(async move {
            // An error means that the session is gone, and its nodes with it.
            for path in nodes_of(&zk, &lock, &guid).await.unwrap_or_default() {
                let _gone = delete_surely(&zk, &path).await;
            }
        });
    }
}

/// Resolves when the connection is down, or the node is gone.
pub async fn until_lost(zk: &ZooKeeper, node: &Path) -> LockError {
    select(disconnected(zk), node_gone(zk, node)).await
}

/// Resolves when the connection is down.
pub async fn disconnected(zk: &ZooKeeper) -> LockError {
    let events = zk.session_events();
    while zk.state() == SessionState::Connected {
        events.next().await;
    }
    match zk.state() {
        SessionState::Closed => LockError::SessionExpired,
        _ => LockError::Disconnected,
    }
}

async fn node_gone(zk: &ZooKeeper, node: &Path) -> LockError {
    loop {
        match zk.exists_and_watch(node).await {
            Ok((Some(_), changed)) => {
                changed.next().await;
            }
            Ok((None, _)) => return LockError::PlaceLost,
            Err(error) => return error.into(),
        }
    }
}

/// Waits for a connection; whether there was one in so long a time.
pub async fn connected_within(zk: &ZooKeeper, env: &Env, limit: Duration) -> bool {
    let connected = async {
        let events = zk.session_events();
        while zk.state() == SessionState::Connecting {
            events.next().await;
        }
        zk.state() == SessionState::Connected
    };
    timeout(env, limit, connected).await == Some(true)
}
