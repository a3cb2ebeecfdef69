//! What is going to happen at a service.

use super::types::ServiceTypes;
use crate::event::{ClientId, ServiceEvent};
use crate::network::{ConnectionId, ServerId};

/// Something that is going to happen at a service.
pub(crate) enum HostEvent<S: ServiceTypes> {
    /// A message of a client reaches a server.
    ToServer {
        connection: ConnectionId,
        message: S::Request,
    },
    /// A message of a server reaches a client.
    ToClient {
        connection: ConnectionId,
        message: S::Reply,
    },
    /// A client asks a server for a connection.
    ConnectRequest { connection: ConnectionId },
    /// A client learns that its connection is open.
    ConnectionOpened { connection: ConnectionId },
    /// A client learns that there is no connection, or no longer.
    ConnectionReset { connection: ConnectionId },
    /// A server learns that a client has closed a connection.
    ClientClosed { connection: ConnectionId },
    /// A server wanted to look at the clock.
    ServerWake { server: ServerId },
    /// A client wanted to look at the clock.
    ClientWake { client: ClientId },
    /// What only this service has.
    Own(S::OwnEvent),
}

impl<S: ServiceTypes> ServiceEvent for HostEvent<S> {
    #[inline]
    fn kind_and_subject(&self) -> (u64, u32) {
        let numbers = &S::EVENT_NUMBERS;
        match self {
            Self::ToServer { connection, .. } => (numbers[0], connection.0),
            Self::ToClient { connection, .. } => (numbers[1], connection.0),
            Self::ConnectRequest { connection } => (numbers[2], connection.0),
            Self::ConnectionOpened { connection } => (numbers[3], connection.0),
            Self::ConnectionReset { connection } => (numbers[4], connection.0),
            Self::ClientClosed { connection } => (numbers[5], connection.0),
            Self::ServerWake { server } => (numbers[6], u32::from(server.0)),
            Self::ClientWake { client } => (numbers[7], client.0),
            Self::Own(event) => event.kind_and_subject(),
        }
    }
}
