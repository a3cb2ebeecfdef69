//! Faults of the servers of an ensemble, and how they heal.

use std::time::Duration;

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::network::{ConnectionId, ServerId};
use crate::plan::Fault;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// The process of a server has died. Its kernel closes its connections.
    pub(super) fn server_died(&mut self, server: ServerId) {
        let slot = &mut self.host.servers[server.0 as usize];
        slot.state.deaths.push(self.now);
        let logged = self.logged_by(server);
        let slot = &mut self.host.servers[server.0 as usize];
        slot.machine.crash(self.now);
        self.record_death(server, logged);
        let clients = self.host.clients.iter();
        let present: Vec<ConnectionId> = clients.filter_map(|slot| slot.state.connection).collect();
        self.close_connections_to(server, present.into_iter());
        for peer in (0..self.host.servers.len()).map(|index| ServerId(index as u8)) {
            if peer != server {
                let latency = self.latency_of_servers(server, peer).draw(&mut self.tape);
                let link = self.links.between(server, peer);
                let at = link.arrival(self.now, latency);
                self.schedule(
                    at,
                    ZooKeeperEvent::PeerLost {
                        server: peer,
                        peer: server,
                    },
                );
            }
        }
    }

    /// A dead server has come back with what was safe on its disk.
    pub(super) fn server_restarted(&mut self, server: ServerId) {
        self.record_restart(server);
        self.server_changed(server, ServerChange::Restarted);
        let slot = &mut self.host.servers[server.0 as usize];
        let out = &mut self.host.server_outputs;
        slot.machine.restart(self.now, &mut self.tape, out);
        self.apply_server_outputs(server);
    }

    /// A server is as late, and its disk as slow, as the worst of what is in force makes it.
    pub(super) fn slow_as_struck(&mut self, server: ServerId) {
        let (mut lag, mut lag_until) = (Duration::ZERO, VirtualTime::ZERO);
        let mut flush = self.service.ensemble.fsync;
        for struck in self.struck.servers.iter().filter(|it| it.server == server) {
            match self.plan.faults[struck.fault].inject {
                Fault::LagServer { by, .. } => {
                    lag = lag.max(by);
                    lag_until = lag_until.max(struck.until);
                }
                Fault::SlowDisk { fsync, .. } => flush = flush.max(fsync),
                _ => {}
            }
        }
        let slot = &mut self.host.servers[server.0 as usize];
        slot.state.lag = whole_micros(lag);
        slot.state.lag_until = lag_until;
        slot.machine.set_fsync(flush);
    }

    /// What made servers late or their disks slow is over.
    pub(super) fn slowness_ends(&mut self, fault: usize) {
        self.servers_healed_of(fault);
        for index in 0..self.host.servers.len() {
            self.slow_as_struck(ServerId(index as u8));
        }
    }
}
