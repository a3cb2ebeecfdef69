//! Connections between clients and servers, and when what is sent over them arrives.

use picklock_checker::VirtualTime;

use super::{SimulatedService, World};
use crate::link_ids;
use crate::network::{ConnectionId, ServerId};
use crate::process::ProcessId;
use crate::trace::MessageDirection::{ToClient, ToServer};

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
    pub(crate) fn reaches_server(&mut self, connection: ConnectionId, extra: u64) -> VirtualTime {
        let ends = self.connections.get(connection);
        let link = link_ids::to_server(ends.client);
        let process = ends.process;
        let obstacle = self.obstacle_between((process, ends.server), |link| link.to_server);
        let (latency, is_first) = (
            self.latency_between(process, ends.server),
            ends.is_new_to_server(),
        );
        let would_leave = obstacle.map_or(self.now, |it| it.leaves(self.now).0);
        let departs = self.gets_out(obstacle, latency, self.now, is_first);
        self.trace_lost_packet((connection, ToServer), would_leave, departs);
        let at = self.travels(latency, link, obstacle, departs, extra);
        self.connections.get_mut(connection).reaches_server(at)
    }

    /// When a message that a server sends at `departs` reaches its client, if it comes later by `extra`.
    pub(crate) fn reaches_client(
        &mut self,
        connection: ConnectionId,
        departs: VirtualTime,
        extra: u64,
    ) -> VirtualTime {
        let ends = self.connections.get(connection);
        let link = link_ids::to_client(ends.client);
        let process = ends.process;
        let obstacle = self.obstacle_between((process, ends.server), |link| link.to_client);
        let (latency, is_first) = (
            self.latency_between(process, ends.server),
            ends.is_new_to_client(),
        );
        let would_leave = obstacle.map_or(departs, |it| it.leaves(departs).0);
        let departs = self.gets_out(obstacle, latency, departs, is_first);
        self.trace_lost_packet((connection, ToClient), would_leave, departs);
        let at = self.travels(latency, link, obstacle, departs, extra);
        self.connections.get_mut(connection).reaches_client(at)
    }
}
