//! The lease server in the world: one server, a connection for each client, and a lock that goes by itself.

mod clients;
mod event;
mod handle;

use std::rc::Rc;

use picklock_algorithms::Lock;
use picklock_checker::service_event::{DataFound, KeyHolders};
use picklock_checker::{
    ContenderId, LockId, Mode, ServerChange, ServiceEventKind, Token, VirtualTime,
};
use picklock_clients::env::Env;
use picklock_clients::zookeeper::Path;
use picklock_lease_server::{Input, Output, Server};

use super::process_state::ServerProcess;
use crate::engine::Tape;
use crate::event::Event;
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::plan::{ContenderName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::{Read, Shared, SimulatedService, World};
use clients::LeaseClient;
pub(crate) use event::LeaseServerEvent;

/// There is one.
const SERVER: ServerId = ServerId(0);

/// The server and its clients as the world sees them.
#[derive(Default)]
pub(crate) struct SimulatedLeaseServer {
    machine: Server,
    life: ServerProcess<LeaseServerEvent>,
    clients: Vec<LeaseClient>,
    /// The number of the request that is being handled.
    answering: u32,
    /// The grant by which somebody owns the lock.
    owner: Option<Token>,
}

impl World<SimulatedLeaseServer> {
    /// Lets the server handle an input, and does what it wants done. A lease ends whether it looks at the clock or not.
    fn server_input(&mut self, input: Input) {
        let mut outputs = Vec::new();
        self.service.machine.handle(self.now, input, &mut outputs);
        for output in outputs {
            match output {
                Output::Reply { connection, reply } => self.send_to_client(connection, reply),
                Output::Granted { connection } => {
                    let by = self.asker(connection);
                    self.owned(by);
                }
                Output::Released { connection } => {
                    let by = self.asker(connection);
                    self.disowned(Actor::Contender(by));
                }
                Output::Expired => self.disowned(Actor::SessionEnd),
            }
        }
        let at = self.service.machine.next_wake();
        if at < VirtualTime::NEVER {
            let wake = LeaseServerEvent::ServerWake;
            self.timeline.add(at.max(self.now), Event::Service(wake));
        }
    }

    fn owned(&mut self, by: ContenderId) {
        let name = self.recorder.name(&self.lock_names[0]);
        let (now, recorder) = (self.now, &mut self.recorder);
        let token = self.ownerships[0].key_set(now, by, Mode::Exclusive, name, recorder);
        self.service.owner = Some(token);
    }

    fn disowned(&mut self, actor: Actor) {
        if let Some(token) = self.service.owner.take() {
            self.recorder.counts.departures += u64::from(self.draining);
            let (now, recorder) = (self.now, &mut self.recorder);
            self.ownerships[0].key_gone(now, token, actor, recorder);
        }
    }
}

/// What it has granted is on its disk before it answers.
fn restarted() -> ServiceEventKind {
    ServiceEventKind::Restarted {
        data: DataFound::Everything,
        without_key_of: None,
        left: KeyHolders::default(),
    }
}

impl SimulatedService for SimulatedLeaseServer {
    type Event = LeaseServerEvent;

    const WAITERS_ASK_AGAIN: bool = true;

    fn new(_plan: &Plan, _tape: &mut Tape) -> Self {
        Self::default()
    }

    /// It knows one lock, whatever a plan says.
    fn lock_names(plan: &Plan) -> Vec<Path> {
        (0..plan.workload.locks).map(|_| "lock".into()).collect()
    }

    fn on_event(world: &mut World<Self>, event: LeaseServerEvent) {
        match event {
            LeaseServerEvent::ToServer { request, claim } => world.at_server(request, claim),
            LeaseServerEvent::ToClient { request, reply } => world.at_client(request, reply),
            LeaseServerEvent::ServerWake => world.server_input(Input::Wake),
        }
    }

    fn deliver(
        world: &mut World<Self>,
        event: LeaseServerEvent,
    ) -> Option<Event<LeaseServerEvent>> {
        match event {
            LeaseServerEvent::ToServer { .. } if !world.service.life.is_up() => {
                world.trace_lost(&event);
                None
            }
            LeaseServerEvent::ToServer { .. } => {
                world.service.life.receive(event).map(Event::Service)
            }
            LeaseServerEvent::ToClient { request, .. } => {
                let process = world.process_of(request.connection);
                world.deliver_to_process(process, Event::Service(event))
            }
            LeaseServerEvent::ServerWake => Some(Event::Service(event)),
        }
    }

    fn drop_for_dead_process(world: &mut World<Self>, _: ProcessId, event: &LeaseServerEvent) {
        world.trace_lost(event);
    }

    fn all_run(&self) -> bool {
        self.life.runs()
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, _place: u32) -> Read {
        handle::bystander(shared, thread)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let mut clients = world.service.clients.iter();
        clients.all(|client| client.of.contender != by || client.waiting.is_none())
    }

    fn cut_off(world: &mut World<Self>, target: ContenderName) {
        let process = world.process_named(target);
        world.cut_clients(|client| client.of.process == process);
    }

    fn unanswered(world: &World<Self>, by: ContenderId) -> Option<u64> {
        Some(world.unanswered_of(by))
    }

    fn process_died(world: &mut World<Self>, dead: ProcessId) {
        let clients = world.service.clients.iter_mut();
        clients
            .filter(|it| it.of.process == dead)
            .for_each(|it| it.waiting = None);
    }

    fn server(_world: &World<Self>, name: ServerName) -> Option<ServerId> {
        match name {
            ServerName::Number(0) | ServerName::Leader | ServerName::Of(_) => Some(SERVER),
            _ => None,
        }
    }

    fn crash(world: &mut World<Self>, _server: ServerId) {
        if let Some(unread) = world.service.life.end() {
            unread.iter().for_each(|event| world.trace_lost(event));
            world.cut_clients(|_| true);
        }
    }

    fn restart(world: &mut World<Self>, server: ServerId) {
        if world.service.life.start() {
            if world.records_service_events() {
                world.record_service_event(server, restarted());
            }
            world.server_changed(server, ServerChange::Restarted);
        }
    }

    fn hang(world: &mut World<Self>, _server: ServerId) {
        world.service.life.hang();
    }

    fn resume(world: &mut World<Self>, _server: ServerId) {
        let backlog = world.service.life.resume();
        for event in backlog.unwrap_or_default() {
            world.dispatch_from_backlog(Event::Service(event));
        }
    }
}
