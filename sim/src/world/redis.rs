//! Redis in the world: its servers and clients, and what they say to each other.

mod answers;
mod clients;
mod cluster;
mod faults;
mod for_good;
mod ownership;
mod power_loss;
mod process_state;
mod refusals;
mod replication_links;
mod sentinel_links;
mod sentinels;
mod servers;
mod slot_migration;

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_algorithms::clients::RequestKind;
use picklock_algorithms::clients::redis::{Lane, Value};
use picklock_checker::VirtualTime;
use picklock_redis::sentinel::Output as SentinelOutput;
use picklock_redis::{Output as ServerOutput, Server, ServerConfig};

use super::World;
use crate::choice_source::Chance;
use crate::clock::LocalClock;
use crate::event::{ClientId, Event, RedisEvent, SentinelEvent};
use crate::network::{ConnectionId, Connections, ServerId};
use crate::plan::{Deployment, ServerName, Service};
use crate::process::ProcessId;
use crate::redis::client::{Client, Output as ClientOutput};
use crate::world::LOCK_KEY;
use answers::Grants;
use ownership::{Holder, Owner};
use power_loss::Dark;
use process_state::Life;
use replication_links::Ends;
use sentinels::SentinelSlot;
use slot_migration::SlotMove;

/// Redis as the world sees it; nobody is there if the service is another.
#[derive(Default)]
pub(crate) struct Redis {
    deployment: Deployment,
    servers: Vec<RedisServer>,
    sentinels: Vec<SentinelSlot>,
    clients: Vec<RedisClient>,
    /// The client of each process, by the process's place.
    client_of: Vec<Option<ClientId>>,
    connections: Connections,
    /// What goes over each connection, by its number.
    traffic: Vec<Traffic>,
    /// Whoever clients are sent to, if there are replicas.
    primary: ServerId,
    /// The links between servers, by their numbers.
    links: Vec<Ends>,
    /// Who owns the lock by its keys, each by a token of its own.
    owners: Vec<Owner>,
    /// Which servers have granted the lock to whom, where a majority must.
    grants: Grants,
    /// Room for those who own it now.
    owners_now: Vec<Holder>,
    /// The command that is being executed, if it is of a contender that believes in vain and asks about the lock's key.
    look: Option<(ConnectionId, RequestKind)>,
    /// Slots that are on their way.
    moves: Vec<SlotMove>,
    client_outputs: Vec<ClientOutput>,
    server_outputs: Vec<ServerOutput>,
    /// The servers whose outputs are being done, one within the other, and what they have wanted meanwhile.
    saying: Vec<ServerId>,
    to_be_said: Vec<(ServerId, ServerOutput)>,
    sentinel_outputs: Vec<SentinelOutput>,
}

/// A server and what it does at the moment.
struct RedisServer {
    machine: Server,
    clock: LocalClock,
    life: Life,
    /// Its machine has no power.
    dark: Option<Dark>,
    /// When it is woken. An event that comes earlier is of an alarm that another has replaced.
    wake: VirtualTime,
    busy_until: VirtualTime,
    /// When the world looks next whether the lock's key has expired.
    lease_check: VirtualTime,
    /// Who has set the lock's key, and when, by the wall clock, it expires, in milliseconds.
    holder: Option<Holder>,
    /// How many entries that counts.
    entries: u64,
    expires: Option<i64>,
    /// Who had set it before.
    before: Option<Holder>,
    /// Whether it took itself for a primary and served when that was last looked at.
    leads: bool,
    /// Whether it was nobody's replica when that was looked at last.
    is_primary: bool,
}

impl RedisServer {
    /// Whether it runs, takes itself for a primary, and serves.
    fn leads(&self) -> bool {
        self.life.is_up() && self.machine.is_primary() && self.machine.serves()
    }

    /// Whether what it says of the lock's key is what the service says: in a cluster, if it has the key's slot.
    fn answers_for_all(&self, in_cluster: bool) -> bool {
        self.leads() && (!in_cluster || self.machine.has_slot_of(LOCK_KEY.as_bytes()))
    }
}

/// A client and where it is.
struct RedisClient {
    process: ProcessId,
    machine: Client,
    alive: bool,
    /// When it is woken by its own clock, and when that is in the world's time. An event that comes earlier is of an
    /// alarm that another has replaced.
    wake: VirtualTime,
    alarm: VirtualTime,
    counted: usize,
}

/// What goes over a connection: commands are numbered from one, and answered in order.
#[derive(Default)]
struct Traffic {
    sent: u32,
    answered: u32,
    /// The kinds of those that are not answered yet.
    unanswered: VecDeque<RequestKind>,
    /// How many answers were sent, and how many have arrived.
    answers: u32,
    heard: u32,
    /// Of these, by number, those that say that the lock's key is not the client's own any more.
    refusals: Vec<u32>,
}

