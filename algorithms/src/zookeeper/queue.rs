//! What the queueing recipes share: tickets, and the ways to take one.

use std::rc::Rc;

use memchr::memrchr;

use crate::LockError;
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    Children, CreateMode, Path, Stat, Watch, ZkError, ZkResult, ZooKeeper, Zxid, until_answered,
};

/// A place in the queue: an ephemeral sequential node.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Its path.
    pub path: Path,
    /// The transaction that made it: greater for every later ticket, even if the queue itself is made again.
    pub czxid: Zxid,
    name_at: usize,
}

impl Ticket {
    /// The ticket at a path.
    pub fn new(path: Path, czxid: Zxid) -> Self {
        let slash = memrchr(b'/', path.as_bytes());
        let name_at = slash.map_or(0, |slash| slash + 1);
        Self {
            path,
            czxid,
            name_at,
        }
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        &self.path[self.name_at..]
    }

    /// The number at the end of its name.
    pub fn sequence(&self) -> u64 {
        number(&self.path)
    }
}

/// The requests of a recipe that makes a ticket, lists all tickets, and watches the one before.
pub const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
    RequestKind::GetChildren,
];

/// The number at the end of a ticket's name or path; zero if there is none.
pub fn number(path: &str) -> u64 {
    let digits = path.len().saturating_sub(10);
    path.get(digits..)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// The path of a child.
pub fn child(parent: &str, name: &str) -> Path {
    [parent, "/", name].concat().into()
}

/// What the path of a ticket with this guid begins with.
pub fn prefix(lock: &Path, guid: &str) -> Path {
    [lock, "/", guid, "-lock-"].concat().into()
}

/// Makes a ticket.
///
/// # Errors
///
/// Those of the request. An answer that is lost is one: the node may be there.
pub async fn make_ticket(zk: &ZooKeeper, prefix: &Path) -> ZkResult<Ticket> {
    let (path, stat) = zk
        .create_with_stat(prefix, b"", CreateMode::EphemeralSequential)
        .await?;
    Ok(Ticket::new(path, stat.czxid))
}

/// Makes a ticket whose name holds our guid. If the answer is lost, the guid tells us whether the node was made all
/// the same.
///
/// # Errors
///
/// Those of the requests, but for a connection that is lost: then it asks again.
pub async fn make_ticket_with_guid(zk: &ZooKeeper, lock: &Path, guid: &str) -> ZkResult<Ticket> {
    make_ticket_of(zk, lock, guid, &prefix(lock, guid)).await
}

/// The same, of a prefix that has the guid in it.
///
/// # Errors
///
/// Those of the requests, but for a connection that is lost: then it asks again.
pub async fn make_ticket_of(
    zk: &ZooKeeper,
    lock: &Path,
    guid: &str,
    prefix: &Path,
) -> ZkResult<Ticket> {
    loop {
        let mode = CreateMode::EphemeralSequential;
        let made = zk.create_with_stat(prefix, b"", mode).await;
        // At once, so that the whole stat is not kept across a wait.
        match made.map(|(path, stat)| Ticket::new(path, stat.czxid)) {
            Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                if let Some(ticket) = look_up_by_guid(zk, lock, guid).await? {
                    return Ok(ticket);
                }
            }
            ticket => return ticket,
        }
    }
}

/// The ticket whose name begins with this guid, if there is one.
///
/// # Errors
///
/// Those of the requests, but for a connection that is lost: then it asks again.
pub async fn look_up_by_guid(zk: &ZooKeeper, lock: &Path, guid: &str) -> ZkResult<Option<Ticket>> {
    let children = until_answered(|| zk.children(lock)).await?;
    let Some(ours) = children.names().find(|name| name.starts_with(guid)) else {
        return Ok(None);
    };
    let path = child(lock, ours);
    let there = until_answered(|| zk.exists(&path)).await?;
    Ok(there.map(|stat| Ticket::new(path, stat.czxid)))
}

/// Deletes a node of ours, whose name is unique: if it is gone already, that is success.
///
/// # Errors
///
/// Those of the request, but for a connection that is lost: then it asks again.
pub async fn delete_own(zk: &ZooKeeper, path: &Path) -> Result<(), LockError> {
    match until_answered(|| zk.delete(path, None)).await {
        Ok(()) | Err(ZkError::NoNode) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The path of the node just ahead of ours in the queue; `None` if ours is the first.
///
/// # Errors
///
/// `PlaceLost` if ours is not in the queue.
pub fn predecessor(
    children: Rc<Children>,
    lock: &Path,
    ticket: &Ticket,
) -> Result<Option<Path>, LockError> {
    // Names begin with a guid, and the list is in no order: the number at the end of each is what counts.
    let queue = children.sorted_by_sequence();
    match queue.position(ticket.name()) {
        None => Err(LockError::PlaceLost),
        Some(0) => Ok(None),
        Some(index) => Ok(queue.get(index - 1).map(|ahead| child(lock, ahead))),
    }
}

/// The watch, if it is on a node that is there.
pub fn if_there((there, watch): (Option<Stat>, Watch)) -> Option<Watch> {
    there.map(|_| watch)
}

/// Resolves when the session is known to be gone: all that the textbook recipes listen for.
pub async fn session_lost(zk: &ZooKeeper) -> LockError {
    zk.session_lost().await;
    LockError::SessionExpired
}
