//! The messages between clients and servers of ZooKeeper.

use std::rc::Rc;

use picklock_clients::zookeeper::{EventType, Path, Reply, Request, SessionId, Zxid};

pub use picklock_machines::{ConnectionId, ServerId};

/// A client's number for a request, counted from one by its handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(pub u32);

impl Xid {
    /// The number of the request after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// The secret that lets a client resume its session on any server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Password(pub u64);

/// What a client sends.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// The first message on a connection: a new session (id zero), or an old one to resume.
    Connect {
        /// The session to resume; zero for a new one.
        session: SessionId,
        /// Its password.
        password: Password,
        /// The session timeout that the client asks for, in microseconds.
        timeout: u64,
        /// The newest zxid that the client has seen.
        last_zxid: Zxid,
        /// Whether the client puts up with a server that answers reads alone.
        read_only: bool,
    },
    /// A request.
    Request {
        /// The client's number for it.
        xid: Xid,
        /// What it asks.
        request: Request,
    },
    /// The client says who it is.
    Authenticate {
        /// By which scheme.
        scheme: Rc<str>,
        /// What the scheme wants to know.
        secret: Rc<[u8]>,
    },
    /// A sign of life.
    Ping,
    /// After a reconnect: the watches that the client had.
    SetWatches(Box<WatchTables>),
    /// The client ends its session.
    Close {
        /// The client's number for it.
        xid: Xid,
    },
}

/// The watches of a client, as it sends them to a new server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchTables {
    /// The newest zxid that the client has seen: what changed since then is told at once.
    pub relative_zxid: Zxid,
    /// Nodes whose data it watches (also by `exists` on a node that was there).
    pub data: Vec<Path>,
    /// Nodes whose making it waits for (`exists` on a node that was not there).
    pub exist: Vec<Path>,
    /// Nodes whose children it watches.
    pub child: Vec<Path>,
    /// Nodes on which it has watches that stay.
    pub persistent: Vec<Path>,
    /// Nodes below which it watches everything.
    pub recursive: Vec<Path>,
}

/// What a server sends to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerMessage {
    /// The session is there.
    Connected {
        /// Its id.
        session: SessionId,
        /// Its password.
        password: Password,
        /// The timeout that the server grants, in microseconds.
        timeout: u64,
        /// Whether the server answers reads alone.
        read_only: bool,
    },
    /// There is no such session any more (or the password is wrong).
    Expired,
    /// The answer to a request.
    Reply {
        /// The client's number for the request.
        xid: Xid,
        /// The newest zxid that the server has applied.
        zxid: Zxid,
        /// The answer.
        reply: Reply,
    },
    /// The client is who it says that it is.
    Authenticated,
    /// It is not; the connection is closed.
    AuthFailed,
    /// The answer to a ping.
    Pong,
    /// A watch has fired.
    Notification {
        /// What happened.
        kind: EventType,
        /// To which node.
        path: Path,
    },
    /// The answer to [`ClientMessage::SetWatches`]; notifications that it caused came before.
    WatchesSet {
        /// The newest zxid that the server has applied.
        zxid: Zxid,
    },
}

/// What tells several clients of one event, each on its own connection.
#[inline]
pub fn notifications(
    connections: Vec<ConnectionId>,
    kind: EventType,
    path: Path,
) -> impl Iterator<Item = (ConnectionId, ServerMessage)> {
    connections.into_iter().map(move |connection| {
        let path = Path::clone(&path);
        (connection, ServerMessage::Notification { kind, path })
    })
}

/// Length in bytes of a notification on the wire: the length word, the reply header, type, state, and path.
pub fn notification_bytes(path: &str) -> u64 {
    4 + 16 + 4 + 4 + 4 + path.len() as u64
}

/// A path, shared between all that mention it.
pub fn path(text: &str) -> Path {
    Rc::from(text)
}
