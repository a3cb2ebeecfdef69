//! A server of Redis in the world.

use picklock_checker::VirtualTime;

use super::SimulatedRedis;
use super::lock_key::{Holder, LockKey};
use super::power_loss::LostConnections;
use crate::world::HostedServer;

/// A server.
pub(super) type RedisServer = HostedServer<SimulatedRedis>;

/// What is kept of a server beside its machine.
pub(crate) struct ServerState {
    /// Its machine has no power.
    pub(super) power_lost: Option<LostConnections>,
    /// When the world looks next whether the key of a lock has expired.
    pub(super) lease_check: VirtualTime,
    /// By lock: what its key holds.
    pub(super) keys: Vec<LockKey>,
    /// Whether it took itself for a primary and served when that was last looked at.
    pub(super) leads: bool,
    /// Whether it was a primary when that was looked at last.
    pub(super) is_primary: bool,
    /// As how manyth of all servers it became the primary last; zero if it was one from the start, or never.
    pub(super) promotion: u32,
    /// The nodes on which a majority had given up, as it knew when that was looked at last. Looked at only if events
    /// of services are recorded.
    pub(super) failed_nodes: Vec<u8>,
}

impl RedisServer {
    /// Whether it runs, takes itself for a primary, and serves.
    pub fn leads(&self) -> bool {
        self.process.is_up() && self.machine.is_primary() && self.machine.serves()
    }

    /// Whether its answer about a lock's key is the service's: in a cluster, if it has the key's slot.
    pub fn answers_for_all(&self, in_cluster: bool, key: &str) -> bool {
        self.leads() && (!in_cluster || self.machine.has_slot_of(key.as_bytes()))
    }

    /// Whether it is a replica that hides this hold, whose time is over by the replica's own clock.
    pub(super) fn has_lost_by_its_clock(&self, lock: usize, holder: &Holder) -> bool {
        let key = &self.state.keys[lock];
        self.process.is_up()
            && !self.machine.is_primary()
            && !key.has(holder)
            && key.before.contains(holder)
    }
}
