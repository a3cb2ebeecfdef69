//! Faults of the servers of an ensemble, and how they heal.

use std::time::Duration;

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};
use picklock_zookeeper::state::Input;

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::Event;
use crate::network::ServerId;
use crate::plan::{Fault, FaultDuration};
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// The server's process dies. Its kernel closes its connections.
    pub(super) fn crash_server(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        // One that is down already does not stand still either, whatever would have ended that.
        slot.hung = false;
        slot.backlog.clear();
        if !slot.up {
            return;
        }
        slot.up = false;
        slot.deaths.push(self.now);
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

    /// Disks are as fast as they were, but for those that are slow for good.
    pub(super) fn disks_are_fast_again(&mut self) {
        let plan = std::rc::Rc::clone(&self.plan);
        for slot in &mut self.service.servers {
            slot.machine.set_fsync(self.service.ensemble.fsync);
        }
        for (by, server) in &self.struck.servers {
            if let Fault::SlowDisk { fsync, length, .. } = plan.faults[*by].inject
                && length == FaultDuration::ForGood
            {
                self.service.servers[server.0 as usize]
                    .machine
                    .set_fsync(fsync);
            }
        }
    }

    /// Lets a server learn everything later, until `until`.
    pub(super) fn lag_server(&mut self, server: ServerId, by: Duration, until: VirtualTime) {
        let slot = &mut self.service.servers[server.0 as usize];
        if slot.lag_until == VirtualTime::NEVER {
            return;
        }
        slot.lag = whole_micros(by);
        slot.lag_until = until;
    }
}
