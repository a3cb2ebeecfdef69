//! What goes into a server and what comes out of it.

use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_machines::ConnectionId;

use crate::cluster::{BusMessage, NodeId};
use crate::replication_protocol::{Address, LinkId, PeerMessage};

/// What happens to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A client has connected.
    Connected {
        /// By which connection.
        connection: ConnectionId,
    },
    /// A command from a client.
    Received {
        /// On which connection.
        connection: ConnectionId,
        /// What it says.
        command: Command,
    },
    /// A connection is gone.
    Gone {
        /// The connection.
        connection: ConnectionId,
    },
    /// The link to the primary that [`Output::ReachPrimary`] asked for is there.
    Linked {
        /// Its name.
        link: LinkId,
    },
    /// A link is gone.
    LinkGone {
        /// Which; none if the link to the primary could not be made.
        link: Option<LinkId>,
    },
    /// A message from the server at the other end of a link.
    FromPeer {
        /// Which link.
        link: LinkId,
        /// The message.
        message: PeerMessage,
    },
    /// Nothing can be written to the disk any more, or again something can.
    Disk {
        /// Which of the two.
        is_full: bool,
    },
    /// It uses all the memory that it may, or less again.
    Memory {
        /// Which of the two.
        is_full: bool,
    },
    /// A message from another node of the cluster.
    FromNode {
        /// What it says, with its sender.
        message: Box<BusMessage>,
    },
    /// A script of an unknown client begins, writes nothing, and takes so long.
    SlowScript {
        /// How long.
        lasts: Duration,
    },
    /// The time has come that [`next_wake`](picklock_machines::Machine::next_wake) had named. Too early does no harm.
    Wake,
}

/// What a server wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send to a client: the answer to its oldest command without one, or a message of a subscription.
    ToClient {
        /// On which connection.
        connection: ConnectionId,
        /// The value.
        value: Value,
    },
    /// Close a connection, after what was sent on it before. The server has forgotten it already.
    Close {
        /// The connection.
        connection: ConnectionId,
    },
    /// Make a link to the primary, and say [`Input::Linked`], or [`Input::LinkGone`] if it is not accepted.
    ReachPrimary {
        /// Where it is.
        to: Address,
    },
    /// Send to the server at the other end of a link.
    ToPeer {
        /// Which link.
        link: LinkId,
        /// The message.
        message: PeerMessage,
    },
    /// Send to another node of the cluster. A message that cannot be delivered is dropped.
    ToNode {
        /// The node that it goes to.
        to: NodeId,
        /// The message.
        message: Box<BusMessage>,
    },
    /// Close a link, after what was sent on it before. The server has forgotten it already.
    CloseLink {
        /// The link.
        link: LinkId,
    },
    /// Something was asked for that this server does not do as Redis would. The answer is an error that names it, and
    /// what happens from here on proves nothing.
    NotModelled {
        /// What: a command, an option, a function of a script.
        what: String,
    },
    /// A script was cut because it would have gone on for ever. On a real server all clients would wait.
    ScriptCut {
        /// Its SHA1, in hexadecimal digits.
        script: String,
        /// In which of its lines it was.
        line: u32,
    },
}
