//! Who owns a lock by its item: on each server that has one, for a client may have asked any of them.

use picklock_algorithms::{KeyHold, Keys, Owners};
use picklock_checker::{LockId, Token, VirtualTime};
use picklock_clients::redis::{Bytes, Value};
use picklock_machines::Now;
use picklock_memcached::{Change, Server};

use super::{ItemExpires, SimulatedMemcached};
use crate::network::{ConnectionId, ServerId};
use crate::ownership::{Actor, in_mode};
use crate::world::{NO_CONTENDER, World};

/// What a server has of each lock.
pub(crate) struct Holds(Vec<Option<Hold>>);

struct Hold {
    /// Differs from that of the next hold.
    identity: Bytes,
    token: Token,
}

impl Holds {
    /// None, of so many locks.
    pub fn of(locks: u32) -> Self {
        Self((0..locks).map(|_| None).collect())
    }
}

/// The items of a server, as a rule reads them.
struct Items<'a>(&'a Server, Now);

impl Keys for Items<'_> {
    fn read(&self, key: &str) -> Option<Value> {
        let value = self.0.value(self.1, key)?;
        Some(Value::Bulk(Bytes::from(value.as_bytes())))
    }

    fn expires_at(&self, _key: &str) -> Option<i64> {
        None
    }
}

impl World<SimulatedMemcached> {
    /// The item of a key has changed on a server.
    pub(super) fn item_changed(&mut self, server: ServerId, key: &str, change: Change) {
        let Some(lock) = self.lock_names.iter().position(|name| **name == *key) else {
            return;
        };
        let lock = LockId(lock as u32);
        match change {
            Change::Written(connection) => self.item_written(server, lock, connection),
            Change::Deleted(connection) => self.disown(server, lock, self.actor(connection)),
            Change::Expired => self.disown(server, lock, Actor::SessionEnd),
            Change::Evicted => self.disown(server, lock, Actor::Outsider),
        }
    }

    fn item_written(&mut self, server: ServerId, lock: LockId, connection: ConnectionId) {
        let now = self.server_now(server);
        let slot = &self.host.servers[usize::from(server.0)];
        let mut found: Vec<KeyHold> = Vec::new();
        if let Owners::OfKeys(holds) = self.plan.recipe.ownership.owners {
            let name = &self.lock_names[lock.0 as usize];
            holds(&Items(&slot.machine, now), name, &mut found);
        }
        let hold = found.pop();
        let known = slot.state.0[lock.0 as usize].as_ref();
        let is_known = match (known, &hold) {
            (Some(known), Some(hold)) => known.identity == hold.identity,
            _ => false,
        };
        if !is_known {
            let actor = match (self.actor(connection), &hold) {
                (Actor::Contender(by), Some(_)) => Actor::Overwriter(by),
                (actor, _) => actor,
            };
            self.disown(server, lock, actor);
            let by = self.asker(connection);
            if by != NO_CONTENDER
                && let Some(KeyHold { identity, mode, .. }) = hold
            {
                let token = self.granted(lock, by, in_mode(mode));
                let slot = &mut self.host.servers[usize::from(server.0)];
                slot.state.0[lock.0 as usize] = Some(Hold { identity, token });
            }
        }
        let machine = &self.host.servers[usize::from(server.0)].machine;
        let ends = machine.ends_at(&self.lock_names[lock.0 as usize]);
        if ends < VirtualTime::NEVER {
            self.schedule(ends.max(self.now), ItemExpires { server, lock });
        }
    }

    /// The time has come at which the item of a lock was to be over. It may have been stored again.
    pub(super) fn item_expires(&mut self, server: ServerId, lock: LockId) {
        let machine = &self.host.servers[usize::from(server.0)].machine;
        if machine.ends_at(&self.lock_names[lock.0 as usize]) <= self.now {
            self.disown(server, lock, Actor::SessionEnd);
        }
    }

    /// The process of a server is gone, and what it had of any lock.
    pub(super) fn items_lost(&mut self, server: ServerId) {
        for lock in 0..self.lock_names.len() {
            self.disown(server, LockId(lock as u32), Actor::Service);
        }
    }

    fn disown(&mut self, server: ServerId, lock: LockId, actor: Actor) {
        let holds = &mut self.host.servers[usize::from(server.0)].state;
        if let Some(hold) = holds.0[lock.0 as usize].take() {
            self.key_gone(lock, hold.token, actor);
        }
    }

    fn actor(&self, connection: ConnectionId) -> Actor {
        match self.asker(connection) {
            NO_CONTENDER => Actor::Outsider,
            by => Actor::Contender(by),
        }
    }
}
