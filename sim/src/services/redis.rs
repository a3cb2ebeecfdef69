//! Redis in the world: its servers and clients, and what they say to each other.

mod answers;
mod callers;
mod clients;
mod cluster;
mod command_text;
mod counted_permits;
mod delivery;
mod error_replies;
mod event;
mod event_loops;
mod faults;
mod for_good;
mod handle;
mod lock_key;
mod operator;
mod ownership;
mod power_loss;
mod pubsub_events;
mod redis_server;
mod refusals;
mod replication_links;
mod retransmissions;
mod role_change;
mod sentinel_links;
mod sentinels;
mod servers;
mod service;
mod service_events;
mod setup;
mod slot_migration;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use picklock_algorithms::KeyHold;
use picklock_checker::{ContenderId, LockId, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::redis::Value;
use picklock_redis::sentinel::Output as SentinelOutput;

use crate::network::{ConnectionId, ServerId};
use crate::plan::{Deployment, LOCK_KEY, ServerName};
use crate::world::{HostEvent, ServerProcess, World};
use answers::Grants;
pub(crate) use event::RedisEvent;
use event_loops::BlockedLoop;
use lock_key::{AttributedHold, Holder};
use operator::SeenKey;
use ownership::Owner;
use redis_server::RedisServer;
use replication_links::ReplicationLink;
use sentinels::SentinelSlot;
use slot_migration::SlotMove;

/// Redis and its clients as the world sees them.
#[derive(Default)]
pub(crate) struct SimulatedRedis {
    deployment: Deployment,
    /// How many servers there are. Sentinels have the numbers after theirs.
    servers: u8,
    sentinels: Vec<SentinelSlot>,
    /// What goes over each connection, by its number.
    traffic: Vec<Traffic>,
    /// The primary that clients are sent to, if there are replicas.
    primary: ServerId,
    /// The links between servers, by their numbers.
    links: Vec<ReplicationLink>,
    /// By lock: who owns it by its keys, each by a token of its own.
    owners: Vec<Vec<Owner>>,
    /// By lock: which servers have granted it, and to which holder, where a majority must.
    grants: Vec<Grants>,
    /// Room for the present owners.
    owners_now: Vec<Holder>,
    /// Room for the holds that the keys of a lock have, and for those with their holders.
    found_holds: Vec<KeyHold>,
    spare_holds: Vec<AttributedHold>,
    /// How many permits of semaphores that only count were given.
    permits_given: u64,
    /// The command that is being executed, if it is of a contender that believes in vain and asks about the lock's key.
    refusal_probe: Option<(ConnectionId, RequestKind, LockId)>,
    /// How often a server has become the primary.
    promotions: u32,
    /// What clean-up scripts have seen.
    stale: Vec<SeenKey>,
    /// Slots that are on their way.
    moves: Vec<SlotMove>,
    sentinel_outputs: Vec<SentinelOutput>,
    /// What makes a server change its role at this moment.
    role_change_by: role_change::RoleChangeBy,
}

/// What is kept of a client beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    /// A callback in its event loop does not return.
    blocked: Option<Box<BlockedLoop>>,
}

/// What goes over a connection: commands are numbered from one, and answered in order.
#[derive(Default)]
struct Traffic {
    /// The kernel of the client, or of the server, is going to give it up.
    given_up: retransmissions::GivenUp,
    sent: u32,
    arrived: u32,
    answered: u32,
    /// Those that are not answered yet.
    unanswered: VecDeque<Unanswered>,
    /// How many answers were sent, and how many have arrived.
    answers: u32,
    heard: u32,
    /// Of these, by number, those that refuse a contender the lock's key as not its own any more.
    refusals: Vec<(u32, (ContenderId, LockId))>,
}

/// A command that is not answered yet.
#[derive(Clone, Copy)]
struct Unanswered {
    kind: RequestKind,
    sent: VirtualTime,
    /// The contender that has asked, of those that share the client.
    by: ContenderId,
}

impl SimulatedRedis {
    /// How many independent servers there are.
    pub fn nodes(&self) -> u32 {
        u32::from(self.deployment.servers)
    }

    /// The server that a client is sent to.
    fn server_for(&self, node: u32) -> ServerId {
        if self.deployment.replicas > 0 {
            self.primary
        } else {
            ServerId(node as u8)
        }
    }

    /// The replica that a client is sent to: each server but the primary is one, whether it knows or not.
    fn replica_for(&self, nth: u8) -> ServerId {
        ServerId(nth + u8::from(nth >= self.primary.0))
    }
}

impl World<SimulatedRedis> {
    /// The server that a name means; `None` if there is none.
    fn server(&self, name: ServerName) -> Option<ServerId> {
        let index = match name {
            ServerName::Number(number) => number,
            ServerName::Primary => return self.primary_of_now(),
            // The first primary with the key. Independent servers have no leader: the first stands for the only one.
            ServerName::Leader | ServerName::Of(_) => {
                self.service.deployment.first_primary().into()
            }
            ServerName::Follower(nth) => {
                let replicas = self.service.deployment.first_replicas();
                (*replicas.get(nth as usize)?).into()
            }
            // There are observers in ensembles alone.
            ServerName::Observer(_) => return None,
            ServerName::Sentinel(nth) => {
                let known = (nth as usize) < self.service.sentinels.len();
                return known.then(|| self.service.sentinel(nth as u8));
            }
        };
        (index < u32::from(self.service.servers)).then_some(ServerId(index as u8))
    }

    /// The server that runs and is the primary, in a cluster the one that has the slot of the first lock's key. If
    /// several take themselves for it, the one that was promoted last.
    fn primary_of_now(&self) -> Option<ServerId> {
        let in_cluster = self.service.deployment.cluster.is_some();
        let servers = self.host.servers.iter().enumerate();
        let primaries = servers.filter(|(_, slot)| {
            slot.process.is_up()
                && slot.machine.is_primary()
                && (!in_cluster || slot.machine.has_slot_of(LOCK_KEY.as_bytes()))
        });
        let last = primaries.max_by_key(|(_, slot)| slot.state.promotion)?;
        Some(ServerId(last.0 as u8))
    }

    /// The process of a server or a Sentinel.
    #[inline]
    fn machine_process(
        &mut self,
        machine: ServerId,
    ) -> &mut ServerProcess<HostEvent<SimulatedRedis>> {
        match machine.0.checked_sub(self.service.servers) {
            None => &mut self.host.servers[usize::from(machine.0)].process,
            Some(index) => &mut self.service.sentinels[usize::from(index)].process,
        }
    }

    /// How far the stream of replication goes that a server writes or follows.
    fn stream_of(&self, server: ServerId) -> u64 {
        self.host.servers[usize::from(server.0)]
            .machine
            .stream_offset()
    }
}

/// Whether this is a message of a channel, and no answer.
fn is_message(value: &Value) -> bool {
    let first = value.values().and_then(<[Value]>::first);
    first.and_then(Value::bytes) == Some(b"message")
}
