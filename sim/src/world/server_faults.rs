//! What breaks servers, and how they come back.

use std::time::Duration;

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};

use super::World;
use crate::event::Event;
use crate::network::ServerId;
use crate::plan::{Fault, Lasts};
use crate::zookeeper::state::Input;

impl World {
    /// Breaks something at a server; answers how long it lasts, if it has to be healed.
    pub(super) fn inject_at_server(&mut self, fault: &Fault) -> Option<Duration> {
        match fault {
            Fault::CrashServer {
                target,
                restart_after,
            } => {
                let server = self.server(*target)?;
                self.dies_by_fault(server);
                self.crash_server(server);
                *restart_after
            }
            Fault::HangServer { target, length } => {
                let server = self.server(*target)?;
                self.struck.servers.push((self.striking, server));
                self.hang_server(server);
                length.duration()
            }
            Fault::IsolateServer { target, length } => {
                let (server, until) = (self.server(*target)?, self.until(*length));
                self.isolate_server(server, until);
                length.duration()
            }
            Fault::Partition {
                servers,
                contenders,
                length,
            } => {
                self.partition(servers, contenders, self.until(*length));
                length.duration()
            }
            Fault::HoldLink { from, to, length } => {
                let (to, until) = (self.server(*to)?, self.until(*length));
                for from in from {
                    if let Some(from) = self.server(*from) {
                        self.hold_link(from, to, until);
                    }
                }
                length.duration()
            }
            Fault::LagServer { target, by, length } => {
                let (server, until) = (self.server(*target)?, self.until(*length));
                self.lag_server(server, *by, until);
                length.duration()
            }
            Fault::SlowDisk {
                target,
                fsync,
                length,
            } => {
                let server = self.server(*target)?;
                self.struck.servers.push((self.striking, server));
                self.servers[server.0 as usize].machine.set_fsync(*fsync);
                length.duration()
            }
            _ => None,
        }
    }

    /// Writes down which fault has ended a server. Its process stands still no more.
    pub(super) fn dies_by_fault(&mut self, server: ServerId) {
        let plan = std::rc::Rc::clone(&self.plan);
        let stood_still = |by: usize| {
            let fault = &plan.faults[by].inject;
            matches!(fault, Fault::HangServer { .. }) && !fault.is_for_good()
        };
        self.struck
            .servers
            .retain(|(by, struck)| *struck != server || !stood_still(*by));
        self.struck.servers.push((self.striking, server));
    }

    /// The server's process dies. Its kernel closes its connections.
    pub(super) fn crash_server(&mut self, server: ServerId) {
        if self.redis.is_there() {
            self.crash_redis(server);
            return;
        }
        let slot = &mut self.servers[server.0 as usize];
        // One that is down already does not stand still either, whatever would have ended that.
        slot.hung = false;
        slot.backlog.clear();
        if !slot.up {
            return;
        }
        slot.up = false;
        slot.deaths.push(self.now);
        slot.machine.crash(self.now);
        for client in 0..self.clients.len() {
            let Some(connection) = self.clients[client].connection else {
                continue;
            };
            let ends = self.connections.get_mut(connection);
            if ends.server == server && ends.open_at_server {
                ends.open_at_server = false;
                let at = self.reaches_client(connection, self.now, 0);
                self.timeline.add(at, Event::ConnectionReset { connection });
            }
        }
        for peer in (0..self.servers.len()).map(|place| ServerId(place as u8)) {
            if peer != server {
                let latency = self.server_latency.draw(&mut self.tape);
                let link = self.links.between(server, peer);
                let at = link.arrival(self.now, latency);
                self.timeline.add(
                    at,
                    Event::PeerLost {
                        server: peer,
                        peer: server,
                    },
                );
            }
        }
    }

    /// A dead server comes back with what was safe on its disk.
    pub(super) fn restart_server(&mut self, server: ServerId) {
        if self.redis.is_there() {
            self.restart_redis(server);
            return;
        }
        if self.servers[server.0 as usize].up {
            return;
        }
        let slot = &mut self.servers[server.0 as usize];
        slot.up = true;
        slot.wake = VirtualTime::NEVER;
        self.server_changed(server, ServerChange::Restarted);
        let slot = &mut self.servers[server.0 as usize];
        let out = &mut self.server_outputs;
        slot.machine.restart(self.now, &mut self.tape, out);
        self.apply_server_outputs(server);
    }

    /// A server stands still.
    pub(super) fn hang_server(&mut self, server: ServerId) {
        if self.redis.is_there() {
            self.hang_redis(server);
            return;
        }
        self.servers[server.0 as usize].hung = true;
    }

    /// A server that stood still goes on: first it looks at the clock, then it reads what has queued up.
    pub(super) fn resume_server(&mut self, server: ServerId) {
        if self.redis.is_there() {
            self.resume_redis(server);
            return;
        }
        let slot = &mut self.servers[server.0 as usize];
        if !slot.hung {
            return;
        }
        slot.hung = false;
        slot.wake = VirtualTime::NEVER;
        let backlog = std::mem::take(&mut slot.backlog);
        if slot.up {
            self.server_input(server, Input::Wake);
            for event in backlog {
                self.dispatch_from_backlog(event);
            }
        }
    }

    /// Cuts a server off from the others until `until`.
    pub(super) fn isolate_server(&mut self, server: ServerId, until: VirtualTime) {
        let machines = self.plan.service.machines();
        for peer in (0..machines).map(ServerId) {
            if peer != server {
                self.hold_link(server, peer, until);
                self.hold_link(peer, server, until);
            }
        }
    }

    /// Messages of one server to another wait until `until`.
    pub(super) fn hold_link(&mut self, from: ServerId, to: ServerId, until: VirtualTime) {
        self.links.between(from, to).obstacle.hold(until);
    }

    /// Disks are as fast as they were, but for those that are slow for good.
    pub(super) fn disks_are_fast_again(&mut self) {
        let plan = std::rc::Rc::clone(&self.plan);
        for slot in &mut self.servers {
            slot.machine.set_fsync(self.ensemble.fsync);
        }
        for (by, server) in &self.struck.servers {
            if let Fault::SlowDisk { fsync, length, .. } = plan.faults[*by].inject
                && length == Lasts::ForGood
            {
                self.servers[server.0 as usize].machine.set_fsync(fsync);
            }
        }
    }

    /// Lets a server learn everything later, until `until`.
    pub(super) fn lag_server(&mut self, server: ServerId, by: Duration, until: VirtualTime) {
        let slot = &mut self.servers[server.0 as usize];
        if slot.lag_until == VirtualTime::NEVER {
            return;
        }
        slot.lag = whole_micros(by);
        slot.lag_until = until;
    }
}
