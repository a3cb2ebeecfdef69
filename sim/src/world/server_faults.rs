//! Faults of servers that every service can have.

use std::time::Duration;

use picklock_checker::VirtualTime;

use super::SimulatedService;
use super::World;
use crate::network::ServerId;
use crate::plan::Fault;

impl<S: SimulatedService> World<S> {
    /// Breaks something at a server; answers how long it lasts, if it has to be healed.
    pub(crate) fn inject_at_server(&mut self, fault: &Fault) -> Option<Duration> {
        match fault {
            Fault::CrashServer {
                target,
                restart_after,
            } => {
                let server = S::server(self, *target)?;
                self.dies_by_fault(server);
                S::crash(self, server);
                *restart_after
            }
            Fault::HangServer { target, length } => {
                let server = S::server(self, *target)?;
                self.struck.servers.push((self.striking, server));
                S::hang(self, server);
                length.duration()
            }
            Fault::IsolateServer { target, length } => {
                let (server, until) = (S::server(self, *target)?, self.until(*length));
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
                let (to, until) = (S::server(self, *to)?, self.until(*length));
                for from in from {
                    if let Some(from) = S::server(self, *from) {
                        self.hold_link(from, to, until);
                    }
                }
                length.duration()
            }
            _ => None,
        }
    }

    /// Writes down which fault has ended a server. Its process stands still no more.
    pub(crate) fn dies_by_fault(&mut self, server: ServerId) {
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

    /// Cuts a server off from the others until `until`.
    pub(crate) fn isolate_server(&mut self, server: ServerId, until: VirtualTime) {
        let machines = self.plan.service.machines();
        for peer in (0..machines).map(ServerId) {
            if peer != server {
                self.hold_link(server, peer, until);
                self.hold_link(peer, server, until);
            }
        }
    }

    /// Messages of one server to another wait until `until`.
    pub(crate) fn hold_link(&mut self, from: ServerId, to: ServerId, until: VirtualTime) {
        self.links.between(from, to).obstacle.hold(until);
    }
}
