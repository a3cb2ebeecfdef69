//! The lock's key on each server, and who owns the lock by it.

use picklock_algorithms::{KeyHold, Owners};
use picklock_checker::{LateExtension, LockId, Mode, Token, VirtualTime};
use picklock_clients::redis::Bytes;
use picklock_redis::{Caller, KeyChanges, KeyRemoval, KeyWriter, KeysAt, RemovalReason};

use super::SimulatedRedis;
use super::event::RedisEvent;
use super::lock_key::{AttributedHold, CommittedKeys, Holder};
use super::operator::OPERATOR;
use super::sentinel_links;
use crate::event::Event;
use crate::network::ServerId;
use crate::ownership::{Actor, in_mode};
use crate::world::{NO_CONTENDER, World};

/// What the keys of a lock say.
enum KeysRead {
    /// That there are these holds.
    Holds(Vec<KeyHold>),
    /// That so many permits are free; `None` if they do not say.
    Free(Option<i64>),
}

/// A contender that owns the lock by its keys.
pub(super) struct Owner {
    pub holder: Holder,
    token: Token,
    /// Whether a server that answers for all did not have this hold when that was last looked at.
    pub denied: bool,
}

impl World<SimulatedRedis> {
    /// The same as [`follow_keys`](Self::follow_keys) after something has happened at a server, which is mostly nothing
    /// to the key of any lock.
    #[inline]
    pub(super) fn keys_may_change(&mut self, server: ServerId) {
        for lock in 0..self.lock_names.len() {
            let slot = &mut self.service.servers[server.0 as usize];
            let fate = slot.machine.fate_of(lock);
            let wall = slot.clock.wall(self.now);
            let key = &slot.keys[lock];
            if fate != KeyChanges::default() || key.is_over(wall) || key.first_end() <= self.now {
                self.key_has(LockId(lock as u32), server, fate);
            }
        }
    }

    /// Looks what has become of the keys of the locks on a server, and records who comes to own a lock, and who ceases
    /// to.
    pub(super) fn follow_keys(&mut self, server: ServerId) {
        for lock in 0..self.lock_names.len() {
            let fate = self.service.servers[server.0 as usize]
                .machine
                .fate_of(lock);
            self.key_has(LockId(lock as u32), server, fate);
        }
    }

    /// The key of a lock has had this fate, or its time is over.
    fn key_has(&mut self, lock: LockId, server: ServerId, fate: KeyChanges) {
        let slot = &mut self.service.servers[server.0 as usize];
        for step in slot.machine.key_steps(lock.0 as usize) {
            let read = self.read_keys(lock, server, step.keys());
            self.keys_hold(lock, server, read, step.changes);
        }
        let keys = self.service.servers[server.0 as usize].machine.keys();
        let read = self.read_keys(lock, server, keys);
        self.keys_hold(lock, server, read, fate);
    }

    /// What the keys of a lock say.
    fn read_keys(&self, lock: LockId, server: ServerId, keys: KeysAt<'_>) -> KeysRead {
        let wall = self.service.servers[server.0 as usize].clock.wall(self.now);
        let (keys, lock) = (
            CommittedKeys { keys, wall },
            &self.lock_names[lock.0 as usize],
        );
        match self.plan.recipe.ownership.owners {
            Owners::OfKeys(holds) => {
                let mut found = Vec::new();
                holds(&keys, lock, &mut found);
                KeysRead::Holds(found)
            }
            Owners::OfCounter(free) => KeysRead::Free(free(&keys, lock)),
            Owners::OfQueue(_) | Owners::OfNode | Owners::OfData(_) => KeysRead::Free(None),
        }
    }

    /// The keys of a lock say this, and that of its name has had this fate.
    fn keys_hold(&mut self, lock: LockId, server: ServerId, read: KeysRead, fate: KeyChanges) {
        let now = match read {
            KeysRead::Holds(holds) => self.attributed(lock, server, holds, fate),
            KeysRead::Free(free) => self.permits_out(lock, server, free, fate),
        };
        let key = &mut self.service.servers[server.0 as usize].keys[lock.0 as usize];
        let before = std::mem::replace(&mut key.holds, now);
        let is_new = !key.holders().eq(before.iter().map(|hold| &hold.holder));
        let had_any = !before.is_empty();
        let lease = key.expires;
        if is_new {
            self.holds_changed(lock, server, &before, fate);
        }
        self.note_entries(lock, server, &before);
        self.arm_lease_check(lock, server);
        if !is_new && had_any {
            self.note_extension(lock, server, lease, fate);
        }
    }

