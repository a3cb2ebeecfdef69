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
mod order;
mod ownership;
mod power_loss;
mod pubsub_events;
mod redis_server;
mod refusals;
mod replication_links;
mod retransmissions;
mod sentinel_links;
mod sentinels;
mod servers;
mod service_events;
mod setup;
mod slot_migration;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::{KeyHold, Lock};
use picklock_checker::{ContenderId, LockId, PermitsLeft, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::env::Env;
use picklock_clients::redis::{Lane, Value};
use picklock_clients::zookeeper::Path;
use picklock_redis::Output as ServerOutput;
use picklock_redis::client::{Client, Output as ClientOutput};
use picklock_redis::sentinel::Output as SentinelOutput;

use super::process_state::ServerProcess;
use crate::engine::Tape;
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, ServerId, Side};
use crate::plan::{ContenderName, Deployment, Fault, LOCK_KEY, LockName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::{Read, Shared, SimulatedService, World};
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
    servers: Vec<RedisServer>,
    sentinels: Vec<SentinelSlot>,
    clients: Vec<RedisClient>,
    /// What goes over each connection, by its number.
    traffic: Vec<Traffic>,
    /// Whoever clients are sent to, if there are replicas.
    primary: ServerId,
    /// The links between servers, by their numbers.
    links: Vec<ReplicationLink>,
    /// By lock: who owns it by its keys, each by a token of its own.
    owners: Vec<Vec<Owner>>,
    /// By lock: which servers have granted it to whom, where a majority must.
    grants: Vec<Grants>,
    /// Room for those who own it now.
    owners_now: Vec<Holder>,
    /// Room for the holds that the keys of a lock have, and for those with their holders.
    found_holds: Vec<KeyHold>,
    spare_holds: Vec<AttributedHold>,
    /// How many permits of semaphores that only count were given.
    permits_given: u64,
    /// The command that is being executed, if it is of a contender that believes in vain and asks about the lock's key.
    look: Option<(ConnectionId, RequestKind, LockId)>,
    /// How often a server has become the primary.
    promotions: u32,
    /// What clean-up scripts have seen.
    stale: Vec<SeenKey>,
    /// Slots that are on their way.
    moves: Vec<SlotMove>,
    client_outputs: Vec<ClientOutput>,
    server_outputs: Vec<ServerOutput>,
    /// The servers whose outputs are being done, one within the other, and what they have wanted meanwhile.
    saying: Vec<ServerId>,
    to_be_said: Vec<(ServerId, ServerOutput)>,
    sentinel_outputs: Vec<SentinelOutput>,
    /// Who tells a server at this moment what it is to be.
    order: order::Order,
}

/// A client and where it is.
struct RedisClient {
    process: ProcessId,
    /// Whose it is: a contender, or nobody's in particular.
    by: ContenderId,
    machine: Client,
    alive: bool,
    /// When it is woken by its own clock, and when that is in the world's time. An event that comes earlier is of an
    /// alarm that another has replaced.
    wake: VirtualTime,
    alarm: VirtualTime,
    counted: usize,
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
    /// Of these, by number, those that say that the lock's key is not the own any more of whoever has asked.
    refusals: Vec<(u32, (ContenderId, LockId))>,
}

/// A command that is not answered yet.
#[derive(Clone, Copy)]
struct Unanswered {
    kind: RequestKind,
    sent: VirtualTime,
    /// Who has asked, of those that share the client.
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

    /// The replica that a client is sent to: whoever is not the primary any more is one, whether it knows or not.
    fn replica_for(&self, nth: u8) -> ServerId {
        ServerId(nth + u8::from(nth >= self.primary.0))
    }

    /// A lane to a server that nobody else uses.
    pub fn dedicated(&mut self, client: ClientId, node: u32) -> Lane {
        self.clients[client.0 as usize].machine.dedicated(node)
    }

