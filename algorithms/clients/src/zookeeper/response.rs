//! The responses of a server.

use std::cmp::Ordering;
use std::rc::Rc;

use thiserror::Error;

use super::{Acl, Children, Data, Identity, Path, Stat};

/// The answer to one operation of a multi that was done.
#[derive(Clone, Debug, PartialEq)]
pub enum OpResult {
    /// The node was made, at this path.
    Created(Path),
    /// The node was deleted.
    Deleted,
    /// The data was set.
    Set(Box<Stat>),
    /// The check went through.
    Checked,
}

/// The answer to one operation of a multi-read that found its node.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadResult {
    /// The node's data.
    Data {
        /// The bytes.
        data: Data,
        /// The stat.
        stat: Box<Stat>,
    },
    /// The node's children.
    Children(Rc<Children>),
}

/// Why none of the operations of a multi was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiFailed {
    /// How many operations there were.
    pub parts: u32,
    /// The first that could not be done, counted from zero.
    pub place: u32,
    /// Why not.
    pub error: ZkError,
}

impl MultiFailed {
    /// What each operation is answered: nothing is wrong with those before the one that could not be done, and those
    /// after it were not looked at.
    pub fn errors(&self) -> impl Iterator<Item = Option<ZkError>> {
        let Self {
            parts,
            place: index,
            error,
        } = *self;
        (0..parts).map(move |part| match part.cmp(&index) {
            Ordering::Less => None,
            Ordering::Equal => Some(error),
            Ordering::Greater => Some(ZkError::RuntimeInconsistency),
        })
    }
}

/// The answer to a request that was done.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// The node was made.
    Created {
        /// The path of the node.
        path: Path,
        /// Its stat, if it was asked for.
        stat: Option<Box<Stat>>,
    },
    /// The node was deleted.
    Deleted,
    /// The node exists. Answers to several clients may share the stat.
    Exists(Rc<Stat>),
    /// The node's data.
    Data {
        /// The bytes.
        data: Data,
        /// The stat.
        stat: Box<Stat>,
    },
    /// The node's children.
    Children(Rc<Children>),
    /// The node's children, and its stat.
    ChildrenWithStat {
        /// The children.
        children: Rc<Children>,
        /// The stat.
        stat: Box<Stat>,
    },
    /// So many nodes are below the node.
    AllChildrenNumber(i32),
    /// The client's identities to the server, in no particular order: schemes and names, without what is secret.
    ClientInfo(Vec<Identity>),
    /// The data was set.
    Set(Box<Stat>),
    /// We have caught up.
    Synced,
    /// All operations were done.
    Multi(Vec<OpResult>),
    /// None of the operations was done.
    MultiFailed(MultiFailed),
    /// What each of several reads has found.
    MultiRead(Vec<Result<ReadResult, ZkError>>),
    /// The watch was set, or watches were taken back.
    Watching,
    /// The nodes that go with the session, in no particular order.
    Ephemerals(Vec<Path>),
    /// Who may do what with the node.
    Acl {
        /// The list.
        acl: Acl,
        /// The stat.
        stat: Box<Stat>,
    },
    /// The session was closed.
    Closed,
}

impl Response {
    /// Whether a Java client refuses to read it, because it is longer than its `jute.maxbuffer`. Only lists of children
    /// can be, or data.
    #[inline]
    pub fn is_too_long(&self, most: u32) -> bool {
        matches!(
            self,
            Self::Children(_)
                | Self::ChildrenWithStat { .. }
                | Self::Data { .. }
                | Self::MultiRead(_)
        ) && self.wire_bytes() - 4 > u64::from(most)
    }

    /// How many children it lists.
    pub fn children(&self) -> usize {
        match self {
            Self::Children(children) | Self::ChildrenWithStat { children, .. } => children.len(),
            Self::MultiRead(results) => {
                let parts = results.iter().map(|result| match result {
                    Ok(ReadResult::Children(children)) => children.len(),
                    Ok(ReadResult::Data { .. }) | Err(_) => 0,
                });
                parts.sum()
            }
            Self::Created { .. }
            | Self::Deleted
            | Self::Closed
            | Self::Watching
            | Self::Ephemerals(_)
            | Self::AllChildrenNumber(_)
            | Self::ClientInfo(_)
            | Self::Exists(_)
            | Self::Set(_)
            | Self::Data { .. }
            | Self::Acl { .. }
            | Self::Synced
            | Self::Multi(_)
            | Self::MultiFailed(_) => 0,
        }
    }

