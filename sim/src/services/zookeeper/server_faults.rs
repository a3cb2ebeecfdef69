//! Faults of the servers of an ensemble, and how they heal.

use std::time::Duration;

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};
use picklock_zookeeper::state::Input;

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::Event;
use crate::network::ServerId;
use crate::plan::Fault;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// The server's process dies. Its kernel closes its connections.
    pub(super) fn crash_server(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        // One that is down already does not stand still either, whatever would have ended that.
        slot.hung = false;
        let unread = std::mem::take(&mut slot.backlog);
        if !slot.up {
            return;
        }
        slot.up = false;
        slot.deaths.push(self.now);
        unread.iter().for_each(|event| self.trace_lost(event));
        let logged = self.logged_by(server);
        let slot = &mut self.service.servers[server.0 as usize];
        slot.machine.crash(self.now);
        self.record_death(server, logged);
        for client in 0..self.service.clients.len() {
            let Some(connection) = self.service.clients[client].connection else {
                continue;
            };
            let ends = self.connections.get_mut(connection);
            if ends.server == server && ends.open_at_server {
                ends.open_at_server = false;
                let at = self.reaches_client(connection, self.now, 0);
                self.timeline.add(
                    at,
                    Event::Service(ZooKeeperEvent::ConnectionReset { connection }),
                );
            }
        }
        for peer in (0..self.service.servers.len()).map(|index| ServerId(index as u8)) {
            if peer != server {
                let latency = self.latency_of_servers(server, peer).draw(&mut self.tape);
                let link = self.links.between(server, peer);
                let at = link.arrival(self.now, latency);
                self.timeline.add(
                    at,
                    Event::Service(ZooKeeperEvent::PeerLost {
                        server: peer,
                        peer: server,
                    }),
                );
            }
        }
    }

    /// A dead server comes back with what was safe on its disk.
    pub(super) fn restart_server(&mut self, server: ServerId) {
        if self.service.servers[server.0 as usize].up {
            return;
        }
        let slot = &mut self.service.servers[server.0 as usize];
        slot.up = true;
        slot.wake = VirtualTime::NEVER;
        self.record_restart(server);
        self.server_changed(server, ServerChange::Restarted);
        let slot = &mut self.service.servers[server.0 as usize];
        let out = &mut self.service.server_outputs;
        slot.machine.restart(self.now, &mut self.tape, out);
        self.apply_server_outputs(server);
    }

    /// A server that stood still goes on: first it looks at the clock, then it reads what has queued up.
    pub(super) fn resume_server(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        if !slot.hung {
            return;
        }
        slot.hung = false;
        slot.wake = VirtualTime::NEVER;
        let backlog = std::mem::take(&mut slot.backlog);
        if slot.up {
            self.server_input(server, Input::Wake);
            for event in backlog {
                self.dispatch_from_backlog(Event::Service(event));
            }
        }
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
        let slot = &mut self.service.servers[server.0 as usize];
        slot.lag = whole_micros(lag);
        slot.lag_until = lag_until;
        slot.machine.set_fsync(flush);
    }

    /// What made servers late or their disks slow is over.
    pub(super) fn slowness_ends(&mut self, fault: usize) {
        self.servers_healed_of(fault);
        for index in 0..self.service.servers.len() {
            self.slow_as_struck(ServerId(index as u8));
        }
    }
}
