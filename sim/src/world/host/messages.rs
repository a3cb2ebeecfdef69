//! What clients and servers say to each other: how it sets out, what faults make of it, and how it arrives.

use super::{Arrival, HostEvent, SimulatedService};
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, ServerId};
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::{Lost, Received, Sent};
use crate::world::timeline_lanes::{TO_CLIENTS, TO_SERVERS};
use crate::world::{MessageFate, World};

impl<S: SimulatedService> World<S> {
    /// A client sends a message, of which a fault may make something.
    #[inline(always)]
    pub(crate) fn send_to_server(&mut self, connection: ConnectionId, message: S::Request) {
        self.trace_message(connection, (ToServer, Sent), &message);
        match self.fate_of_request() {
            Some(extra) => self.transmit_to_server(connection, message, extra),
            None => {
                self.trace_message(connection, (ToServer, Lost), &message);
                self.cut(connection);
            }
        }
    }

    /// A message of a client is on its way, and comes later by `extra`.
    #[inline(always)]
    pub(crate) fn transmit_to_server(
        &mut self,
        connection: ConnectionId,
        message: S::Request,
        extra: u64,
    ) {
        if !self.connections.get(connection).open_at_client {
            return self.trace_message(connection, (ToServer, Lost), &message);
        }
        let at = self.arrival_at_server(connection, extra);
        if S::gives_up_request(self, connection, at) {
            return;
        }
        let event = HostEvent::ToServer {
            connection,
            message,
        };
        self.timeline
            .add_behind(TO_SERVERS, at, Event::Service(event));
    }

    /// A message reaches a server.
    #[inline(always)]
    pub(super) fn at_server(&mut self, connection: ConnectionId, message: S::Request) {
        let ends = self.connections.get(connection);
        let server = ends.server;
        if !ends.open_at_server || ends.broken {
            return self.trace_message(connection, (ToServer, Lost), &message);
        }
        self.trace_message(connection, (ToServer, Received), &message);
        S::request_arrives(self, server, connection, message);
    }

    /// A server sends a message, of which a fault may make something; `own` if the client itself has caused it.
    #[inline(always)]
    pub(crate) fn send_to_client(
        &mut self,
        server: ServerId,
        connection: ConnectionId,
        message: S::Reply,
        own: bool,
    ) {
        let ends = self.connections.get(connection);
        if !ends.open_at_server || ends.broken {
            return S::cannot_reply(self, connection, &message);
        }
        self.trace_message(connection, (ToClient, Sent), &message);
        let extra = match S::fate_of_reply(self, server, (connection, own), &message) {
            None => 0,
            Some(MessageFate::Late(by)) => by,
            Some(fate) => {
                self.trace_message(connection, (ToClient, Lost), &message);
                if fate == MessageFate::Lost {
                    self.cut(connection);
                }
                return;
            }
        };
        let departs = S::reply_departs(self, server, connection, &message);
        let at = self.arrival_at_client(connection, departs, extra);
        if S::gives_up_reply(self, connection, (departs, at)) {
            return;
        }
        let event = HostEvent::ToClient {
            connection,
            message,
        };
        self.timeline
            .add_behind(TO_CLIENTS, at, Event::Service(event));
    }

    /// A message reaches a client.
    pub(super) fn at_client(&mut self, connection: ConnectionId, message: S::Reply) {
        let ends = self.connections.get(connection);
        let (client, server) = (ClientId(ends.client), ends.server);
        let heard = ends.open_at_client && !ends.broken;
        let step = if heard { Received } else { Lost };
        self.trace_message(connection, (ToClient, step), &message);
        let received = S::reply_arrives(self, client, (connection, heard), &message);
        if heard {
            self.frequent_client_input(
                client,
                S::client_input((connection, server), Arrival::Message(message)),
            );
            if let Some(received) = received {
                self.moment(received);
            }
        }
    }
}
