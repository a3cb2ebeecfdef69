//! Whether what is left of an ensemble can serve, when something is gone for good.

use super::SimulatedZooKeeper;
use crate::network::Side;
use crate::plan::Fault;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// Whether a side can serve the clients that reach it; if not, what it lacks.
    pub(super) fn has_quorum(&self, side: &Side) -> Result<(), &'static str> {
        let ensemble = &self.service.ensemble;
        let voters = side.iter().filter(|server| {
            server.0 < ensemble.servers
                && !self.for_good_at(**server).any(|fault| {
                    // It is late with every write, and with what its session timeout is measured by.
                    matches!(fault, Fault::SlowDisk { fsync, .. }
                        if *fsync * 2 >= ensemble.granted_timeout())
                })
        });
        match voters.count() * 2 > usize::from(ensemble.servers) {
            true => Ok(()),
            false => Err("what is left has no quorum"),
        }
    }
}
