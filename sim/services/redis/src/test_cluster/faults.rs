//! Faults: machines that crash, restart, pause, or lose their links.

use std::time::Duration;

use super::{Machine, TestCluster};
use crate::{Input, ProcessEnd};

impl TestCluster {
    /// A machine dies. Its kernel closes its connections.
    pub fn kill(&mut self, machine: Machine) {
        self.network.crash(machine);
        self.leave(machine);
        if let Machine::Server(index) = machine {
            self.close_links_of(index);
        }
        self.hang_up_on(machine);
    }

    /// It comes back: a server with what is on its disk, a Sentinel with its configuration.
    pub fn restart(&mut self, machine: Machine) {
        self.restart_after(machine, ProcessEnd::Kill);
    }

    /// The same, where something else than its process may have ended.
    pub fn restart_after(&mut self, machine: Machine, end: ProcessEnd) {
        self.network.restart(machine);
        let now = self.clock(machine);
        match machine {
            Machine::Server(index) => {
                self.copies[index] = (0, 0);
                let mut out = Vec::new();
                self.servers[index].restart(now, end, &mut out);
                self.does(index, out);
            }
            Machine::Sentinel(index) => self.sentinels[index].0.restart(now),
        }
    }

    /// The disk of a server is full, or is not any more.
    pub fn fill_disk(&mut self, server: usize, is_full: bool) {
        self.tell(server, Input::Disk { is_full });
    }

    /// A script of another client takes so long at a server.
    pub fn slow_script(&mut self, server: usize, lasts: Duration) {
        self.tell(server, Input::SlowScript { lasts });
    }

    /// A machine stands still. What comes to it waits.
    pub fn stop(&mut self, machine: Machine) {
        self.network.pause(machine);
    }

    /// It goes on, first with what has come meanwhile.
    pub fn go_on(&mut self, machine: Machine) {
        self.network.resume(machine);
    }

    /// From now on nothing gets from one of these to the other, either way, and neither is told.
    pub fn cut(&mut self, one: Machine, other: Machine) {
        self.network.cut(one, other);
        self.network.cut(other, one);
    }

    /// The wall clock of a machine jumps ahead.
    pub fn jump(&mut self, machine: Machine, ahead: Duration) {
        *self.jumps.entry(machine).or_default() += ahead.as_micros() as i64;
    }
}