    /// These holds, with their holders, but for those that have ended.
    fn attributed(
        &self,
        lock: LockId,
        server: ServerId,
        holds: Vec<KeyHold>,
        fate: KeyChanges,
    ) -> Vec<AttributedHold> {
        let held = holds.into_iter().filter_map(|hold| {
            let (entries, expires, takeable) = (hold.entries, hold.expires, hold.takeable);
            let holder = self.holder(lock, server, hold, fate)?;
            Some(AttributedHold {
                entries,
                ends: self.end_of((lock, server), &holder, expires),
                takeable,
                holder,
            })
        });
        held.filter(|hold| hold.ends > self.now).collect()
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
        let key = &self.service.servers[server.0 as usize].keys[lock.0 as usize];
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
        let index = lock.0 as usize;
        let slot = &mut self.service.servers[server.0 as usize];
        let wall = slot.clock.wall(self.now).div_euclid(1_000);
        let key = &mut slot.keys[index];
        let gone: Vec<AttributedHold> = { before.iter() }
            .filter(|hold| !key.has(&hold.holder))
            .cloned()
            .collect();
        let is_known = |holder: &Holder| before.iter().any(|hold| hold.holder == *holder);
        let new = key.holders().filter(|holder| !is_known(holder));
        let new: Vec<Holder> = new.cloned().collect();
        if !gone.is_empty() {
            key.before = gone.iter().map(|hold| hold.holder.clone()).collect();
        }
        self.record_key((index, server), &gone, &new, fate);
        let ended_by = self.ended_by(fate);
        let lapsed = |hold: &AttributedHold| hold.takeable.is_some_and(|from| from <= wall);
        let lapsed = gone.iter().filter(|hold| lapsed(hold));
        let lapsed: Vec<Holder> = lapsed.map(|hold| hold.holder.clone()).collect();
        self.owners_of_may_change(lock, |holder| match lapsed.contains(holder) {
            true => Actor::SessionEnd,
            false => ended_by,
        });
        for holder in &new {
            self.note_grant(lock, holder, server);
        }
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
        let key = &self.service.servers[server.0 as usize].keys[lock.0 as usize];
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
        let slot = &self.service.servers[server.0 as usize];
        let key = &slot.keys[lock.0 as usize];
        let KeyHold { identity, mode, .. } = hold;
        let mode = in_mode(mode);
        let is_it = |holder: &&Holder| holder.identity == identity && holder.mode == mode;
        let before = key.holders().find(is_it);
        let made_anew = fate.gone.is_some() || before.is_none();
        match self.writer(fate) {
            Some(Actor::Contender(by)) if made_anew => Some(Holder { by, identity, mode }),
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

    /// Who has ended what the key told of.
    pub(super) fn ended_by(&self, fate: KeyChanges) -> Actor {
        match fate.gone {
            Some(KeyRemoval { why, serving }) => match why {
                // Whoever came upon it.
                RemovalReason::Expired => Actor::SessionEnd,
                RemovalReason::Deleted | RemovalReason::Flushed | RemovalReason::Migrated => {
                    serving.map_or(Actor::Outsider, |it| self.served(it))
                }
                RemovalReason::Overwritten => match serving.map(|it| self.served(it)) {
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

    /// Whose command a server runs.
    fn served(&self, caller: Caller) -> Actor {
        if caller.connection == OPERATOR || sentinel_links::is_call(caller.connection) {
            return Actor::Outsider;
        }
        match self.caller(caller) {
            NO_CONTENDER => Actor::Outsider,
            by => Actor::Contender(by),
        }
    }

    /// Who has set the key on more than half of the servers owns the lock; with replicas or in a cluster, whoever has
    /// set it on a server that runs and takes writes. There may be two of those.
    fn owners_now(&self, lock: LockId, owners: &mut Vec<Holder>) {
        let redis = &self.service;
        let index = lock.0 as usize;
        if redis.deployment.is_replicated() || redis.deployment.cluster.is_some() {
            let primaries = redis.servers.iter().filter(|slot| slot.leads());
            for holder in primaries.flat_map(|slot| slot.keys[index].holders()) {
                if !owners.contains(holder) {
                    owners.push(holder.clone());
                }
            }
            return;
        }
        let holders = || { redis.servers.iter() }.flat_map(|slot| slot.keys[index].holders());
        for holder in holders() {
            let votes = holders().filter(|other| *other == holder).count();
            if votes * 2 > redis.servers.len() && !owners.contains(holder) {
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
                self.recorder.counts.departures += u64::from(self.draining);
                let (actor, recorder) = (ended_by(&owner.holder), &mut self.recorder);
                self.ownerships[index].key_gone(self.now, owner.token, actor, recorder);
            }
            stays
        });
        for new in now.drain(..) {
            if owners.iter().any(|known| known.holder == new) {
                continue;
            }
            let name = self.recorder.name(&self.lock_names[index]);
            let (now, recorder) = (self.now, &mut self.recorder);
            let token = self.ownerships[index].key_set(now, new.by, new.mode, name, recorder);
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
        let slots = || self.service.servers.iter();
        let primaries = slots().filter(|slot| slot.machine.is_primary());
        let primaries = primaries.flat_map(|slot| slot.keys[index].holders());
        let keys = slots().map(|slot| &slot.keys[index]);
        let all = keys.flat_map(|key| key.holders().chain(&key.before));
        let mut known = primaries.chain(all);
        let is_it = |holder: &&Holder| holder.identity == *identity && holder.mode == mode;
        known.find(is_it).cloned()
    }

    /// Sees to it that the end of the lease is noticed when it comes, or before: then we look again.
    fn arm_lease_check(&mut self, lock: LockId, server: ServerId) {
        let index = lock.0 as usize;
        let slot = &mut self.service.servers[server.0 as usize];
        let key = &mut slot.keys[index];
        key.expires = match key.holds.is_empty() {
            true => None,
            false => slot
                .machine
                .keys()
                .expires_at(self.lock_names[index].as_bytes()),
        };
        let over = key.expires.map(|expires| {
            let over = expires.saturating_add(1).saturating_mul(1_000);
            slot.clock.world_time_of_wall(over)
        });
        let at = over.map_or(key.first_end(), |over| over.min(key.first_end()));
        let at = at.max(self.now);
        if at < slot.lease_check {
            slot.lease_check = at;
            let event = RedisEvent::LeaseEnds { server };
            self.timeline.add(at, Event::Service(event));
        }
    }

    pub(super) fn lease_ends(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        // A check that another has replaced.
        if slot.lease_check > self.now {
            return;
        }
        slot.lease_check = VirtualTime::NEVER;
        self.follow_keys(server);
    }
}
