//! What goes into a server and what comes out of it.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::RequestKind;
use picklock_clients::zookeeper::{EventType, Path, SessionId};
use picklock_machines::Chance;

use super::messages::{ClientMessage, ConnectionId, ServerId, ServerMessage, Xid};
use super::quorum_messages::PeerMessage;
use super::txn::Txn;

/// What happens to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A message from a client. The first on a connection is [`ClientMessage::Connect`].
    Client {
        /// On which connection.
        connection: ConnectionId,
        /// What it says.
        message: ClientMessage,
    },
    /// A connection is gone.
    ClientGone {
        /// The connection.
        connection: ConnectionId,
    },
    /// A message from another server.
    Peer {
        /// From which.
        from: ServerId,
        /// What it says.
        message: PeerMessage,
    },
    /// Another server has died, and its connections with it.
    PeerLost {
        /// The peer.
        peer: ServerId,
    },
    /// The time has come that [`Server::next_wake`](super::state::Server::next_wake) had named. Too early does no harm.
    Wake,
}

/// What a server wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send to a client.
    ToClient {
        /// On which connection.
        connection: ConnectionId,
        /// The message.
        message: ServerMessage,
        /// For a notification: whether the client's own transaction caused it.
        own: bool,
    },
    /// Tell several clients that a watch has fired, one after the other.
    Notify {
        /// On which connections.
        connections: Vec<ConnectionId>,
        /// The one of them whose client's own transaction caused it.
        own: Option<ConnectionId>,
        /// What happened.
        kind: EventType,
        /// To which node.
        path: Path,
    },
    /// Close a connection, after what was sent on it before. The server has forgotten it already.
    CloseClient {
        /// The connection.
        connection: ConnectionId,
    },
    /// Send to another server.
    ToPeer {
        /// To which.
        to: ServerId,
        /// The message.
        message: PeerMessage,
        /// When it leaves; not if the server crashes before. Messages that leave earlier are not held up by it.
        at: VirtualTime,
    },
    /// The leader has proposed a client's request.
    Proposed {
        /// The client's session.
        session: SessionId,
        /// The client's number for the request.
        xid: Option<Xid>,
        /// What was asked.
        kind: RequestKind,
    },
    /// The leader knows that a transaction is committed that does something: nothing is said of what was refused. Once
    /// per leader and transaction, in the order of zxids. A new leader reports those of its log that it had not
    /// applied, which the one before may have reported already.
    Committed(Rc<Txn>),
    /// The leader has marked a session as closing, because nothing was heard from it.
    SessionExpired {
        /// The session.
        session: SessionId,
    },
    /// This server leads, and a quorum follows.
    BecameLeader,
    /// This server accepts clients.
    StartedServing,
    /// This server has closed all client connections, and refuses new ones.
    StoppedServing,
}

/// What is at hand while an input is handled.
pub(super) struct Turn<'a> {
    pub(super) now: VirtualTime,
    pub(super) chance: &'a mut dyn Chance,
    pub(super) out: &'a mut Vec<Output>,
}

impl Turn<'_> {
    /// Says that a transaction is committed, if it does anything.
    pub(super) fn committed(&mut self, txn: &Rc<Txn>) {
        if txn.change.is_done() {
            self.out.push(Output::Committed(Rc::clone(txn)));
        }
    }

    /// Sends to a client.
    pub(super) fn send_to_client(&mut self, connection: ConnectionId, message: ServerMessage) {
        self.out.push(Output::ToClient {
            connection,
            message,
            own: false,
        });
    }
}

/// A moment so many microseconds later.
pub fn later(time: VirtualTime, micros: u64) -> VirtualTime {
    VirtualTime::from_micros(time.micros().saturating_add(micros))
}
