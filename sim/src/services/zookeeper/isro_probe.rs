//! Clients that are connected to a read-only server probe the others (`isro`) for one that takes writes.

use picklock_checker::VirtualTime;

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::ClientId;
use crate::link_ids;
use crate::network::ServerId;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// A client asks a server whether it takes writes: it has to connect first.
    #[cold]
    pub(super) fn send_isro_probe(&mut self, client: ClientId, server: ServerId) {
        let there = self.passes((client, server), true, (self.now, true));
        let back = self.passes((client, server), false, (there, true));
        let at = self.passes((client, server), true, (back, false));
        self.schedule(at, ZooKeeperEvent::IsroProbe { client, server });
    }

    /// Only a yes is of any use. One that stands still does not answer before the client has given up.
    #[cold]
    pub(super) fn on_isro_probe(&mut self, client: ClientId, server: ServerId) {
        let slot = &self.host.servers[server.0 as usize];
        if slot.process.runs() && slot.machine.is_serving() && !slot.machine.is_read_only() {
            let at = self.passes((client, server), false, (self.now, false));
            self.schedule(at, ZooKeeperEvent::IsroReply { client, server });
        }
    }

    /// When a message of a client to a server, or to it from a server, gets through that leaves at a time, and is the
    /// first of its connection or not.
    fn passes(
        &mut self,
        (client, server): (ClientId, ServerId),
        to_server: bool,
        (departs, is_first): (VirtualTime, bool),
    ) -> VirtualTime {
        let process = self.host.clients[client.0 as usize].process;
        let ends = (process, server);
        let (link, obstacle) = if to_server {
            let obstacle = self.obstacle_between(ends, |link| link.to_server);
            (link_ids::to_server(client.0), obstacle)
        } else {
            let obstacle = self.obstacle_between(ends, |link| link.to_client);
            (link_ids::to_client(client.0), obstacle)
        };
        let latency = self.latency_between(process, server);
        let departs = self.departure(obstacle, latency, departs, is_first);
        self.travels(latency, link, obstacle, departs, 0)
    }
}
