//! The permits of a semaphore that only counts those that are free: a contender that counts one down owns it.

use picklock_checker::{ContenderId, LockId, Mode, PermitsLeft, VirtualTime};
use picklock_clients::redis::Bytes;
use picklock_redis::KeyChanges;

use super::SimulatedRedis;
use super::lock_key::{AttributedHold, CommittedKeys, Holder};
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::world::World;

impl World<SimulatedRedis> {
    /// The permits that are out, when a server counts so many free ones, and its counter has had this fate.
    pub(super) fn permits_out(
        &mut self,
        lock: LockId,
        server: ServerId,
        free: Option<i64>,
        fate: KeyChanges,
    ) -> Vec<AttributedHold> {
        let index = lock.0 as usize;
        let key = &mut self.host.servers[server.0 as usize].state.keys[index];
        let before = std::mem::replace(&mut key.free, free);
        let mut holds = key.holds.clone();
        let Some(free) = free else {
            return Vec::new();
        };
        if before == Some(free) {
            return holds;
        }
        match self.writer(fate) {
            Some(Actor::Contender(by)) => {
                let taken = before.map_or(0, |before| before.saturating_sub(free));
                for _ in 0..taken.min(i64::from(u16::MAX)) {
                    holds.push(self.new_permit(by));
                }
                for _ in taken..0 {
                    let own = holds.iter().rposition(|hold| hold.holder.by == by);
                    let Some(own) = own else { break };
                    holds.remove(own);
                }
            }
            Some(Actor::Overwriter(_) | Actor::SessionEnd | Actor::Service | Actor::Outsider)
            | None => {
                let slots = self.host.servers.iter();
                let mut primaries = slots.filter(|slot| slot.machine.is_primary());
                if let Some(primary) = primaries.next() {
                    holds.clone_from(&primary.state.keys[index].holds);
                }
                let permits = i64::from(self.plan.workload.permits());
                holds.truncate(usize::try_from(permits - free).unwrap_or(0));
            }
        }
        holds
    }

    fn new_permit(&mut self, by: ContenderId) -> AttributedHold {
        self.service.permits_given += 1;
        let number = self.service.permits_given.to_be_bytes();
        AttributedHold {
            holder: Holder {
                by,
                identity: Bytes::from(&number[..]),
                mode: Mode::Exclusive,
            },
            entries: 1,
            ends: VirtualTime::NEVER,
            takeable: None,
        }
    }

    /// The permits of each lock, as the one server that answers for its key has them; of none that two answer for.
    pub(super) fn counted_permits(&self) -> Vec<Option<PermitsLeft>> {
        let Some(read) = self.plan.recipe.ownership.permits else {
            return Vec::new();
        };
        let in_cluster = self.service.deployment.cluster.is_some();
        let of_lock = |name: &std::rc::Rc<str>| {
            let servers = self.host.servers.iter();
            let mut answers = servers.filter(|slot| slot.answers_for_all(in_cluster, name));
            let (Some(slot), None) = (answers.next(), answers.next()) else {
                return None;
            };
            let keys = CommittedKeys {
                keys: slot.machine.keys(),
                wall: slot.clock.wall(self.now),
            };
            let counted = read(&keys, name)?;
            let (free, leased) = (counted.free, counted.leased);
            Some(PermitsLeft { free, leased })
        };
        self.lock_names.iter().map(of_lock).collect()
    }
}
