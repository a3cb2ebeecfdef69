//! Whether what is left of an ensemble can serve, when something is gone for good; and whom the waiting wait for.

use picklock_checker::{ContenderId, NameId};

use super::SimulatedZooKeeper;
use super::ownership_events::name_in_lock;
use crate::network::Side;
use crate::plan::Fault;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// Whether a side can serve those who reach it; if not, what it lacks.
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

    /// The node that a contender waits for, and who made it: the one that it watches, or else the first.
    pub(super) fn waits_behind(&self, by: ContenderId) -> Option<(NameId, ContenderId)> {
        let client = self.contenders[by.0 as usize].client?;
        let watches = self.service.clients[client.0 as usize].machine.watches();
        let lock = self.lock_of(by);
        let ownership = &self.ownerships[lock.0 as usize];
        // Of a handle that tasks share, the watches of this one.
        let own = |path| !self.shares_clients() || self.is_told_of_node(client, by, path);
        let watched = watches
            .filter(|(path, _)| own(path))
            .filter_map(|(path, _)| name_in_lock(path))
            .filter(|(of, _)| *of == lock)
            .find_map(|(_, name)| ownership.node(name));
        watched.or_else(|| ownership.head())
    }
}
