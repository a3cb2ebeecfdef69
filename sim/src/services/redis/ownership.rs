//! The lock's key on each server, and who owns the lock by it.

use picklock_algorithms::{KeyHold, Owners};
use picklock_checker::{LateExtension, LockId, Mode, Token, VirtualTime};
use picklock_clients::redis::Bytes;
use picklock_redis::{Caller, KeyChanges, KeyRemoval, KeyStep, KeyWriter, RemovalReason};

use super::SimulatedRedis;
use super::event::RedisEvent;
use super::lock_key::{AttributedHold, CommittedKeys, Holder};
use super::operator::OPERATOR;
use super::sentinel_links;
use crate::network::ServerId;
use crate::ownership::{Actor, in_mode};
use crate::world::{NO_CONTENDER, World};

/// A contender that owns the lock by its keys.
pub(super) struct Owner {
    pub holder: Holder,
    token: Token,
    /// Whether a server that answers for all did not have this hold at the last look.
    pub denied: bool,
}

impl World<SimulatedRedis> {
    /// The same as [`follow_keys`](Self::follow_keys) after something has happened at a server, which is mostly nothing
    /// to the key of any lock.
    #[inline]
    pub(super) fn keys_may_change(&mut self, server: ServerId) {
        for lock in 0..self.lock_names.len() {
            let slot = &mut self.host.servers[server.0 as usize];
            let fate = slot.machine.fate_of(lock);
            let wall = slot.clock.wall(self.now);
            let key = &slot.state.keys[lock];
            if fate != KeyChanges::default() || key.is_over(wall) || key.first_end() <= self.now {
                self.key_has(LockId(lock as u32), server, fate);
            }
        }
    }

    /// Looks what has become of the keys of the locks on a server, and records who comes to own a lock, and who ceases
    /// to.
    pub(super) fn follow_keys(&mut self, server: ServerId) {
        for lock in 0..self.lock_names.len() {
            let fate = self.host.servers[server.0 as usize].machine.fate_of(lock);
            self.key_has(LockId(lock as u32), server, fate);
        }
    }

    /// The key of a lock has had this fate, or its time is over.
    fn key_has(&mut self, lock: LockId, server: ServerId, fate: KeyChanges) {
        let slot = &mut self.host.servers[server.0 as usize];
        for step in slot.machine.key_steps(lock.0 as usize) {
            let changes = step.changes;
            let now = self.read_holds(lock, server, Some(&step), changes);
            self.keys_hold(lock, server, now, changes);
        }
        let now = self.read_holds(lock, server, None, fate);
        self.keys_hold(lock, server, now, fate);
    }

    /// The holds that the keys of a lock have, after a step, or now, when that of its name has had this fate.
    fn read_holds(
        &mut self,
        lock: LockId,
        server: ServerId,
        step: Option<&KeyStep>,
        fate: KeyChanges,
    ) -> Vec<AttributedHold> {
        let mut found = std::mem::take(&mut self.service.found_holds);
        let slot = &self.host.servers[server.0 as usize];
        let keys = CommittedKeys {
            keys: step.map_or_else(|| slot.machine.keys(), KeyStep::keys),
            wall: slot.clock.wall(self.now),
        };
        let name = &self.lock_names[lock.0 as usize];
        match self.plan.recipe.ownership.owners {
            Owners::OfKeys(holds) => holds(&keys, name, &mut found),
            Owners::OfCounter(free) => {
                let free = free(&keys, name);
                return self.permits_out(lock, server, free, fate);
            }
            Owners::OfQueue(_)
            | Owners::OfNode
            | Owners::OfData(_)
            | Owners::OfSession
            | Owners::OfRow(_)
            | Owners::OfHeldKeys(_) => {}
        }
        let mut now = std::mem::take(&mut self.service.spare_holds);
        let held = found.drain(..);
        now.extend(held.filter_map(|hold| self.attributed(lock, server, hold, fate)));
        self.service.found_holds = found;
        now
    }

    /// The keys of a lock have these holds, and that of its name has had this fate.
    fn keys_hold(
        &mut self,
        lock: LockId,
        server: ServerId,
        now: Vec<AttributedHold>,
        fate: KeyChanges,
    ) {
        let key = &mut self.host.servers[server.0 as usize].state.keys[lock.0 as usize];
        let mut before = std::mem::replace(&mut key.holds, now);
        let is_new = !key.holders().eq(before.iter().map(|hold| &hold.holder));
        let lease = key.expires;
        if is_new {
            self.holds_changed(lock, server, &before, fate);
        }
        self.note_entries(lock, server, &before);
        self.arm_lease_check(lock, server);
        if !is_new && !before.is_empty() {
            self.note_extension(lock, server, lease, fate);
        }
        before.clear();
        self.service.spare_holds = before;
    }

