//! How connections between clients and servers are made, closed, and broken.

use super::{Arrival, HostEvent, SimulatedService};
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, ServerId};
use crate::trace::MessageDirection::ToServer;
use crate::trace::MessageStep::{Closed, Opened};
use crate::trace::{CONNECTION, CONNECTION_GONE};
use crate::world::World;

impl<S: SimulatedService> World<S> {
    /// The client that has a connection.
    pub(crate) fn client_of(&self, connection: ConnectionId) -> ClientId {
        ClientId(self.connections.get(connection).client)
    }

    /// The client closes its end: what it has sent still arrives, what comes is not read.
    #[cold]
    pub(crate) fn hang_up(&mut self, connection: ConnectionId) {
        self.connections.get_mut(connection).open_at_client = false;
        let at = self.arrival_at_server(connection, 0);
        let closed = HostEvent::ClientClosed { connection };
        self.timeline.add(at, Event::Service(closed));
    }

    /// The connection breaks, and both sides learn of it. What is under way is lost with it.
    #[cold]
    pub(crate) fn cut(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        ends.broken = true;
        let (at_client, at_server) = (ends.open_at_client, ends.open_at_server);
        if at_client {
            let event = HostEvent::ConnectionReset { connection };
            self.timeline.add(self.now, Event::Service(event));
        }
        if at_server {
            let event = HostEvent::ClientClosed { connection };
            self.timeline.add(self.now, Event::Service(event));
        }
    }

    /// A client asks a server for a connection: taken if the server accepts, refused otherwise.
    #[cold]
    pub(crate) fn connect_request(&mut self, connection: ConnectionId) {
        if S::keeps_waiting(self, connection) {
            return;
        }
        let server = self.server_of(connection);
        if !S::accepts(self, server) {
            S::refuses(self, connection);
            return self.notify_connection_reset(connection);
        }
        let at = self.arrival_at_client(connection, self.now, 0);
        let ends = self.connections.get_mut(connection);
        (ends.open_at_server, ends.was_opened) = (true, true);
        S::accepted(self, server, connection);
        let event = HostEvent::ConnectionOpened { connection };
        self.timeline.add(at, Event::Service(event));
    }

    #[cold]
    pub(super) fn opened(&mut self, connection: ConnectionId) {
        let ends = *self.connections.get(connection);
        let client = ClientId(ends.client);
        let slot = &self.host.clients[ends.client as usize];
        if ends.open_at_client && slot.alive && S::uses(slot, connection) {
            self.trace(connection, (ToServer, Opened), &CONNECTION);
            let by = (connection, ends.server);
            self.client_input(client, S::client_input(by, Arrival::Opened));
        } else {
            // It has given up waiting.
            self.hang_up(connection);
        }
    }

    /// A client learns that there is no connection, or no longer.
    #[cold]
    pub(crate) fn broken(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        ends.open_at_client = false;
        let (client, was_opened) = (ClientId(ends.client), ends.was_opened);
        let by = (connection, ends.server);
        let is_refused = !ends.was_opened && !ends.broken;
        if S::reads_reset(&self.host.clients[client.0 as usize], connection) {
            self.trace_end_of_connection(connection, is_refused);
            self.client_input(client, S::client_input(by, Arrival::Closed { was_opened }));
        }
    }

    /// A server learns that a client has closed a connection, or that it is broken.
    #[cold]
    pub(super) fn gone(&mut self, connection: ConnectionId) {
        let server = self.server_of(connection);
        let ends = self.connections.get_mut(connection);
        if std::mem::take(&mut ends.open_at_server) {
            self.trace(connection, (ToServer, Closed), &CONNECTION_GONE);
            S::client_gone(self, server, connection);
        }
    }

    /// The server closes its end; the client learns of it when the news has travelled.
    #[cold]
    pub(crate) fn close_client(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        if std::mem::take(&mut ends.open_at_server) {
            self.notify_connection_reset(connection);
        }
    }

    /// A server has died: its kernel closes its connections to clients.
    pub(crate) fn close_client_connections_to(&mut self, server: ServerId) {
        let clients = self.host.clients.iter();
        let connections: Vec<ConnectionId> = clients.flat_map(S::connections).collect();
        self.close_connections_to(server, connections.into_iter());
    }

    /// A server has died: its kernel closes these connections to clients that are its own.
    pub(crate) fn close_connections_to(
        &mut self,
        server: ServerId,
        connections: impl Iterator<Item = ConnectionId>,
    ) {
        for connection in connections {
            if self.server_of(connection) == server {
                self.close_client(connection);
            }
        }
    }

    /// A client learns that its connection is gone, or is none, when the news has travelled.
    pub(crate) fn notify_connection_reset(&mut self, connection: ConnectionId) {
        let at = self.arrival_at_client(connection, self.now, 0);
        let event = HostEvent::ConnectionReset { connection };
        self.timeline.add(at, Event::Service(event));
    }
}
