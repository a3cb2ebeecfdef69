//! The lock's key on each server, and who owns the lock by it.

use picklock_algorithms::clients::redis::{Bytes, Value};
use picklock_checker::{ContenderId, VirtualTime};
use picklock_redis::{ConnectionId as At, Fate, Gone, Why, Writer};

use super::servers::OPERATOR;
use super::{RedisServer, calls};
use crate::event::{Event, RedisEvent};
use crate::network::{ConnectionId, ServerId};
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
    /// The same as [`follow_key`](Self::follow_key) after something has happened at a server, which is mostly nothing
    /// to the lock's key.
    #[inline]
    pub(super) fn key_may_change(&mut self, server: ServerId) {
        let slot = &mut self.redis.servers[server.0 as usize];
        let fate = slot.machine.fate();
        let now = self.now;
        let is_over = |expires| slot.clock.wall(now).div_euclid(1_000) > expires;
        if fate != Fate::default() || slot.expires.is_some_and(is_over) {
            self.key_has(server, fate);
        }
    }

    /// Looks what has become of the lock's key on a server, and records who comes to own the lock, and who ceases to.
    pub(super) fn follow_key(&mut self, server: ServerId) {
        let fate = self.redis.servers[server.0 as usize].machine.fate();
        self.key_has(server, fate);
    }

    /// The lock's key has had this fate, or its time is over.
    fn key_has(&mut self, server: ServerId, fate: Fate) {
        let slot = &mut self.redis.servers[server.0 as usize];
        let wall = slot.clock.wall(self.now);
        let value = slot.machine.read(wall, LOCK_KEY.as_bytes());
        let identity = value.as_ref().and_then(identity);
        let known = slot.holder.as_ref().map(|holder| &holder.identity);
        if identity.as_ref() != known {
            let known = identity.as_ref().and_then(|identity| self.known(identity));
            let holder = match (known, identity, self.writer(fate)) {
                (Some(known), _, _) => Some(known),
                (None, Some(identity), Some(Actor::Contender(by))) => Some(Holder { by, identity }),
                (None, _, _) => None,
            };
            let ended_by = self.ended_by(fate);
            let slot = &mut self.redis.servers[server.0 as usize];
            if let Some(before) = std::mem::replace(&mut slot.holder, holder) {
                slot.before = Some(before);
            }
            self.owners_may_change(ended_by);
        }
        self.arm_lease_check(server);
    }

    /// Who has written the key, if anybody has.
    fn writer(&self, fate: Fate) -> Option<Actor> {
        fate.written.map(|writer| match writer {
            Writer::Client(connection) => self.served_at(connection),
            Writer::Peer => Actor::Outsider,
        })
    }

    /// Who has ended what the key told of.
    fn ended_by(&self, fate: Fate) -> Actor {
        match fate.gone {
            Some(Gone { why, serving }) => match why {
                // Whoever came upon it.
                Why::Expired => Actor::SessionEnd,
                Why::Deleted | Why::Overwritten | Why::Flushed | Why::Migrated => {
                    serving.map_or(Actor::Outsider, |it| self.served_at(it))
                }
                Why::Synchronised | Why::Forgotten => Actor::Outsider,
            },
            // If nothing has happened to it, its time is over, and its server has not looked.
            None => self.writer(fate).unwrap_or(Actor::SessionEnd),
        }
    }

    /// Who is at the other end of a connection to a server.
    fn served_at(&self, connection: At) -> Actor {
        if connection == OPERATOR || calls::is_call(connection) {
            return Actor::Outsider;
        }
        let process = self.redis.process_of(ConnectionId(connection.0));
        if (process.0 as usize) < self.contenders.len() {
            Actor::Contender(ContenderId(process.0))
        } else {
            Actor::Outsider
        }
    }

    /// Who has set the key on more than half of the servers owns the lock; with replicas or in a cluster, whoever has
    /// set it on a server that runs and takes writes. There may be two of those.
    fn owners_now(&self, owners: &mut Vec<Holder>) {
        let redis = &self.redis;
        if redis.deployment.is_replicated() || redis.deployment.cluster.is_some() {
            let leads = |slot: &&RedisServer| slot.machine.is_primary() && slot.machine.serves();
            let primaries = redis.servers.iter().filter(|slot| slot.life.is_up());
            let primaries = primaries.filter(leads);
            for holder in primaries.filter_map(|slot| slot.holder.as_ref()) {
                if !owners.contains(holder) {
                    owners.push(holder.clone());
                }
            }
            return;
        }
        let holders = || redis.servers.iter().filter_map(|slot| slot.holder.as_ref());
        let votes = |holder: &Holder| holders().filter(|other| *other == holder).count();
        let owner = holders().find(|holder| votes(holder) * 2 > redis.servers.len());
        owners.extend(owner.cloned());
    }

    /// Records who comes to own the lock, and who ceases to.
    pub(super) fn owners_may_change(&mut self, actor: Actor) {
        let mut now = std::mem::take(&mut self.redis.owners_now);
        self.owners_now(&mut now);
        let mut owners = std::mem::take(&mut self.redis.owners);
        owners.retain(|(holder, token)| {
            let stays = now.contains(holder);
            if !stays {
                self.recorder.counts.departures += u64::from(self.draining);
                self.ownership
                    .key_gone(self.now, *token, actor, &mut self.recorder);
            }
            stays
        });
        for new in now.drain(..) {
            if owners.iter().any(|(known, _)| *known == new) {
                continue;
            }
            let name = self.recorder.name(&self.lock_path);
            let token = self
                .ownership
                .key_set(self.now, new.by, name, &mut self.recorder);
            owners.push((new, token));
        }
        self.redis.owners = owners;
        self.redis.owners_now = now;
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
        self.follow_key(server);
    }
}
