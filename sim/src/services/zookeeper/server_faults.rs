//! Faults of the servers of an ensemble, and how they heal.

use std::time::Duration;

use picklock_checker::{VirtualTime, time::whole_micros};

use super::SimulatedZooKeeper;
use crate::network::ServerId;
use crate::plan::Fault;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// A server is as late, and its disk as slow, as the worst of what is in force makes it.
    pub(super) fn slow_as_struck(&mut self, server: ServerId) {
        let (mut lag, mut lag_until) = (Duration::ZERO, VirtualTime::ZERO);
        let mut flush = self.service.ensemble.fsync;
        let all = self.struck.servers.iter();
        for struck in all.filter(|struck| struck.server == server) {
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