impl Redis {
    /// The servers of a plan. The nodes of a cluster have chances of their own, which this one decides.
    pub fn new(service: &Service, processes: usize, chance: &mut dyn Chance) -> Self {
        let Service::Redis(deployment) = service else {
            return Self::default();
        };
        let mut server = |number: u8| {
            let machine = machine(deployment, ServerId(number), chance);
            let is_primary = machine.is_primary();
            RedisServer {
                machine,
                clock: LocalClock::default(),
                life: Life::begun(),
                dark: None,
                wake: VirtualTime::NEVER,
                busy_until: VirtualTime::ZERO,
                lease_check: VirtualTime::NEVER,
                holder: None,
                entries: 1,
                expires: None,
                before: None,
                leads: true,
                is_primary,
            }
        };
        Self {
            deployment: deployment.clone(),
            servers: (0..service.servers()).map(&mut server).collect(),
            sentinels: sentinels::of(deployment),
            client_of: vec![None; processes],
            ..Self::default()
        }
    }

    /// Whether the service is Redis.
    pub fn is_there(&self) -> bool {
        !self.servers.is_empty()
    }

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

    /// The replica that a client is sent to: whoever is not the primary any more is one, whether it knows or not.
    fn replica_for(&self, nth: u8) -> ServerId {
        ServerId(nth + u8::from(nth >= self.primary.0))
    }

    /// A lane to a server that nobody else uses.
    pub fn dedicated(&mut self, client: ClientId, node: u32) -> Lane {
        self.clients[client.0 as usize].machine.dedicated(node)
    }

    /// Whether everything that a process has asked is answered.
    pub fn is_idle(&self, process: ProcessId) -> bool {
        let client = self.client_of.get(process.0 as usize).copied().flatten();
        client.is_some_and(|client| {
            let machine = &self.clients[client.0 as usize].machine;
            machine.requests_in_flight() == 0
        })
    }

    /// The server that a name means; `None` if there is none.
    pub fn server(&self, name: ServerName) -> Option<ServerId> {
        let place = match name {
            ServerName::Number(number) => number,
            // Whoever has the key at first. Servers that know nothing of each other have no leader: the first stands
            // for the only one.
            ServerName::Leader | ServerName::Of(_) => self.deployment.first_primary().into(),
            ServerName::Follower(nth) => {
                let replicas = self.deployment.first_replicas();
                (*replicas.get(nth as usize)?).into()
            }
            // There are observers in ensembles alone.
            ServerName::Observer(_) => return None,
            ServerName::Sentinel(nth) => {
                let known = (nth as usize) < self.sentinels.len();
                return known.then(|| self.sentinel(nth as u8));
            }
        };
        (place < self.servers.len() as u32).then_some(ServerId(place as u8))
    }

    /// How many servers there are in all.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Whether every server runs, and every Sentinel.
    pub fn all_run(&self) -> bool {
        self.servers.iter().all(|slot| slot.life.runs())
            && self.sentinels.iter().all(|slot| slot.life.runs())
    }

    /// How far the stream of replication goes that a server writes or follows.
    fn stream_of(&self, server: ServerId) -> u64 {
        self.servers[usize::from(server.0)].machine.stream_offset()
    }

    fn process_of(&self, connection: ConnectionId) -> ProcessId {
        self.connections.get(connection).process
    }

    /// The process and the server that a connection joins.
    fn ends_of(&self, connection: ConnectionId) -> (ProcessId, ServerId) {
        (self.process_of(connection), self.server_of(connection))
    }

    fn server_of(&self, connection: ConnectionId) -> ServerId {
        self.connections.get(connection).server
    }
}

/// A server of a deployment that has not begun to run.
fn machine(deployment: &Deployment, server: ServerId, chance: &mut dyn Chance) -> Server {
    let follows = deployment.replicas > 0 && server.0 > 0;
    let primary = match &deployment.cluster {
        Some(cluster) => cluster::primary_of(cluster, server),
        None => follows.then_some(ServerId(0)),
    };
    let in_cluster = deployment.cluster.as_ref();
    let mut machine = Server::new(Rc::new(ServerConfig {
        number: server.0.into(),
        address: Some(replication_links::address(server)),
        primary: primary.map(replication_links::address),
        cluster: in_cluster.map(|cluster| cluster::settings(cluster, server, chance)),
        persistence: deployment.persistence.clone(),
        serve_stale_data: deployment.serve_stale_data,
        load_time: deployment.load_time,
        min_replicas_to_write: deployment.min_replicas_to_write.into(),
        min_replicas_max_lag: deployment.min_replicas_max_lag,
        ..ServerConfig::default()
    }));
    machine.follow_key(LOCK_KEY.as_bytes());
    machine
}

