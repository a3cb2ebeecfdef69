//! The contenders that waiters still wait for when the run ends.

use picklock_checker::{ContenderId, NameId};
use picklock_clients::zookeeper::Path;

use super::ownership_events::name_in_lock;
use super::{LOCKS_PATH, SimulatedZooKeeper};
use crate::plan::LockName;
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// The node that a contender waits for, and its creator: the one that it watches, or else the first.
    pub(super) fn waits_behind(&mut self, by: ContenderId) -> Option<(NameId, ContenderId)> {
        let watched = self.watched_by(by);
        let lock = self.lock_of(by);
        let ownership = &self.ownerships[lock.0 as usize];
        let in_lock = watched.iter().filter_map(|path| name_in_lock(path));
        let mut places = in_lock.filter(|(of, _)| *of == lock);
        if let Some(place) = places.find_map(|(_, name)| ownership.node(name)) {
            return Some(place);
        }
        if !ownership.is_of_leases() {
            return ownership.head();
        }
        let ahead = ownership.ahead_of(by);
        self.inner_mutex(by, &watched).or(ahead)
    }

    /// The nodes that a contender watches; of a handle that tasks share, those that this one does.
    fn watched_by(&self, by: ContenderId) -> Vec<Path> {
        let Some(client) = self.contenders[by.0 as usize].client else {
            return Vec::new();
        };
        let watches = self.host.clients[client.0 as usize].machine.watches();
        let own = |path| !self.shares_clients() || self.hears_of_node(client, by, path);
        let watched = watches.filter(|(path, _)| own(path));
        watched.map(|(path, _)| Path::clone(path)).collect()
    }

    /// A contender that counts the leases of a semaphore has a mutex meanwhile, whose nodes take no permits: that of
    /// these which is there still, and its creator.
    fn inner_mutex(&mut self, by: ContenderId, watched: &[Path]) -> Option<(NameId, ContenderId)> {
        let lock = LockName(self.lock_of(by).0);
        let lock = format!("{LOCKS_PATH}/{}", lock.letter());
        let servers = self.host.servers.iter().filter(|slot| slot.process.is_up());
        let latest = servers.max_by_key(|slot| slot.machine.last_applied())?;
        let tree = latest.machine.tree();
        let of_lock = watched.iter().filter(|path| path.starts_with(&lock));
        let (path, owner) = { of_lock }.find_map(|path| {
            let session = tree.stat(path)?.ephemeral_owner;
            let owner = self.service.sessions.get(&session)?;
            Some((path, *owner))
        })?;
        Some((self.recorder.name(path), owner))
    }
}
