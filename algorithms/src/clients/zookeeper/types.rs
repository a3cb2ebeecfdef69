//! The words of ZooKeeper's protocol.

use std::fmt;
use std::rc::Rc;

use thiserror::Error;

use super::Children;

/// The path of a znode, shared.
pub type Path = Rc<str>;
/// The data of a znode, shared.
pub type Data = Rc<[u8]>;
/// A data version.
pub type Version = i32;

/// A transaction id: the leader's epoch in the high 32 bits, a counter in the low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid(pub u64);

impl Zxid {
    /// The zxid of this counter in this epoch.
    pub fn new(epoch: u32, counter: u32) -> Self {
        Self(u64::from(epoch) << 32 | u64::from(counter))
    }

    /// The epoch of the leader that gave it.
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Its number within the epoch.
    pub fn counter(self) -> u32 {
        self.0 as u32
    }
}

/// As ZooKeeper prints it, in hexadecimal.
impl fmt::Display for Zxid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "0x{:x}", self.0)
    }
}

/// The id of a session; zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// As ZooKeeper prints it, in hexadecimal.
impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "0x{:x}", self.0)
    }
}

/// What kind of node `create` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Stays until it is deleted; a number is added to its name.
    PersistentSequential,
    /// Is deleted when the session that made it ends.
    Ephemeral,
    /// Is deleted when the session that made it ends; a number is added to its name.
    EphemeralSequential,
}

impl CreateMode {
    /// Whether the node goes with its session.
    pub fn is_ephemeral(self) -> bool {
        matches!(self, Self::Ephemeral | Self::EphemeralSequential)
    }

    /// Whether a number is added to the name.
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::PersistentSequential | Self::EphemeralSequential)
    }
}

/// The metadata of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The transaction that made the node.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// The transaction that last made or deleted a child.
    pub pzxid: Zxid,
    /// When it was made, by the leader's wall clock, in milliseconds since the Unix epoch.
    pub ctime: i64,
    /// When its data was last set, likewise.
    pub mtime: i64,
    /// How often its data was set.
    pub version: Version,
    /// Twice the children ever made, less the children there are: what ZooKeeper shows as `cversion`.
    pub cversion: Version,
    /// How often its ACL was set.
    pub aversion: Version,
    /// The session that it goes with; zero for a node that is not ephemeral.
    pub ephemeral_owner: SessionId,
    /// The length of its data in bytes.
    pub data_length: i32,
    /// How many children it has.
    pub num_children: i32,
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Make a node.
    Create {
        /// Where.
        path: Path,
        /// With what data.
        data: Data,
        /// Of what kind.
        mode: CreateMode,
        /// Whether to answer the stat too.
        with_stat: bool,
    },
    /// Delete a node.
    Delete {
        /// Which.
        path: Path,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Ask for the stat of a node.
    Exists {
        /// Which.
        path: Path,
        /// Whether to leave a watch, also if there is no such node.
        watch: bool,
    },
    /// Ask for the data of a node.
    GetData {
        /// Which.
        path: Path,
        /// Whether to leave a watch.
        watch: bool,
    },
    /// Ask for the children of a node.
    GetChildren {
        /// Which.
        path: Path,
        /// Whether to leave a watch.
        watch: bool,
    },
    /// Set the data of a node.
    SetData {
        /// Which.
        path: Path,
        /// To what.
        data: Data,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Catch up with the leader.
    Sync {
        /// The path that is named in the request; it does not matter.
        path: Path,
    },
    /// All or nothing.
    Multi(Rc<[Op]>),
}

/// The kind of a request, without what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// `create`
    Create,
    /// `delete`
    Delete,
    /// `exists`
    Exists,
    /// `get-data`
    GetData,
    /// `get-children`
    GetChildren,
    /// `set-data`
    SetData,
    /// `sync`
    Sync,
    /// `multi`
    Multi,
}

impl RequestKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Delete,
        Self::Exists,
        Self::GetData,
        Self::GetChildren,
        Self::SetData,
        Self::Sync,
        Self::Multi,
    ];

    /// Its name in scenario files and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Exists => "exists",
            Self::GetData => "get-data",
            Self::GetChildren => "get-children",
            Self::SetData => "set-data",
            Self::Sync => "sync",
            Self::Multi => "multi",
        }
    }
}