    /// Its length on the wire in bytes: the length word, the reply header, and fields as jute encodes them.
    pub fn wire_bytes(&self) -> u64 {
        const STAT: u64 = 68;
        20 + match self {
            Self::Created { path, stat } => {
                4 + path.len() as u64 + if stat.is_some() { STAT } else { 0 }
            }
            Self::Deleted | Self::Closed | Self::Watching => 0,
            Self::Ephemerals(paths) => {
                4 + paths.iter().map(|path| 4 + path.len() as u64).sum::<u64>()
            }
            Self::Exists(_) | Self::Set(_) => STAT,
            Self::Data { data, .. } => 4 + data.len() as u64 + STAT,
            Self::Acl { acl, .. } => acl.wire_bytes() + STAT,
            Self::Children(children) => children.wire_bytes(),
            Self::ChildrenWithStat { children, .. } => children.wire_bytes() + STAT,
            Self::AllChildrenNumber(_) => 4,
            Self::ClientInfo(known) => {
                let one = |who: &Identity| 8 + who.scheme.len() as u64 + who.id.len() as u64;
                4 + known.iter().map(one).sum::<u64>()
            }
            Self::Synced => 8,
            Self::Multi(results) => 9 + 9 * results.len() as u64,
            Self::MultiFailed(failed) => 9 + 13 * u64::from(failed.parts),
            Self::MultiRead(results) => {
                let part = |result: &Result<ReadResult, ZkError>| match result {
                    Ok(ReadResult::Data { data, .. }) => 4 + data.len() as u64 + STAT,
                    Ok(ReadResult::Children(children)) => children.wire_bytes(),
                    Err(_) => 4,
                };
                9 + results.iter().map(|result| 9 + part(result)).sum::<u64>()
            }
        }
    }
}

/// Length in bytes of an answer that is an error: the length word and the reply header.
pub const ERROR_REPLY_BYTES: u64 = 20;

/// The answer to a request.
pub type Reply = Result<Response, ZkError>;
/// The result of a call of the handle.
pub type ZkResult<T> = Result<T, ZkError>;

/// ZooKeeper's error codes. All but two are definite: the request was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
#[expect(missing_docs, reason = "each message says what it is")]
pub enum ZkError {
    #[error("connection loss: the request may or may not have taken effect")]
    ConnectionLoss,
    #[error("session expired")]
    SessionExpired,
    #[error("the session has moved to another server")]
    SessionMoved,
    #[error("no node")]
    NoNode,
    #[error("node exists")]
    NodeExists,
    #[error("bad version")]
    BadVersion,
    #[error("not empty")]
    NotEmpty,
    #[error("no children for ephemerals")]
    NoChildrenForEphemerals,
    #[error("bad arguments")]
    BadArguments,
    #[error("marshalling error")]
    MarshallingError,
    #[error("runtime inconsistency: an earlier operation of the multi failed")]
    RuntimeInconsistency,
    #[error("not authorised")]
    NoAuth,
    #[error("invalid ACL")]
    InvalidAcl,
    #[error("authentication failed")]
    AuthFailed,
    #[error("no such watcher")]
    NoWatcher,
    #[error("quota exceeded")]
    QuotaExceeded,
    #[error("throttled")]
    Throttled,
    #[error("request timeout: the request may or may not have taken effect")]
    RequestTimeout,
    #[error("unimplemented")]
    Unimplemented,
    #[error("the server is read-only")]
    NotReadOnly,
    #[error("reconfiguration is disabled")]
    ReconfigDisabled,
    #[error("no server: the request was not sent")]
    NoServer,
}

impl ZkError {
    /// Whether the request has surely not taken effect. After the loss of a connection it may have.
    pub fn definite(self) -> bool {
        !matches!(self, Self::ConnectionLoss | Self::RequestTimeout)
    }

    /// ZooKeeper's number for it.
    pub fn code(self) -> i32 {
        match self {
            Self::RuntimeInconsistency => -2,
            // Java's client has one error for both.
            Self::ConnectionLoss | Self::NoServer => -4,
            Self::MarshallingError => -5,
            Self::Unimplemented => -6,
            Self::BadArguments => -8,
            Self::NoNode => -101,
            Self::NoAuth => -102,
            Self::BadVersion => -103,
            Self::NoChildrenForEphemerals => -108,
            Self::NodeExists => -110,
            Self::NotEmpty => -111,
            Self::SessionExpired => -112,
            Self::InvalidAcl => -114,
            Self::AuthFailed => -115,
            Self::SessionMoved => -118,
            Self::NotReadOnly => -119,
            Self::NoWatcher => -121,
            Self::RequestTimeout => -122,
            Self::ReconfigDisabled => -123,
            Self::QuotaExceeded => -125,
            Self::Throttled => -127,
        }
    }
}
