//! What the queueing recipes share: tickets, and the ways to take one.

use std::cell::RefCell;
use std::rc::Rc;

use memchr::memrchr;

use crate::LockError;
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    Children, CreateMode, Path, Stat, Watch, ZkError, ZkResult, ZooKeeper, Zxid, until_answered,
};

thread_local! {
    static LAST_COMMON: RefCell<Path> = RefCell::new(Path::from(""));
}

/// A place in the queue: an ephemeral sequential node.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    /// Its path.
    pub path: Path,
    /// The transaction that made it: greater for every later ticket, even if the queue itself is made anew.
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

/// Who makes a ticket, lists them all, and watches the one before makes these requests.
pub(super) const ASKS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
    RequestKind::GetChildren,
];

/// The number at the end of a ticket's name or path; zero if there is none.
pub(super) fn number(path: &str) -> u64 {
    let digits = path.len().saturating_sub(10);
    path.get(digits..)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// The path of a child.
pub(super) fn child(parent: &str, name: &str) -> Path {
    [parent, "/", name].concat().into()
}

/// The path of a child that all contenders name alike: those of one thread share it.
pub(super) fn common_child(parent: &str, name: &str) -> Path {
    let path = child(parent, name);
    LAST_COMMON.with_borrow_mut(|last| {
        if *last != path {
            *last = path;
        }
        Path::clone(last)
    })
}

/// What the path of a ticket with this guid begins with.
pub(super) fn prefix(lock: &Path, guid: &str) -> Path {
    [lock, "/", guid, "-lock-"].concat().into()
}

/// Makes a ticket. An answer that is lost is an error: the node may be there.
pub(super) async fn make_ticket(zk: &ZooKeeper, prefix: &Path) -> ZkResult<Ticket> {
    let (path, stat) = zk
        .create_with_stat(prefix, b"", CreateMode::EphemeralSequential)
        .await?;
    Ok(Ticket::new(path, stat.czxid))
}

/// Makes a ticket whose name holds our guid. If the answer is lost, the guid tells us whether the node was made all
/// the same.
pub(super) async fn make_ticket_with_guid(
    zk: &ZooKeeper,
    lock: &Path,
    guid: &str,
) -> ZkResult<Ticket> {
    let prefix = prefix(lock, guid);
    loop {
        let mode = CreateMode::EphemeralSequential;
        let made = zk.create_with_stat(&prefix, b"", mode).await;
        // At once, so that nobody need keep the whole stat while he waits for something else.
        match made.map(|(path, stat)| Ticket::new(path, stat.czxid)) {
            Err(ZkError::ConnectionLoss | ZkError::RequestTimeout) => {
                let children = until_answered(|| zk.children(lock)).await?;
                let ours = children.names().find(|name| name.starts_with(guid));
                if let Some(ours) = ours {
                    let path = child(lock, ours);
                    if let Some(stat) = until_answered(|| zk.exists(&path)).await? {
                        return Ok(Ticket::new(path, stat.czxid));
                    }
                }
            }
            ticket => return ticket,
        }
    }
}

/// Deletes a node of ours, whose name nobody else can have: if it is gone already, all the better.
pub(super) async fn delete_own(zk: &ZooKeeper, path: &Path) -> Result<(), LockError> {
    match until_answered(|| zk.delete(path, None)).await {
        Ok(()) | Err(ZkError::NoNode) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The path of the node just ahead of ours in the queue; `None` if ours is the first. Takes the list, which nobody need
/// keep while he waits.
///
/// # Errors
///
/// `PlaceLost` if ours is not in the queue.
pub(super) fn predecessor(
    children: Rc<Children>,
    lock: &Path,
    ticket: &Ticket,
) -> Result<Option<Path>, LockError> {
    match children.place(ticket.name()) {
        None => Err(LockError::PlaceLost),
        Some(0) => Ok(None),
        Some(place) => Ok(children.at(place - 1).map(|ahead| child(lock, ahead))),
    }
}

/// The watch, if it is on a node that is there.
pub(super) fn if_there((there, watch): (Option<Stat>, Watch)) -> Option<Watch> {
    there.map(|_| watch)
}

/// Resolves when the session is known to be gone: all that the textbook recipes listen for.
pub(super) async fn session_lost(zk: &ZooKeeper) -> LockError {
    zk.session_lost().await;
    LockError::SessionExpired
}
