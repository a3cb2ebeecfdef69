//! The lock's key on each server, and who owns the lock by it.

use picklock_checker::{ContenderId, LateExtension, LockId, Token, VirtualTime};
use picklock_clients::redis::{Bytes, Value};
use picklock_redis::{Caller, KeyChanges, KeyRemoval, KeyWriter, RemovalReason};

use super::SimulatedRedis;
use super::event::RedisEvent;
use super::operator::OPERATOR;
use super::sentinel_links;
use crate::event::Event;
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::world::{NO_CONTENDER, World};

/// What the lock's key holds, and who has set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub by: ContenderId,
    /// What tells one hold from the next: the value, or the first field of a hash.
    pub identity: Bytes,
}

/// The key of a lock on one server.
#[derive(Clone, Debug)]
pub(super) struct LockKey {
    /// Who has set it, and when, by the wall clock, it expires, in milliseconds.
    pub holder: Option<Holder>,
    pub expires: Option<i64>,
    /// How many entries it counts.
    pub entries: u64,
    /// Who had set it before.
    pub before: Option<Holder>,
}

impl LockKey {
    /// Whether its lease is over by this wall clock: a key lives through the millisecond in which it expires.
    pub fn is_over(&self, wall: i64) -> bool {
        let is_over = |expires| wall.div_euclid(1_000) > expires;
        self.expires.is_some_and(is_over)
    }
}

impl Default for LockKey {
    fn default() -> Self {
        Self {
            holder: None,
            expires: None,
            entries: 1,
            before: None,
        }
    }
}

/// Who owns the lock by its keys.
pub(super) struct Owner {
    pub holder: Holder,
    token: Token,
    /// Whether a server that answers for all did not have this hold when that was last looked at.
    pub denied: bool,
}

fn identity(value: &Value) -> Option<Bytes> {
    match value {
        Value::Bulk(bytes) => Some(Bytes::clone(bytes)),
        Value::Array(values) | Value::Map(values) => values.first().and_then(identity),
        _ => None,
    }
}