    /// A hold with its holder, if it has one and has not ended.
    fn attributed(
        &self,
        lock: LockId,
        server: ServerId,
        hold: KeyHold,
        fate: KeyChanges,
    ) -> Option<AttributedHold> {
        let (entries, expires, takeable) = (hold.entries, hold.expires, hold.takeable);
        let holder = self.holder(lock, server, hold, fate)?;
        let ends = self.end_of((lock, server), &holder, expires);
        let held = AttributedHold {
            holder,
            entries,
            ends,
            takeable,
        };
        (ends > self.now).then_some(held)
    }

    /// When a hold ends that says so by the wall clock of its contender, in milliseconds.
    fn end_of(
        &self,
        (lock, server): (LockId, ServerId),
        holder: &Holder,
        expires: Option<i64>,
    ) -> VirtualTime {
        let Some(expires) = expires else {
            return VirtualTime::NEVER;
        };
        let key = &self.host.servers[server.0 as usize].state.keys[lock.0 as usize];
        let known = key.holds.iter().find(|hold| hold.holder == *holder);
        known.map_or_else(
            || {
                let process = self.tasks.process_of(holder.by);
                let wall = expires.saturating_mul(1_000);
                self.processes[process.0 as usize].world_time_of_wall(wall)
            },
            |hold| hold.ends,
        )
    }

    /// The key of a lock has other holds than before.
    fn holds_changed(
        &mut self,
        lock: LockId,
        server: ServerId,
        before: &[AttributedHold],
        fate: KeyChanges,
    ) {
        let slot = &mut self.host.servers[server.0 as usize];
        let wall = slot.clock.wall(self.now).div_euclid(1_000);
        let key = &mut slot.state.keys[lock.0 as usize];
        let lost: Vec<Holder> = key.lost_holders(before).cloned().collect();
        if !lost.is_empty() {
            key.before = lost;
        }
        self.record_key(lock, server, before, fate);
        let ended_by = self.ended_by(fate);
        self.owners_of_may_change(lock, |holder| {
            let hold = before.iter().find(|hold| hold.holder == *holder);
            let takeable = hold.and_then(|hold| hold.takeable);
            match takeable.is_some_and(|from| from <= wall) {
                true => Actor::SessionEnd,
                false => ended_by,
            }
        });
        self.note_grants(lock, server, before);
    }

    /// The lease of a key that has not changed hands may have been extended. A contender that believes in it has the
    /// lock in use; what else extends it may have been on its way for long.
    fn note_extension(
        &mut self,
        lock: LockId,
        server: ServerId,
        before: Option<i64>,
        fate: KeyChanges,
    ) {
        let key = &self.host.servers[server.0 as usize].state.keys[lock.0 as usize];
        if key.expires <= before {
            return;
        }
        if let Some(KeyWriter::Client(caller)) = fate.written
            && let Actor::Contender(by) = self.served(caller)
            && key.holders().any(|holder| holder.by == by)
            && !self.believes_in(by, lock)
        {
            let traffic = &self.service.traffic[caller.connection.0 as usize];
            let asked = traffic.unanswered.front();
            self.late_extensions
                .extend(asked.map(|asked| LateExtension {
                    by,
                    lock,
                    sent: asked.sent,
                    at: self.now,
                }));
        }
    }

    /// The contender of a hold that a server has: the one that has written it, also if another has written the same
    /// before. What is there as before, changed or not, is of the contender that it was of.
    fn holder(
        &self,
        lock: LockId,
        server: ServerId,
        hold: KeyHold,
        fate: KeyChanges,
    ) -> Option<Holder> {
        let slot = &self.host.servers[server.0 as usize];
        let key = &slot.state.keys[lock.0 as usize];
        let KeyHold { identity, mode, .. } = hold;
        let mode = in_mode(mode);
        let is_it = |holder: &&Holder| holder.identity == identity && holder.mode == mode;
        let before = key.holders().find(is_it);
        let is_new = fate.gone.is_some() || before.is_none();
        match self.writer(fate) {
            Some(Actor::Contender(by)) if is_new => Some(Holder { by, identity, mode }),
            _ => before
                .cloned()
                .or_else(|| self.known(lock, &identity, mode)),
        }
    }

    /// The writer of the key, if it was written.
    pub(super) fn writer(&self, fate: KeyChanges) -> Option<Actor> {
        fate.written.map(|writer| match writer {
            KeyWriter::Client(caller) => self.served(caller),
            KeyWriter::Peer => Actor::Service,
        })
    }

    /// The actor that has ended the hold in the key.
    pub(super) fn ended_by(&self, fate: KeyChanges) -> Actor {
        match fate.gone {
            Some(KeyRemoval { why, serving }) => match why {
                // A server that came upon it.
                RemovalReason::Expired => Actor::SessionEnd,
                RemovalReason::Deleted | RemovalReason::Flushed | RemovalReason::Migrated => {
                    serving.map_or(Actor::Outsider, |caller| self.served(caller))
                }
                RemovalReason::Overwritten => match serving.map(|caller| self.served(caller)) {
                    Some(Actor::Contender(by)) => Actor::Overwriter(by),
                    Some(
                        Actor::Overwriter(_) | Actor::SessionEnd | Actor::Service | Actor::Outsider,
                    )
                    | None => Actor::Outsider,
                },
                RemovalReason::Synchronised | RemovalReason::Forgotten => Actor::Service,
            },
            // If nothing has happened to it, its time is over, and its server has not looked.
            None => self.writer(fate).unwrap_or(Actor::SessionEnd),
        }
    }