impl Request {
    /// Its kind.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Create { .. } => RequestKind::Create,
            Self::Delete { .. } => RequestKind::Delete,
            Self::Exists { .. } => RequestKind::Exists,
            Self::GetData { .. } => RequestKind::GetData,
            Self::GetChildren { .. } => RequestKind::GetChildren,
            Self::SetData { .. } => RequestKind::SetData,
            Self::Sync { .. } => RequestKind::Sync,
            Self::Multi(_) => RequestKind::Multi,
        }
    }

    /// Whether it changes the tree, and so needs the leader.
    pub fn is_write(&self) -> bool {
        match self {
            Self::Create { .. } | Self::Delete { .. } | Self::SetData { .. } | Self::Multi(_) => {
                true
            }
            Self::Exists { .. }
            | Self::GetData { .. }
            | Self::GetChildren { .. }
            | Self::Sync { .. } => false,
        }
    }

    /// Its length on the wire in bytes: the length word, xid, type, and fields as jute encodes them.
    pub fn wire_bytes(&self) -> u64 {
        /// `int` length + bytes.
        fn text(path: &str) -> u64 {
            4 + path.len() as u64
        }
        /// One ACL entry, world:anyone, as `OPEN_ACL_UNSAFE` is sent.
        const OPEN_ACL: u64 = 4 + 4 + 4 + 5 + 4 + 6;
        fn op(op: &Op) -> u64 {
            9 + match op {
                Op::Create { path, data, .. } => text(path) + 4 + data.len() as u64 + OPEN_ACL + 4,
                Op::Delete { path, .. } | Op::Check { path, .. } => text(path) + 4,
                Op::SetData { path, data, .. } => text(path) + 4 + data.len() as u64 + 4,
            }
        }
        12 + match self {
            Self::Create { path, data, .. } => text(path) + 4 + data.len() as u64 + OPEN_ACL + 4,
            Self::Delete { path, .. } => text(path) + 4,
            Self::Exists { path, .. }
            | Self::GetData { path, .. }
            | Self::GetChildren { path, .. } => text(path) + 1,
            Self::SetData { path, data, .. } => text(path) + 4 + data.len() as u64 + 4,
            Self::Sync { path } => text(path),
            Self::Multi(ops) => 9 + ops.iter().map(op).sum::<u64>(),
        }
    }
}

/// One operation of a [`Request::Multi`].
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Make a node.
    Create {
        /// Where.
        path: Path,
        /// With what data.
        data: Data,
        /// Of what kind.
        mode: CreateMode,
    },
    /// Delete a node.
    Delete {
        /// Which.
        path: Path,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Set the data of a node.
    SetData {
        /// Which.
        path: Path,
        /// To what.
        data: Data,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Go on only if the node exists, in this version if one is given.
    Check {
        /// Which.
        path: Path,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
}

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

/// The answer to a request that was done.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// The node was made.
    Created {
        /// Where.
        path: Path,
        /// Its stat, if it was asked for.
        stat: Option<Box<Stat>>,
    },
    /// The node was deleted.
    Deleted,
    /// The node exists.
    Exists(Box<Stat>),
    /// The node's data.
    Data {
        /// The bytes.
        data: Data,
        /// The stat.
        stat: Box<Stat>,
    },
    /// The node's children.
    Children(Rc<Children>),
    /// The data was set.
    Set(Box<Stat>),
    /// We have caught up.
    Synced,
    /// All operations were done.
    Multi(Vec<OpResult>),
    /// The session was closed.
    Closed,
}

impl Response {
    /// Its length on the wire in bytes: the length word, the reply header, and fields as jute encodes them.
    pub fn wire_bytes(&self) -> u64 {
        const STAT: u64 = 68;
        20 + match self {
            Self::Created { path, stat } => {
                4 + path.len() as u64 + if stat.is_some() { STAT } else { 0 }
            }
            Self::Deleted | Self::Closed => 0,
            Self::Exists(_) | Self::Set(_) => STAT,
            Self::Data { data, .. } => 4 + data.len() as u64 + STAT,
            Self::Children(children) => children.wire_bytes(),
            Self::Synced => 8,
            Self::Multi(results) => 9 + 9 * results.len() as u64,
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
}

impl ZkError {
    /// Whether the request has surely not taken effect. Of a lost connection nobody knows.
    pub fn definite(self) -> bool {
        !matches!(self, Self::ConnectionLoss | Self::RequestTimeout)
    }

    /// ZooKeeper's number for it.
    pub fn code(self) -> i32 {
        match self {
            Self::RuntimeInconsistency => -2,
            Self::ConnectionLoss => -4,
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
            Self::QuotaExceeded => -125,
            Self::Throttled => -127,
        }
    }
}

/// The state of a session as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Looking for a server.
    Connecting,
    /// Connected.
    Connected,
    /// Closed or expired, for good.
    Closed,
}
