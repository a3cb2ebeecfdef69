//! ZooKeeper in the world: an ensemble, its clients, and what they say to each other.

mod beliefs;
mod callers;
mod client_requests;
mod clients;
mod delivery;
mod event;
mod event_threads;
mod faults;
mod for_good;
mod handle;
mod isro_probe;
mod list_too_long;
mod message_size;
mod operator;
mod ownership_events;
mod quorum_links;
mod resolve;
mod server_faults;
mod servers;
mod service_events;
mod session_events;
mod setup;
mod waiting;
mod watch_delivery;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, ListTooLong, LockId, NameId, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::env::{Env, LocalFuture};
use picklock_clients::zookeeper::{Path, SessionId, SessionState};
use picklock_zookeeper::client::{Client, Output as ClientOutput};
use picklock_zookeeper::messages::{ServerMessage, Xid};
use picklock_zookeeper::state::{Output as ServerOutput, Server};

use crate::engine::Tape;
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, ServerId, Side};
use crate::plan::{ContenderName, Ensemble, Fault, LockName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::{Read, Shared, SimulatedService, World};
pub(crate) use event::ZooKeeperEvent;

/// The locks' own nodes lie below this one.
const LOCKS_PATH: &str = "/locks";
/// What bystanders read.
const BYSTANDER_PATH: &str = "/elsewhere";

/// An ensemble and its clients as the world sees them.
pub(crate) struct SimulatedZooKeeper {
    ensemble: Ensemble,
    pace: servers::ServiceTimes,
    clients: Vec<ClientSlot>,
    servers: Vec<ServerSlot>,
    /// The contenders' sessions; of one that tasks share, the one that began it.
    sessions: BTreeMap<SessionId, ContenderId>,
    /// Of handles that tasks share, which task has asked what.
    callers: callers::Callers,
    /// The zxid of the last transaction that was seen to be committed.
    last_commit: u64,
    /// Whether clients still ask in vain for a list that is too long.
    list_retries: list_too_long::ListRetries,
    pending_loss_news: beliefs::PendingLossNews,
    client_outputs: Vec<ClientOutput>,
    server_outputs: Vec<ServerOutput>,
    /// The server of which several outputs are being done, and what it came to say meanwhile.
    speaking: Option<ServerId>,
    said_meanwhile: Vec<ServerOutput>,
}

/// A client handle and where it is. What every message touches comes first; it lies in three lines of the cache.
#[repr(C, align(64))]
pub(super) struct ClientSlot {
    pub process: ProcessId,
    /// Whose it is: a contender, or nobody's in particular.
    by: ContenderId,
    counted: u32,
    pub alive: bool,
    pub machine: Client,
    pub connection: Option<ConnectionId>,
    /// When it is woken by its own clock, and when that is in the world's time. An event that comes earlier is of an
    /// alarm that another has replaced.
    wake: VirtualTime,
    alarm: VirtualTime,
    /// The kinds of requests that are not answered yet; kept only if faults may ask.
    sent: Vec<(Xid, RequestKind)>,
    /// It has been connected before.
    pub greeted: bool,
    held: event_threads::EventThreadDelay,
}

/// A server and what it does at the moment.
pub(super) struct ServerSlot {
    pub machine: Server,
    pub up: bool,
    /// When it has died so far.
    deaths: Vec<VirtualTime>,
    hung: bool,
    backlog: Vec<ZooKeeperEvent>,
    /// When it is woken. An event that comes earlier is of an alarm that another has replaced.
    wake: VirtualTime,
    busy_until: VirtualTime,
    lag: u64,
    lag_until: VirtualTime,
}

impl SimulatedService for SimulatedZooKeeper {
    type Event = ZooKeeperEvent;

    const WAITERS_ASK_AGAIN: bool = false;

    fn new(plan: &Plan, _tape: &mut Tape) -> Self {
        setup::formed(plan)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let path = |lock: LockName| Path::from(format!("{LOCKS_PATH}/{}", lock.letter()));
        names.map(path).collect()
    }

    fn start(world: &mut World<Self>) {
        for server in 0..world.service.servers.len() {
            world.arm_server(ServerId(server as u8));
        }
    }

    #[inline(always)]
    fn on_event(world: &mut World<Self>, event: ZooKeeperEvent) {
        world.on_service_event(event);
    }

    fn deliver(world: &mut World<Self>, event: ZooKeeperEvent) -> Option<Event<ZooKeeperEvent>> {
        world.deliver_if_running(event)
    }

    fn drop_for_dead_process(world: &mut World<Self>, process: ProcessId, event: &ZooKeeperEvent) {
        if let ZooKeeperEvent::ToClient { message, .. } = event
            && let ServerMessage::Notification { .. } = message
        {
            world.unheard(process);
        }
        world.trace_lost(event);
    }

    fn all_run(&self) -> bool {
        self.servers.iter().all(|slot| slot.up && !slot.hung)
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn first_session(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
    ) -> Option<LocalFuture<'static, ()>> {
        handle::first_session(shared, by)
    }

    /// A closed session never comes back.
    fn is_closed(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let machine = &world.service.clients[client.0 as usize].machine;
            machine.state() == SessionState::Closed
        })
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, _place: u32) -> Read {
        handle::bystander(shared, thread)
    }

    #[inline]
    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let machine = &world.service.clients[client.0 as usize].machine;
            machine.requests_in_flight() == 0 && machine.state() == SessionState::Connected
        })
    }

    fn cut_off(world: &mut World<Self>, target: ContenderName) {
        let process = world.process_named(target);
        for by in world.tasks_of(process) {
            if let Some(connection) = world.connection_of(ContenderName(by.0)) {
                world.cut(connection);
            }
        }
    }

    fn process_died(world: &mut World<Self>, process: ProcessId) {
        world.clients_die(process);
    }

    fn process_resumed(world: &mut World<Self>, process: ProcessId) {
        world.unblock_events(process);
    }

    fn clock_drifts(world: &mut World<Self>, process: ProcessId) {
        for id in 0..world.service.clients.len() {
            if world.service.clients[id].process == process {
                world.rearm_client(ClientId(id as u32));
            }
        }
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server(name)
    }

    fn crash(world: &mut World<Self>, server: ServerId) {
        world.crash_server(server);
    }

    fn restart(world: &mut World<Self>, server: ServerId) {
        world.restart_server(server);
    }

    fn hang(world: &mut World<Self>, server: ServerId) {
        world.service.servers[server.0 as usize].hung = true;
    }

    fn resume(world: &mut World<Self>, server: ServerId) {
        world.resume_server(server);
    }

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        world.inject_at_ensemble(fault)
    }

    fn heal(world: &mut World<Self>, number: usize, fault: &Fault) {
        match fault {
            Fault::BlockEvents { target, .. } => {
                world.unblock_events(world.process_named(*target));
            }
            Fault::LagServer { .. } | Fault::SlowDisk { .. } => world.slowness_ends(number),
            _ => {}
        }
    }

    fn belief_began(world: &mut World<Self>, by: ContenderId, lock: LockId) {
        world.note_new_belief(by, lock);
    }

    fn session_timeout(world: &World<Self>, by: ContenderId) -> Option<Duration> {
        let client = world.contenders[by.0 as usize].client?;
        Some(world.service.clients[client.0 as usize].machine.timeout())
    }

    fn leads(world: &World<Self>, contender: ContenderName) -> bool {
        let leader = world.server(ServerName::Leader);
        leader.is_some() && leader == world.server(ServerName::Of(contender))
    }

    fn waits_behind(world: &mut World<Self>, by: ContenderId) -> Option<(NameId, ContenderId)> {
        world.waits_behind(by)
    }

    fn list_too_long(world: &World<Self>) -> Option<ListTooLong> {
        world.unreadable_list()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        world.has_quorum(side)
    }
}
