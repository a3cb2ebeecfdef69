//! Records what servers have answered about a hold where ownership does not show it: majorities of independent servers.

use std::rc::Rc;

use picklock_checker::{ContenderId, EventKind, LockId, ServiceAnswer};

use super::RedisServer;
use super::SimulatedRedis;
use super::lock_key::{AttributedHold, Holder};
use super::ownership::Owner;
use crate::network::ServerId;
use crate::world::World;

/// Which of the independent servers have granted the lock, and to which holder: the latest grants.
#[derive(Debug, Default)]
pub(super) struct Grants(Vec<(Holder, u16)>);

/// A claim that is not decided by so many later ones is not waited for any more.
const REMEMBERED: usize = 64;

impl Grants {
    /// Notes that one of so many servers has granted it. Answers whether they are a majority just now.
    fn note(&mut self, holder: &Holder, by: ServerId, of: usize) -> bool {
        let bit = 1_u16 << by.0;
        let is_majority = |servers: u16| servers.count_ones() as usize * 2 > of;
        let mut known = self.0.iter_mut().rev();
        if let Some((_, servers)) = known.find(|(known, _)| known == holder) {
            let before = *servers;
            *servers |= bit;
            return is_majority(*servers) && !is_majority(before);
        }
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((holder.clone(), bit));
        is_majority(bit)
    }
}

impl World<SimulatedRedis> {
    fn has_answered(&mut self, lock: LockId, by: ContenderId, answer: ServiceAnswer) {
        let what = EventKind::Answered { by, lock, answer };
        self.recorder.record(self.now, what);
    }

    fn owns(&self, lock: LockId, holder: &Holder) -> bool {
        let owners = &self.service.owners[lock.0 as usize];
        owners.iter().any(|owner| owner.holder == *holder)
    }

    /// A server has granted the lock to holders that it did not have before. If a majority has by now, and yet it is no
    /// contender's, then because some had lost it before the last one said yes: nothing can have told the contender.
    pub(super) fn note_grants(&mut self, lock: LockId, by: ServerId, before: &[AttributedHold]) {
        let servers = self.host.servers.len();
        if self.answers_alone() {
            return;
        }
        let key = &self.host.servers[by.0 as usize].state.keys[lock.0 as usize];
        let new: Vec<Holder> = key.new_holders(before).cloned().collect();
        for holder in new {
            let majority = self.service.grants[lock.0 as usize].note(&holder, by, servers);
            if majority && !self.owns(lock, &holder) {
                self.has_answered(lock, holder.by, ServiceAnswer::GrantedApart);
            }
        }
    }

    /// Notes of each owner whether there is a server that answers for all and does not have its hold, or a replica by
    /// whose clock its lease is over: one that was a primary answers its clients on as such.
    pub(super) fn note_denials(&mut self, lock: LockId, owners: &mut [Owner]) {
        let redis = &self.service;
        let in_cluster = redis.deployment.cluster.is_some();
        if !in_cluster && !redis.deployment.is_replicated() {
            return;
        }
        let index = lock.0 as usize;
        let key = Rc::clone(&self.lock_names[index]);
        for owner in owners {
            let denies = |slot: &RedisServer| {
                slot.answers_for_all(in_cluster, &key) && !slot.state.keys[index].has(&owner.holder)
            };
            // Clocks that agree end it on the primary in this moment, too.
            let goes_on = || {
                let servers = &self.host.servers;
                let mut primaries = servers.iter().filter(|slot| slot.leads());
                primaries.any(|slot| {
                    let key = &slot.state.keys[index];
                    key.has(&owner.holder) && !key.is_over(slot.clock.wall(self.now))
                })
            };
            let servers = &self.host.servers;
            let denied = servers.iter().any(denies)
                || servers
                    .iter()
                    .any(|slot| slot.has_lost_by_its_clock(index, &owner.holder))
                    && goes_on();
            if denied && !owner.denied {
                self.has_answered(lock, owner.holder.by, ServiceAnswer::DeniedAtOne);
            }
            owner.denied = denied;
        }
    }

    /// The holds by which contenders own the lock count so many entries at this server, where it had these before.
    pub(super) fn note_entries(
        &mut self,
        lock: LockId,
        server: ServerId,
        before: &[AttributedHold],
    ) {
        let in_cluster = self.service.deployment.cluster.is_some();
        let index = lock.0 as usize;
        let slot = &self.host.servers[server.0 as usize];
        let entries_before = |holder: &Holder| {
            let known = before.iter().find(|hold| hold.holder == *holder);
            known.map_or(1, |hold| hold.entries)
        };
        let counted = |hold: &&AttributedHold| hold.entries != entries_before(&hold.holder);
        let holds = &slot.state.keys[index].holds;
        if !holds.iter().any(|hold| counted(&hold))
            || !self.answers_alone()
            || !slot.answers_for_all(in_cluster, &self.lock_names[index])
        {
            return;
        }
        let counted: Vec<AttributedHold> = holds.iter().filter(counted).cloned().collect();
        for AttributedHold {
            holder, entries, ..
        } in counted
        {
            if self.owns(lock, &holder) {
                self.has_answered(lock, holder.by, ServiceAnswer::Counts(entries));
            }
        }
    }

    /// Whether one server answers for all: not where a majority of them must.
    fn answers_alone(&self) -> bool {
        let redis = &self.service;
        self.host.servers.len() == 1
            || redis.deployment.is_replicated()
            || redis.deployment.cluster.is_some()
    }
}

#[cfg(test)]
mod tests {
    use picklock_checker::Mode;
    use picklock_clients::redis::Bytes;

    use super::*;

    #[test]
    fn a_majority_is_one_once_even_if_servers_lost_it_since() {
        let holder = Holder {
            by: ContenderId(0),
            identity: Bytes::from(&b"token"[..]),
            mode: Mode::Exclusive,
        };
        let mut grants = Grants::default();
        let majorities = [0, 0, 3, 4, 1].map(|server| grants.note(&holder, ServerId(server), 5));
        assert_eq!(majorities, [false, false, false, true, false]);
    }
}