/// How many entries a hold counts: what stands beside the first field of a hash.
fn entries(value: &Value) -> u64 {
    let count = match value {
        Value::Array(values) | Value::Map(values) => values.get(1),
        _ => None,
    };
    match count {
        Some(Value::Integer(count)) => u64::try_from(*count).unwrap_or(0),
        Some(Value::Bulk(digits)) => {
            let digits = std::str::from_utf8(digits).ok();
            digits.and_then(|it| it.parse().ok()).unwrap_or(1)
        }
        _ => 1,
    }
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
            if fate != KeyChanges::default() || slot.keys[lock].is_over(wall) {
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
        let index = lock.0 as usize;
        let slot = &mut self.service.servers[server.0 as usize];
        let wall = slot.clock.wall(self.now);
        let value = slot.machine.read(wall, self.lock_names[index].as_bytes());
        let identity = value.as_ref().and_then(identity);
        let entries = value.as_ref().map_or(1, entries);
        let before = slot.keys[index].holder.clone();
        let holder = identity.and_then(|identity| self.holder(lock, server, identity, fate));
        let is_new = holder != before;
        if is_new {
            let ended_by = self.ended_by(fate);
            let key = &mut self.service.servers[server.0 as usize].keys[index];
            key.holder.clone_from(&holder);
            key.entries = 1;
            if before.is_some() {
                key.before.clone_from(&before);
            }
            self.record_key((index, server), before.as_ref(), fate);
            self.owners_of_may_change(lock, ended_by);
            if let Some(holder) = &holder {
                self.note_grant(lock, holder, server);
            }
        }
        // A server that was kept from its work may have let the holder in more than once in one step.
        self.note_entries(lock, server, entries);
        let before = self.service.servers[server.0 as usize].keys[index].expires;
        self.arm_lease_check(lock, server);
        if !is_new && before.is_some() {
            self.note_extension(lock, server, before, fate);
        }
    }

    /// The lease of a key that has not changed hands may have been extended. Whose believes in it has the lock in use;
    /// what else extends it may have been on its way for long.
    fn note_extension(
        &mut self,
        lock: LockId,
        server: ServerId,
        before: Option<i64>,
        fate: KeyChanges,
    ) {
        let key = &self.service.servers[server.0 as usize].keys[lock.0 as usize];
        let holder = key.holder.as_ref().map(|holder| holder.by);
        if key.expires <= before {
            return;
        }
        if let (Some(by), Some(KeyWriter::Client(caller))) = (holder, fate.written)
            && self.served(caller) == Actor::Contender(by)
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

    /// Whose this is, which a server has as the lock's key: whoever has put it there, also if another has had the same
    /// before. What is there as before, changed or not, is whose it was.
    fn holder(
        &self,
        lock: LockId,
        server: ServerId,
        identity: Bytes,
        fate: KeyChanges,
    ) -> Option<Holder> {
        let slot = &self.service.servers[server.0 as usize];
        let before = slot.keys[lock.0 as usize].holder.as_ref();
        let is_same = before.is_some_and(|before| before.identity == identity);
        let made_anew = fate.gone.is_some() || before.is_none();
        match self.writer(fate) {
            Some(Actor::Contender(by)) if made_anew => Some(Holder { by, identity }),
            _ if is_same => before.cloned(),
            Some(Actor::Contender(by)) => {
                let known = self.known(lock, &identity);
                Some(known.unwrap_or(Holder { by, identity }))
            }
            Some(Actor::Overwriter(_) | Actor::SessionEnd | Actor::Service | Actor::Outsider)
            | None => self.known(lock, &identity),
        }
    }

    /// Who has written the key, if anybody has.
    fn writer(&self, fate: KeyChanges) -> Option<Actor> {
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
            for holder in primaries.filter_map(|slot| slot.keys[index].holder.as_ref()) {
                if !owners.contains(holder) {
                    owners.push(holder.clone());
                }
            }
            return;
        }
        let holders = || {
            let slots = redis.servers.iter();
            slots.filter_map(|slot| slot.keys[index].holder.as_ref())
        };
        let votes = |holder: &Holder| holders().filter(|other| *other == holder).count();
        let owner = holders().find(|holder| votes(holder) * 2 > redis.servers.len());
        owners.extend(owner.cloned());
    }

    /// Records who comes to own a lock, and who ceases to.
    pub(super) fn update_owners(&mut self, actor: Actor) {
        for lock in 0..self.lock_names.len() {
            self.owners_of_may_change(LockId(lock as u32), actor);
        }
    }

    fn owners_of_may_change(&mut self, lock: LockId, actor: Actor) {
        let index = lock.0 as usize;
        let mut now = std::mem::take(&mut self.service.owners_now);
        self.owners_now(lock, &mut now);
        let mut owners = std::mem::take(&mut self.service.owners[index]);
        owners.retain(|owner| {
            let stays = now.contains(&owner.holder);
            if !stays {
                self.recorder.counts.departures += u64::from(self.draining);
                self.ownerships[index].key_gone(self.now, owner.token, actor, &mut self.recorder);
            }
            stays
        });
        for new in now.drain(..) {
            if owners.iter().any(|known| known.holder == new) {
                continue;
            }
            let name = self.recorder.name(&self.lock_names[index]);
            let (now, recorder) = (self.now, &mut self.recorder);
            let token = self.ownerships[index].key_set(now, new.by, name, recorder);
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

    /// Who has set a key that came from another server, or that a clock brings back to life: primaries know best.
    fn known(&self, lock: LockId, identity: &Bytes) -> Option<Holder> {
        let index = lock.0 as usize;
        let slots = || self.service.servers.iter();
        let primaries = slots().filter(|slot| slot.machine.is_primary());
        let primaries = primaries.filter_map(|slot| slot.keys[index].holder.as_ref());
        let keys = slots().map(|slot| &slot.keys[index]);
        let all = keys.flat_map(|key| key.holder.iter().chain(&key.before));
        let mut known = primaries.chain(all);
        known.find(|holder| holder.identity == *identity).cloned()
    }

    /// Sees to it that the end of the lease is noticed when it comes, or before: then we look again.
    fn arm_lease_check(&mut self, lock: LockId, server: ServerId) {
        let index = lock.0 as usize;
        let slot = &mut self.service.servers[server.0 as usize];
        let key = &mut slot.keys[index];
        key.expires = match key.holder {
            Some(_) => slot.machine.expires_at(self.lock_names[index].as_bytes()),
            None => None,
        };
        let Some(expires) = key.expires else {
            return;
        };
        // A key lives through the millisecond in which it expires.
        let over = expires.saturating_add(1).saturating_mul(1_000);
        let at = slot.clock.world_time_of_wall(over).max(self.now);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::Bulk(text.as_bytes().into())
    }

    #[test]
    fn a_hash_counts_entries_and_a_string_is_one() {
        let hash = |count: &str| Value::Array([bulk("process:1"), bulk(count)].into());
        assert_eq!(entries(&hash("3")), 3);
        assert_eq!(entries(&hash("not a count")), 1);
        assert_eq!(entries(&bulk("7")), 1);
    }
}
