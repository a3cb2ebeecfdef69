//! Transactions: what the leader decides and every server applies.

use std::rc::Rc;
use std::time::Duration;

use memchr::memrchr;
use picklock_clients::zookeeper::{
    Acl, CreateMode, Data, MultiFailed, Path, SessionId, Version, ZkError, Zxid,
};

use super::messages::Xid;

/// A transaction. It is idempotent: it says what is to be, not what to do, and was checked by the leader.
#[derive(Clone, Debug, PartialEq)]
pub struct Txn {
    /// Its place in the order of all transactions.
    pub zxid: Zxid,
    /// The leader's wall clock, in milliseconds since the Unix epoch.
    pub time: i64,
    /// The session that asked for it, or that it opens or closes.
    pub session: Option<SessionId>,
    /// The client's number for the request; `None` when no request stands behind it.
    pub xid: Option<Xid>,
    /// What it does.
    pub change: TxnChange,
}

/// What a transaction does.
#[derive(Clone, Debug, PartialEq)]
pub enum TxnChange {
    /// Opens the session.
    CreateSession {
        /// Its timeout in microseconds.
        timeout: u64,
    },
    /// Closes the session and deletes its ephemeral nodes, all at once.
    CloseSession {
        /// The nodes, in the order in which they are deleted.
        paths: Vec<Path>,
    },
    /// Makes a node.
    Create(Box<Created>),
    /// Deletes a node.
    Delete {
        /// The path of the node.
        path: Path,
        /// The node above it.
        parent: Path,
    },
    /// Sets the data of a node.
    SetData {
        /// The path of the node.
        path: Path,
        /// To what.
        data: Data,
        /// The version that the data then has.
        version: Version,
    },
    /// Says who may do what with a node.
    SetAcl {
        /// The path of the node.
        path: Path,
        /// Who may do what.
        acl: Acl,
        /// The version that the list then has.
        version: Version,
    },
    /// All of these, in this order.
    Multi(Vec<TxnChange>),
    /// A multi of which one operation cannot be done. It takes its place in the order like any other.
    MultiFailed(MultiFailed),
    /// A check within a multi; it went through.
    Check,
    /// A request that was refused. It takes its place in the order like any other.
    Error(ZkError),
}

impl TxnChange {
    /// Whether it does anything: what was refused does not.
    pub(super) fn is_done(&self) -> bool {
        !matches!(self, Self::MultiFailed(_) | Self::Error(_))
    }
}

/// A node that a transaction makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// Where, with its number if it is sequential.
    pub path: Path,
    /// The last component of the path.
    pub name: Path,
    /// The number at the end of that, as lists of children have it.
    pub number: i64,
    /// The node above it.
    pub parent: Path,
    /// Its data.
    pub data: Data,
    /// The session that it goes with; zero if it is not ephemeral.
    pub owner: SessionId,
    /// Who may do what with it.
    pub acl: Acl,
    /// How many children the parent has had then.
    pub parent_creates: i32,
    /// When it goes by itself.
    pub reaped: ReapRule,
}

/// When a node that goes with no session goes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReapRule {
    /// Never.
    Never,
    /// When it has had children and has none any more.
    Childless,
    /// When it has no children and was not changed for so long.
    Unchanged(Duration),
}

impl From<CreateMode> for ReapRule {
    fn from(mode: CreateMode) -> Self {
        match mode {
            CreateMode::Container => Self::Childless,
            CreateMode::PersistentWithTtl(ttl) | CreateMode::PersistentSequentialWithTtl(ttl) => {
                Self::Unchanged(ttl)
            }
            CreateMode::Persistent
            | CreateMode::PersistentSequential
            | CreateMode::Ephemeral
            | CreateMode::EphemeralSequential => Self::Never,
        }
    }
}

/// Where the last slash is.
pub(super) fn last_slash(path: &str) -> Option<usize> {
    memrchr(b'/', path.as_bytes())
}

/// The node above a path; `None` for the root and for what is not a path.
pub fn parent_of(path: &str) -> Option<&str> {
    match last_slash(path) {
        None => None,
        Some(0) if path.len() > 1 => Some("/"),
        Some(0) => None,
        Some(slash) => Some(&path[..slash]),
    }
}

/// A transaction that is shared between the log, the proposal, and the commit.
pub type SharedTxn = Rc<Txn>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slash_is_found_wherever_it_is() {
        for length in 0..40 {
            let none = "x".repeat(length);
            assert_eq!(last_slash(&none), None);
            for index in 0..length {
                let mut path = none.clone();
                path.replace_range(index..=index, "/");
                path.replace_range(..index / 2, &"/".repeat(index / 2));
                assert_eq!(last_slash(&path), Some(index));
                assert_eq!(last_slash(&path), path.rfind('/'));
            }
        }
    }
}
