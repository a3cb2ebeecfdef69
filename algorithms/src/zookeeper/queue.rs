//! What the queueing recipes share: tickets, and the ways to take one.

use std::rc::Rc;

use crate::LockError;
use crate::clients::zookeeper::{
    CreateMode, Path, ZkError, ZkResult, ZooKeeper, Zxid, until_answered,
};

/// A place in the queue: an ephemeral sequential node.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    /// Its path.
    pub path: Path,
    /// The transaction that made it: greater for every later ticket, even if the queue itself is made anew.
    pub czxid: Zxid,
}

impl Ticket {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The number at the end of its name.
    pub fn sequence(&self) -> u64 {
        let digits = self.path.len().saturating_sub(10);
        self.path
            .get(digits..)
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    }
}

/// The path of a child.
pub(super) fn child(parent: &str, name: &str) -> String {
    let mut path = String::with_capacity(parent.len() + 1 + name.len());
    path.push_str(parent);
    path.push('/');
    path.push_str(name);
    path
}

/// Makes a ticket. An answer that is lost is an error: the node may be there.
pub(super) async fn make_ticket(zk: &ZooKeeper, prefix: &str) -> ZkResult<Ticket> {
    let (path, stat) = zk
        .create_with_stat(prefix, b"", CreateMode::EphemeralSequential)
        .await?;
    Ok(Ticket {
        path,
        czxid: stat.czxid,
    })
}

/// Makes a ticket whose name holds our guid. If the answer is lost, the guid tells us whether the node was made all
/// the same.
pub(super) async fn make_ticket_with_guid(
    zk: &ZooKeeper,
    lock: &Path,
    guid: &str,
) -> ZkResult<Ticket> {
    let prefix = child(lock, &format!("{guid}-lock-"));
    loop {
        match make_ticket(zk, &prefix).await {
            Err(ZkError::ConnectionLoss) => {
                let children = until_answered(async || zk.children(lock).await).await?;
                let ours = children.names().iter().find(|name| name.starts_with(guid));
                if let Some(ours) = ours {
                    let path = Path::from(child(lock, ours));
                    if let Some(stat) = until_answered(async || zk.exists(&path).await).await? {
                        return Ok(Ticket {
                            path,
                            czxid: stat.czxid,
                        });
                    }
                }
            }
            answer => return answer,
        }
    }
}

/// Deletes a node of ours, whose name nobody else can have: if it is gone already, all the better.
pub(super) async fn delete_own(zk: &ZooKeeper, path: &str) -> Result<(), LockError> {
    match until_answered(async || zk.delete(path, None).await).await {
        Ok(()) | Err(ZkError::NoNode) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The node just ahead of ours in the queue; `None` if ours is the first.
///
/// # Errors
///
/// `PlaceLost` if ours is not in the queue.
pub(super) async fn predecessor(
    zk: &ZooKeeper,
    lock: &Path,
    ticket: &Ticket,
) -> Result<Option<Rc<str>>, LockError> {
    let children = until_answered(async || zk.children(lock).await).await?;
    match children.place(ticket.name()) {
        None => Err(LockError::PlaceLost),
        Some(0) => Ok(None),
        Some(place) => Ok(Some(Rc::clone(&children.in_sequence_order()[place - 1]))),
    }
}

/// Resolves when the session is known to be gone: all that the textbook recipes listen for.
pub(super) async fn session_lost(zk: &ZooKeeper) -> LockError {
    zk.session_lost().await;
    LockError::SessionExpired
}
