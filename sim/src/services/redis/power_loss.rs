//! Power loss: the peers of a machine get no reset, as they would of a killed process.
//!
//! A process that is killed leaves a kernel that closes its connections. A machine without power leaves nothing: what
//! is sent to it is lost, a client that connects tries again, and one that had a connection learns that it is gone when
//! the machine is back and knows nothing of it.

use picklock_redis::LinkId;

use super::SimulatedRedis;
use crate::network::{ConnectionId, ServerId};
use crate::ownership::Actor;
use crate::world::World;

/// Connections and links whose other ends learn, when the power is back, that it was gone.
#[derive(Default)]
pub(super) struct LostConnections {
    connections: Vec<ConnectionId>,
    links: Vec<LinkId>,
    /// The connections that were asked for meanwhile.
    pending_connects: Vec<ConnectionId>,
}

impl World<SimulatedRedis> {
    /// The power of the server's machine goes.
    pub(super) fn lose_power(&mut self, server: ServerId) {
        if self.service.is_sentinel(server) {
            return self.crash_server(server);
        }
        let slot = &mut self.host.servers[server.0 as usize];
        let unread = slot.process.end().unwrap_or_default();
        let mut power_lost = slot.state.power_lost.take().unwrap_or_default();
        unread.iter().for_each(|event| self.trace_lost(event));
        for number in 0..self.service.traffic.len() {
            let connection = ConnectionId(number as u32);
            let ends = self.connections.get_mut(connection);
            if ends.server == server && std::mem::take(&mut ends.open_at_server) {
                power_lost.connections.push(connection);
            }
        }
        power_lost.links.extend(self.drop_links_of(server));
        self.host.servers[server.0 as usize].state.power_lost = Some(power_lost);
        self.update_owners(Actor::Service);
    }

    /// A client that connects to a machine without power tries again until it is back. Answers whether this one has
    /// none.
    pub(super) fn retries_connect_without_power(&mut self, connection: ConnectionId) -> bool {
        let server = self.server_of(connection);
        let slot = self.host.servers.get_mut(usize::from(server.0));
        let Some(power_lost) = slot.and_then(|slot| slot.state.power_lost.as_mut()) else {
            return false;
        };
        power_lost.pending_connects.push(connection);
        true
    }

    /// The machine is back, and its server runs.
    pub(super) fn restore_power(&mut self, server: ServerId, power_lost: LostConnections) {
        for connection in power_lost.connections {
            self.notify_connection_reset(connection);
        }
        self.close_calls_to(server);
        for link in power_lost.links {
            self.notify_link_closed(server, link);
        }
        for connection in power_lost.pending_connects {
            self.connect_request(connection);
        }
    }
}