    /// The actor whose command a server runs.
    fn served(&self, caller: Caller) -> Actor {
        if caller.connection == OPERATOR || sentinel_links::is_call(caller.connection) {
            return Actor::Outsider;
        }
        match self.caller(caller) {
            NO_CONTENDER => Actor::Outsider,
            by => Actor::Contender(by),
        }
    }

    /// The owner is the holder with the key on more than half of the servers; with replicas or in a cluster, the holder
    /// with the key on a server that runs and takes writes. There may be two of those.
    fn owners_now(&self, lock: LockId, owners: &mut Vec<Holder>) {
        let redis = &self.service;
        let index = lock.0 as usize;
        if redis.deployment.is_replicated() || redis.deployment.cluster.is_some() {
            let primaries = self.host.servers.iter().filter(|slot| slot.leads());
            for holder in primaries.flat_map(|slot| slot.state.keys[index].holders()) {
                if !owners.contains(holder) {
                    owners.push(holder.clone());
                }
            }
            return;
        }
        let holders =
            || { self.host.servers.iter() }.flat_map(|slot| slot.state.keys[index].holders());
        for holder in holders() {
            let votes = holders().filter(|other| *other == holder).count();
            if votes * 2 > self.host.servers.len() && !owners.contains(holder) {
                owners.push(holder.clone());
            }
        }
    }

    /// Records who comes to own a lock, and who ceases to.
    pub(super) fn update_owners(&mut self, actor: Actor) {
        for lock in 0..self.lock_names.len() {
            self.owners_of_may_change(LockId(lock as u32), |_| actor);
        }
    }

    fn owners_of_may_change(&mut self, lock: LockId, ended_by: impl Fn(&Holder) -> Actor) {
        let index = lock.0 as usize;
        let mut now = std::mem::take(&mut self.service.owners_now);
        self.owners_now(lock, &mut now);
        let mut owners = std::mem::take(&mut self.service.owners[index]);
        owners.retain(|owner| {
            let stays = now.contains(&owner.holder);
            if !stays {
                self.key_gone(lock, owner.token, ended_by(&owner.holder));
            }
            stays
        });
        for new in now.drain(..) {
            if owners.iter().any(|known| known.holder == new) {
                continue;
            }
            let token = self.granted(lock, new.by, new.mode);
            owners.push(Owner {
                holder: new,
                token,
                denied: false,
            });
        }
        self.note_denials(lock, &mut owners);
        self.service.owners[index] = owners;
        self.service.owners_now = now;
    }

    /// The holder of a hold that came from another server, or that a clock brings back to life: primaries know best.
    fn known(&self, lock: LockId, identity: &Bytes, mode: Mode) -> Option<Holder> {
        let index = lock.0 as usize;
        let slots = || self.host.servers.iter();
        let primaries = slots().filter(|slot| slot.machine.is_primary());
        let primaries = primaries.flat_map(|slot| slot.state.keys[index].holders());
        let keys = slots().map(|slot| &slot.state.keys[index]);
        let all = keys.flat_map(|key| key.holders().chain(&key.before));
        let mut known = primaries.chain(all);
        let is_it = |holder: &&Holder| holder.identity == *identity && holder.mode == mode;
        known.find(is_it).cloned()
    }

    /// Sees to it that the end of the lease is noticed when it comes, or before: then we look again.
    fn arm_lease_check(&mut self, lock: LockId, server: ServerId) {
        let index = lock.0 as usize;
        let slot = &mut self.host.servers[server.0 as usize];
        let key = &mut slot.state.keys[index];
        key.expires = match key.holds.is_empty() {
            true => None,
            false => slot
                .machine
                .keys()
                .next_expiry(slot.clock.wall(self.now), self.lock_names[index].as_bytes()),
        };
        let over = key.expires.map(|expires| {
            let over = expires.saturating_add(1).saturating_mul(1_000);
            slot.clock.world_time_of_wall(over)
        });
        let at = over.map_or(key.first_end(), |over| over.min(key.first_end()));
        let at = at.max(self.now);
        if at < slot.state.lease_check {
            slot.state.lease_check = at;
            let event = RedisEvent::LeaseEnds { server };
            self.schedule(at, event);
        }
    }

    pub(super) fn lease_ends(&mut self, server: ServerId) {
        let slot = &mut self.host.servers[server.0 as usize];
        // A check that another has replaced.
        if slot.state.lease_check > self.now {
            return;
        }
        slot.state.lease_check = VirtualTime::NEVER;
        self.follow_keys(server);
    }
}
