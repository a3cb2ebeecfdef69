//! Connections between clients and servers, and when what is sent over them arrives.

use picklock_checker::VirtualTime;
use picklock_machines::{Link, Message};

use super::{SimulatedService, World};
use crate::link_ids;
use crate::network::{ConnectionId, Latency, ServerId};
use crate::process::ProcessId;
use crate::trace::MessageDirection::{self, ToClient, ToServer};

impl<S: SimulatedService> World<S> {
    /// The process of the client that has a connection.
    pub(crate) fn process_of(&self, connection: ConnectionId) -> ProcessId {
        self.connections.get(connection).process
    }

    /// The server that a connection leads to.
    pub(crate) fn server_of(&self, connection: ConnectionId) -> ServerId {
        self.connections.get(connection).server
    }

    /// When a message that a client sends now reaches its server, if it comes later by `extra`.
    pub(crate) fn arrival_at_server(
        &mut self,
        connection: ConnectionId,
        extra: u64,
    ) -> VirtualTime {
        let at = self.arrival((connection, ToServer), self.now, extra);
        self.connections.get_mut(connection).arrival_at_server(at)
    }

    /// When a message that a server sends at `departs` reaches its client, if it comes later by `extra`.
    pub(crate) fn arrival_at_client(
        &mut self,
        connection: ConnectionId,
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let at = self.arrival((connection, ToClient), departs, extra);
        self.connections.get_mut(connection).arrival_at_client(at)
    }

    /// How long a message from one server to another that leaves at `departs` is under way.
    pub(crate) fn latency_to_peer(
        &mut self,
        from: ServerId,
        to: ServerId,
        departs: VirtualTime,
    ) -> u64 {
        let link = link_ids::between_servers(from, to);
        let sent = Message { link, departs };
        let latency = self.latency_of_servers(from, to);
        latency.draw_of(sent, &mut self.tape)
    }

    /// When a message that a server sends to another now arrives.
    pub(crate) fn arrival_at_peer(&mut self, from: ServerId, to: ServerId) -> VirtualTime {
        let latency = self.latency_to_peer(from, to, self.now);
        self.links.between(from, to).arrival(self.now, latency)
    }

    /// When a message on a connection that leaves at `departs` gets through. Mostly nothing is in the way.
    #[inline(always)]
    fn arrival(
        &mut self,
        way: (ConnectionId, MessageDirection),
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let ends = self.connections.get(way.0);
        let latency = self.latency_between(ends.process, ends.server);
        let link = match way.1 == ToServer {
            true => link_ids::to_server(ends.client),
            false => link_ids::to_client(ends.client),
        };
        match self.links_clear {
            true => self.travels(latency, link, None, departs, extra),
            false => self.arrival_past_obstacle(way, (latency, link), departs, extra),
        }
    }

    #[inline(never)]
    fn arrival_past_obstacle(
        &mut self,
        (connection, direction): (ConnectionId, MessageDirection),
        (latency, link): (Latency, Link),
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let ends = self.connections.get(connection);
        let to_server = direction == ToServer;
        let is_first = match to_server {
            true => ends.is_new_to_server(),
            false => ends.is_new_to_client(),
        };
        let ends = (ends.process, ends.server);
        let obstacle = self.obstacle_between(ends, |link| match to_server {
            true => link.to_server,
            false => link.to_client,
        });
        let would_leave = obstacle.map_or(departs, |obstacle| obstacle.leaves(departs).0);
        let departs = self.departure(obstacle, latency, departs, is_first);
        self.trace_lost_packet((connection, direction), would_leave, departs);
        self.travels(latency, link, obstacle, departs, extra)
    }
}
