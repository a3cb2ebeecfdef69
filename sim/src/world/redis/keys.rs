//! The lock's key on each server, and who owns the lock by it.

use picklock_algorithms::clients::redis::{Bytes, Value};
use picklock_checker::{ContenderId, VirtualTime};

use super::RedisServer;
use crate::event::{Event, RedisEvent};
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::world::{LOCK_KEY, World};

/// What the lock's key holds, and who has set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    by: ContenderId,
    /// What tells one hold from the next: the value, or the first field of a hash.
    identity: Bytes,
}

fn identity(value: &Value) -> Option<Bytes> {
    match value {
        Value::Bulk(bytes) => Some(Bytes::clone(bytes)),
        Value::Array(values) | Value::Map(values) => values.first().and_then(identity),
        _ => None,
    }
}

impl World {
    /// Looks what has become of the lock's key on a server, and records who comes to own the lock, and who ceases to.
    pub(super) fn follow_key(&mut self, server: ServerId, actor: Actor) {
        let slot = &self.redis.servers[server.0 as usize];
        let wall = slot.clock.wall(self.now);
        let value = slot.machine.read(wall, LOCK_KEY.as_bytes());
        let identity = value.as_ref().and_then(identity);
        let known = slot.holder.as_ref().map(|holder| &holder.identity);
        if identity.as_ref() != known {
            // What went by itself went because its time was over, whoever came upon it, and has the key now. In its
            // last millisecond a server may take it away while it serves somebody else.
            let of_actor = (slot.holder.as_ref()).map(|it| Actor::Contender(it.by)) == Some(actor);
            let last = wall / 1_000 - i64::from(of_actor);
            let over = slot.expires.is_some_and(|expires| last >= expires);
            let ended_by = if over { Actor::SessionEnd } else { actor };
            let known = identity.as_ref().and_then(|identity| self.known(identity));
            let holder = match (known, identity, actor) {
                (Some(known), _, _) => Some(known),
                (None, Some(identity), Actor::Contender(by)) => Some(Holder { by, identity }),
                (None, _, _) => None,
            };
            let slot = &mut self.redis.servers[server.0 as usize];
            if let Some(before) = std::mem::replace(&mut slot.holder, holder) {
                slot.before = Some(before);
            }
            self.owners_may_change(ended_by);
        }
        self.arm_lease_check(server);
    }

    /// Who has set the key on more than half of the servers owns the lock; with replicas or in a cluster, whoever has
    /// set it on a server that runs and takes writes. There may be two of those.
    fn owners_now(&self) -> Vec<Holder> {
        let redis = &self.redis;
        if redis.deployment.is_replicated() || redis.deployment.cluster.is_some() {
            let leads = |slot: &&RedisServer| slot.machine.is_primary() && slot.machine.serves();
            let primaries = redis.servers.iter().filter(|slot| slot.life.is_up());
            let primaries = primaries.filter(leads);
            let mut owners: Vec<Holder> = Vec::new();
            for holder in primaries.filter_map(|slot| slot.holder.as_ref()) {
                if !owners.contains(holder) {
                    owners.push(holder.clone());
                }
            }
            return owners;
        }
        let holders = || redis.servers.iter().filter_map(|slot| slot.holder.as_ref());
        let votes = |holder: &Holder| holders().filter(|other| *other == holder).count();
        let owner = holders().find(|holder| votes(holder) * 2 > redis.servers.len());
        owner.cloned().into_iter().collect()
    }

    /// Records who comes to own the lock, and who ceases to.
    pub(super) fn owners_may_change(&mut self, actor: Actor) {
        let owners = self.owners_now();
        let before = std::mem::take(&mut self.redis.owners);
        for (holder, token) in before {
            if owners.contains(&holder) {
                self.redis.owners.push((holder, token));
                continue;
            }
            if self.draining {
                self.recorder.counts.departures += 1;
            }
            self.ownership
                .key_gone(self.now, token, actor, &mut self.recorder);
        }
        for new in owners {
            if self.redis.owners.iter().any(|(known, _)| *known == new) {
                continue;
            }
            let name = self.recorder.name(&self.lock_path);
            let token = self
                .ownership
                .key_set(self.now, new.by, name, &mut self.recorder);
            self.redis.owners.push((new, token));
        }
    }

    /// Who has set a key that came from another server, or that a clock brings back to life.
    fn known(&self, identity: &Bytes) -> Option<Holder> {
        let known = self.redis.servers.iter();
        let mut known = known.flat_map(|slot| slot.holder.iter().chain(&slot.before));
        known.find(|holder| holder.identity == *identity).cloned()
    }

    /// Sees to it that the end of the lease is noticed when it comes, or before: then we look again.
    fn arm_lease_check(&mut self, server: ServerId) {
        let slot = &mut self.redis.servers[server.0 as usize];
        slot.expires = match slot.holder {
            Some(_) => slot.machine.expires_at(LOCK_KEY.as_bytes()),
            None => None,
        };
        let Some(expires) = slot.expires else {
            return;
        };
        // A key lives through the millisecond in which it expires.
        let over = expires.saturating_add(1).saturating_mul(1_000);
        let at = slot.clock.world_time_of_wall(over).max(self.now);
        if at < slot.lease_check {
            slot.lease_check = at;
            let event = RedisEvent::LeaseEnds { server };
            self.timeline.add(at, Event::Redis(event));
        }
    }

    pub(super) fn lease_ends(&mut self, server: ServerId) {
        self.redis.servers[server.0 as usize].lease_check = VirtualTime::NEVER;
        self.follow_key(server, Actor::SessionEnd);
    }
}
