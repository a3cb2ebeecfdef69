//! What goes into a server and what comes out of it.

use std::rc::Rc;

use picklock_clients::sql::{ClientMessage, ServerMessage, Value};
use picklock_machines::{ConnectionId, ServerId};

use crate::ids::Advisory;
use crate::log::PeerMessage;

/// What happens to a server.
#[derive(Clone, Debug)]
pub enum Input {
    /// The process starts again after a crash: what was not on its disk is gone, and all connections.
    Restart,
    /// A connection is there: a session begins. It has the number of the connection as its process id.
    Opened(ConnectionId),
    /// A message from a client.
    Client(ConnectionId, ClientMessage),
    /// The kernel has read the end of a connection, or its reset: the client has closed it, or is dead.
    Closed(ConnectionId),
    /// Nothing reaches the machine of a client any more: its kernel does not answer. A client that stands still is
    /// reached as ever.
    Unreachable(ConnectionId),
    /// It is reached again.
    Reachable(ConnectionId),
    /// A message from another server.
    Peer(ServerId, PeerMessage),
    /// A standby becomes a primary (`pg_promote`).
    Promote,
    /// The server becomes a standby of another, and takes over all that this one has.
    Follow(ServerId),
    /// It is time to look at the clock.
    Wake,
}

/// What a session can hold that keeps others out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Locked {
    /// An advisory lock, by its key.
    Advisory(Advisory),
    /// A lock of `GET_LOCK`, by its name.
    UserLock(Rc<str>),
    /// A row that was locked or changed, or a key that was inserted, by a transaction that is open.
    Row(&'static str, Value),
}

/// A row that a transaction has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Of which table.
    pub table: &'static str,
    /// The row as it was; none if it is new.
    pub before: Option<Rc<[Value]>>,
    /// The row as it is; none if it is deleted.
    pub after: Option<Rc<[Value]>>,
}

/// What a server wants done, or has done.
#[derive(Clone, Debug)]
pub enum Output {
    /// A message to a client.
    ToClient(ConnectionId, ServerMessage),
    /// The session is over: the connection is closed by the server.
    Close(ConnectionId),
    /// A message to another server.
    ToPeer(ServerId, PeerMessage),
    /// A session holds a lock from now on, perhaps with others that share it; one that it holds in another way was
    /// released before. A row counts from `FOR NO KEY UPDATE` on.
    Acquired {
        /// The connection of the session.
        connection: ConnectionId,
        /// What it holds.
        lock: Locked,
        /// Others may hold it, too.
        shared: bool,
    },
    /// A session does not hold it any more.
    Released {
        /// The connection of the session.
        connection: ConnectionId,
        /// What it held.
        lock: Locked,
    },
    /// A transaction that has changed rows is committed, and all can see it.
    Committed {
        /// The connection whose statement has committed it; of a prepared transaction the one that ended it. None
        /// at a standby, which repeats what its primary has committed.
        connection: Option<ConnectionId>,
        /// What it has changed, in order.
        changes: Rc<[Change]>,
    },
    /// A statement has come to wait for a lock.
    Waits(ConnectionId),
    /// A session has ended at the server, and with it all that it held.
    SessionEnded(ConnectionId),
    /// The server takes writes from now on, and did not before.
    Promoted,
}