    /// The server that a name means; `None` if there is none.
    pub fn server(&self, name: ServerName) -> Option<ServerId> {
        let index = match name {
            ServerName::Number(number) => number,
            ServerName::Primary => return self.primary_of_now(),
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
        (index < self.servers.len() as u32).then_some(ServerId(index as u8))
    }

    /// The server that runs and is the primary, in a cluster the one that has the slot of the first lock's key. If
    /// several take themselves for it, the one that was promoted last.
    fn primary_of_now(&self) -> Option<ServerId> {
        let in_cluster = self.deployment.cluster.is_some();
        let servers = self.servers.iter().enumerate();
        let primaries = servers.filter(|(_, slot)| {
            slot.life.is_up()
                && slot.machine.is_primary()
                && (!in_cluster || slot.machine.has_slot_of(LOCK_KEY.as_bytes()))
        });
        let last = primaries.max_by_key(|(_, slot)| slot.promotion)?;
        Some(ServerId(last.0 as u8))
    }

    /// How the machine of a server or a Sentinel fares.
    #[inline]
    fn life(&mut self, machine: ServerId) -> &mut ServerProcess<RedisEvent> {
        let index = usize::from(machine.0);
        match index.checked_sub(self.servers.len()) {
            None => &mut self.servers[index].life,
            Some(index) => &mut self.sentinels[index].life,
        }
    }

    /// How far the stream of replication goes that a server writes or follows.
    fn stream_of(&self, server: ServerId) -> u64 {
        self.servers[usize::from(server.0)].machine.stream_offset()
    }
}

impl SimulatedService for SimulatedRedis {
    type Event = RedisEvent;

    const WAITERS_ASK_AGAIN: bool = true;

    fn new(plan: &Plan, tape: &mut Tape) -> Self {
        setup::deployed(plan, tape)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        names
            .map(|lock| format!("lock:{}", lock.letter()).into())
            .collect()
    }

    fn start(world: &mut World<Self>) {
        for server in 0..world.service.servers.len() {
            world.arm_server(ServerId(server as u8));
        }
        world.arm_sentinels();
    }

    #[inline(always)]
    fn on_event(world: &mut World<Self>, event: RedisEvent) {
        world.on_service_event(event);
    }

    fn deliver(world: &mut World<Self>, event: RedisEvent) -> Option<Event<RedisEvent>> {
        world.deliver_if_running(event)
    }

    fn drop_for_dead_process(world: &mut World<Self>, process: ProcessId, event: &RedisEvent) {
        world.drop_event(process, event);
    }

    fn all_run(&self) -> bool {
        self.servers.iter().all(|slot| slot.life.runs())
            && self.sentinels.iter().all(|slot| slot.life.runs())
            && self.clients.iter().all(|slot| slot.blocked.is_none())
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, index: u32) -> Read {
        handle::bystander(shared, thread, index)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let slot = &world.service.clients[client.0 as usize];
            slot.machine.requests_in_flight() == 0 && slot.blocked.is_none()
        })
    }

    fn cut_off(world: &mut World<Self>, target: ContenderName) {
        world.cut_connections_of(world.process_named(target));
    }

    fn unanswered(world: &World<Self>, by: ContenderId) -> Option<u64> {
        Some(world.unanswered_of(by))
    }

    fn process_died(world: &mut World<Self>, process: ProcessId) {
        world.clients_die(process);
    }

    fn process_resumed(world: &mut World<Self>, process: ProcessId) {
        world.unblock_event_loops(process);
    }

    fn clock_drifts(world: &mut World<Self>, process: ProcessId) {
        world.rearm_clients(process);
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.service.server(name)
    }

    fn crash(world: &mut World<Self>, server: ServerId) {
        world.crash_server(server);
    }

    fn restart(world: &mut World<Self>, server: ServerId) {
        world.restart_server(server);
    }

    fn hang(world: &mut World<Self>, server: ServerId) {
        world.hang_server(server);
    }

    fn resume(world: &mut World<Self>, server: ServerId) {
        world.resume_server(server);
    }

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        world.inject_at_deployment(fault)
    }

    fn heal(world: &mut World<Self>, number: usize, fault: &Fault) {
        world.heal_at_deployment(number, fault);
    }

    fn struck_until(world: &World<Self>) -> Option<VirtualTime> {
        // A server that hung, or ran another script, has begun with this one later.
        let slots = world.service.servers.iter();
        let ends =
            slots.filter_map(|slot| Some(slot.clock.world_time(slot.machine.script_ends()?)));
        ends.filter(|ends| *ends != VirtualTime::NEVER).max()
    }

    fn permits_left(world: &World<Self>) -> Vec<Option<PermitsLeft>> {
        world.counted_permits()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        world.side_can_serve(side)
    }

    fn serves_client_reaching(world: &World<Self>, reached: &Side) -> bool {
        world.side_serves_client_reaching(reached)
    }
}

/// Whether this is a message of a channel, and no answer.
fn is_message(value: &Value) -> bool {
    let first = value.values().and_then(<[Value]>::first);
    first.and_then(Value::bytes) == Some(b"message")
}