/// Whether this is a message of a channel, and no answer.
fn is_message(value: &Value) -> bool {
    let first = value.values().and_then(<[Value]>::first);
    first.and_then(Value::bytes) == Some(b"message")
}

impl World {
    /// Lets an event of Redis happen.
    #[inline(never)]
    pub(super) fn dispatch_redis(&mut self, event: RedisEvent) {
        match event {
            RedisEvent::ToServer {
                connection,
                command,
            } => self.at_redis(connection, command),
            RedisEvent::ToClient { connection, value } => {
                self.at_redis_client(connection, value);
            }
            RedisEvent::ConnectRequest { connection } => self.redis_connect_request(connection),
            RedisEvent::ConnectionOpened { connection } => self.redis_opened(connection),
            RedisEvent::ConnectionReset { connection } => self.redis_broken(connection),
            RedisEvent::ClientClosed { connection } => self.redis_gone(connection),
            RedisEvent::ServerWake { server } => self.redis_wake(server),
            RedisEvent::ClientWake { client } => self.redis_client_wake(client),
            RedisEvent::LeaseEnds { server } => self.lease_ends(server),
            RedisEvent::ReplicaConnectRequest { link } => self.replica_connect_request(link),
            RedisEvent::LinkEstablished { link, up } => self.link_stands(link, up),
            RedisEvent::ToPeer { to, link, message } => self.at_redis_peer(to, link, *message),
            RedisEvent::ToNode { to, message } => self.at_redis_node(to, message),
            RedisEvent::LinkClosed { server, link } => self.link_gone(server, link),
            RedisEvent::Demote { server } => self.demote_redis(server),
            RedisEvent::SlotMoves { fault } => self.slot_moves(fault),
            RedisEvent::Sentinel(event) => self.dispatch_sentinel(*event),
        }
    }

    /// Answers the event if its recipient runs.
    pub(super) fn deliver_redis(&mut self, event: RedisEvent) -> Option<Event> {
        match &event {
            RedisEvent::ToServer { connection, .. } | RedisEvent::ClientClosed { connection } => {
                let server = self.redis.server_of(*connection);
                self.deliver_to_redis(server, event).map(Event::Redis)
            }
            RedisEvent::ToClient { connection, .. }
            | RedisEvent::ConnectionOpened { connection }
            | RedisEvent::ConnectionReset { connection } => {
                let process = self.redis.process_of(*connection);
                self.deliver_to_process(process, Event::Redis(event))
            }
            RedisEvent::ClientWake { client } => {
                let process = self.redis.clients[client.0 as usize].process;
                self.deliver_to_process(process, Event::Redis(event))
            }
            // Lost with its sender, before it has come as far as the machine.
            RedisEvent::ToPeer { link, .. } if !self.redis.link_is_open(*link) => None,
            RedisEvent::ToPeer { to: server, .. }
            | RedisEvent::ToNode { to: server, .. }
            | RedisEvent::LinkClosed { server, .. } => {
                self.deliver_to_redis(*server, event).map(Event::Redis)
            }
            RedisEvent::LinkEstablished { link, .. } => {
                let replica = self.redis.replica_of(*link);
                self.deliver_to_redis(replica, event).map(Event::Redis)
            }
            RedisEvent::Sentinel(news) => match **news {
                // A machine that stands still has a kernel, and its own look at the clock sees for itself.
                SentinelEvent::ConnectRequest { .. } | SentinelEvent::Wake { .. } => {
                    Some(Event::Redis(event))
                }
                SentinelEvent::Asked { .. }
                | SentinelEvent::HungUp { .. }
                | SentinelEvent::Answered { .. }
                | SentinelEvent::Closed { .. } => {
                    let whom = news.whom();
                    self.deliver_to_redis(whom, event).map(Event::Redis)
                }
            },
            RedisEvent::ConnectRequest { .. }
            | RedisEvent::ServerWake { .. }
            | RedisEvent::LeaseEnds { .. }
            | RedisEvent::ReplicaConnectRequest { .. }
            | RedisEvent::Demote { .. }
            | RedisEvent::SlotMoves { .. } => Some(Event::Redis(event)),
        }
    }

    fn deliver_to_redis(&mut self, server: ServerId, event: RedisEvent) -> Option<RedisEvent> {
        self.redis.life(server).receive(event)
    }

    /// What the dead do not hear.
    pub(super) fn drop_redis_event(&mut self, process: ProcessId, event: &RedisEvent) {
        if let RedisEvent::ToClient { value, .. } = event
            && is_message(value)
        {
            self.notified(process, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_not_the_primary_is_a_replica() {
        let mut redis = Redis::default();
        let replicas = |redis: &Redis| [0, 1].map(|nth| redis.replica_for(nth).0);
        assert_eq!(replicas(&redis), [1, 2]);
        redis.primary = ServerId(1);
        assert_eq!(replicas(&redis), [0, 2]);
    }
}
