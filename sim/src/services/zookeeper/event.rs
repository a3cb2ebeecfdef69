//! The events of an ensemble and its clients.

use picklock_checker::VirtualTime;
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};
use picklock_zookeeper::quorum_messages::PeerMessage;

use crate::event::ClientId;
use crate::event::ServiceEvent;
use crate::network::{ConnectionId, ServerId};

/// Something that is going to happen at an ensemble.
pub(crate) enum ZooKeeperEvent {
    /// A message of a client reaches a server.
    ToServer {
        connection: ConnectionId,
        message: ClientMessage,
    },
    /// A message of a server reaches a client.
    ToClient {
        connection: ConnectionId,
        message: ServerMessage,
    },
    /// A client asks a server for a connection.
    ConnectRequest { connection: ConnectionId },
    /// A client learns that its connection is open.
    ConnectionOpened { connection: ConnectionId },
    /// A client learns that there is no connection, or no longer.
    ConnectionReset { connection: ConnectionId },
    /// A server learns that a client has closed a connection.
    ClientClosed { connection: ConnectionId },
    /// A client asks a server `isro`, over a connection of its own.
    IsroProbe { client: ClientId, server: ServerId },
    /// The answer is `rw`.
    IsroReply { client: ClientId, server: ServerId },
    /// A message between servers arrives.
    Peer {
        from: ServerId,
        to: ServerId,
        /// How often its sender had died before it sent it.
        life: u32,
        /// When it left, unless its sender had died by then.
        departed: VirtualTime,
        message: PeerMessage,
    },
    /// A server learns that another is gone.
    PeerLost { server: ServerId, peer: ServerId },
    /// A server wanted to look at the clock.
    ServerWake { server: ServerId },
    /// A client wanted to look at the clock.
    ClientWake { client: ClientId },
}

impl ServiceEvent for ZooKeeperEvent {
    #[inline]
    fn kind_and_subject(&self) -> (u64, u32) {
        match self {
            Self::ToServer { connection, .. } => (1, connection.0),
            Self::ToClient { connection, .. } => (2, connection.0),
            Self::ConnectRequest { connection } => (3, connection.0),
            Self::ConnectionOpened { connection } => (4, connection.0),
            Self::ConnectionReset { connection } => (5, connection.0),
            Self::ClientClosed { connection } => (6, connection.0),
            Self::Peer { from, to, .. } => (7, u32::from(from.0) << 8 | u32::from(to.0)),
            Self::PeerLost { server, peer } => (8, u32::from(server.0) << 8 | u32::from(peer.0)),
            Self::ServerWake { server } => (9, u32::from(server.0)),
            Self::ClientWake { client } => (10, client.0),
            Self::IsroProbe { client, .. } => (42, client.0),
            Self::IsroReply { client, .. } => (43, client.0),
        }
    }
}
