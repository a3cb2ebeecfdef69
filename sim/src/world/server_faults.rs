//! Faults of servers that every service can have.

use std::time::Duration;

use picklock_checker::VirtualTime;

use super::SimulatedService;
use super::World;
use super::for_good::StruckServer;
use crate::network::ServerId;
use crate::plan::{Fault, FaultDuration, FaultKind};

impl<S: SimulatedService> World<S> {
    /// Breaks something at a server; answers how long it lasts, if it has to be healed.
    pub(crate) fn inject_at_server(&mut self, fault: &Fault) -> Option<Duration> {
        match fault {
            Fault::CrashServer {
                target,
                restart_after,
            } => {
                let server = S::server(self, *target)?;
                self.dies_by_fault(server, *restart_after);
                self.crash_server(server);
                *restart_after
            }
            Fault::HangServer { target, length } => {
                let server = S::server(self, *target)?;
                self.strikes_server(server, *length);
                self.hang_server(server);
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

    /// Writes down that the fault which strikes has struck a server, and for how long.
    pub(crate) fn strikes_server(&mut self, server: ServerId, length: FaultDuration) {
        let (fault, until) = (self.striking, self.until(length));
        self.struck.servers.push(StruckServer {
            fault,
            server,
            until,
        });
    }

    /// Writes down which fault has ended a server. Its process stands still no more.
    pub(crate) fn dies_by_fault(&mut self, server: ServerId, back_after: Option<Duration>) {
        let plan = std::rc::Rc::clone(&self.plan);
        let stood_still = |struck: &StruckServer| {
            let fault = &plan.faults[struck.fault].inject;
            matches!(fault, Fault::HangServer { .. }) && !fault.is_for_good()
        };
        self.struck
            .servers
            .retain(|struck| struck.server != server || !stood_still(struck));
        self.strikes_server(server, back_after.into());
    }

    /// A strike of a fault at servers is over. Answers those that no other strike does the same to.
    pub(crate) fn servers_healed_of(&mut self, fault: usize) -> Vec<ServerId> {
        let now = self.now;
        let struck = std::mem::take(&mut self.struck.servers).into_iter();
        let is_over = |struck: &StruckServer| struck.fault == fault && struck.until <= now;
        let (healed, left): (Vec<_>, Vec<_>) = struck.partition(is_over);
        let plan = &self.plan;
        let same = |struck: &&StruckServer| {
            let faults = [fault, struck.fault].map(|fault| &plan.faults[fault].inject);
            let kinds = faults.map(|fault| match FaultKind::of(fault) {
                FaultKind::PowerLoss => FaultKind::CrashServer,
                kind => kind,
            });
            kinds[0] == kinds[1]
        };
        let still = left.iter().filter(same);
        let still: Vec<ServerId> = still.map(|struck| struck.server).collect();
        self.struck.servers = left;
        let healed = healed.into_iter().map(|struck| struck.server);
        healed.filter(|server| !still.contains(server)).collect()
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
