//! memcached in the world: servers that know nothing of each other, and clients that find the server of a key.

mod handle;
mod ownership;

use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::service_event::DataFound;
use picklock_checker::{ContenderId, LockId, NameId, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::env::Env;
use picklock_clients::memcached::{ClientMessage, ServerMessage};
use picklock_clients::zookeeper::Path;
use picklock_machines::{Chance, Machine};
use picklock_memcached::client::{Client, Input as ClientInput, Output as ClientOutput};
use picklock_memcached::{Input, Output, Server};

use crate::clock::LocalClock;
use crate::engine::Tape;
use crate::event::{ClientId, Event, ServiceEvent};
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::memcached::Memcached;
use crate::plan::{Fault, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{
    Arrival, ClientSide, HostEvent, HostedClient, HostedServer, MessageFate, NO_CONTENDER, Read,
    Recipient, ServerSide, ServiceMessage, ServiceTypes, Shared, SimulatedService, World,
};

/// The servers as the world sees them.
pub(crate) struct SimulatedMemcached {
    settings: Memcached,
}

/// The item of a lock is over, whether its server looks at the clock or not.
pub(crate) struct ItemExpires {
    server: ServerId,
    lock: LockId,
}

impl ServiceEvent for ItemExpires {
    fn kind_and_subject(&self) -> (u64, u32) {
        (88, u32::from(self.server.0) << 16 | self.lock.0)
    }
}

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }
}

impl ServiceTypes for SimulatedMemcached {
    type Server = Server;
    type Client = Client;
    type ServerState = ownership::Holds;
    /// What was sent last, and what it is.
    type ClientState = Option<(RequestId, RequestKind)>;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = ItemExpires;
    const EVENT_NUMBERS: [u64; 8] = [80, 81, 82, 83, 84, 85, 86, 87];
}

impl World<SimulatedMemcached> {
    /// The contender whose client has a connection.
    fn asker(&self, connection: ConnectionId) -> ContenderId {
        self.host.clients[self.client_of(connection).0 as usize].by
    }

    /// What a command is that a client has sent last.
    fn kind_of(&self, request: RequestId) -> Option<RequestKind> {
        let client = self.client_of(request.connection).0 as usize;
        let sent = self.host.clients[client].state;
        sent.filter(|(known, _)| *known == request)
            .map(|(_, kind)| kind)
    }

    /// The server of a lock's key, for a contender.
    fn server_of_lock(&self, by: ContenderId) -> Option<ServerId> {
        let client = self.contenders.get(by.0 as usize)?.client?;
        let machine = &self.host.clients[client.0 as usize].machine;
        let now = self.local_now(self.host.clients[client.0 as usize].process);
        machine.server_of(&self.lock_names[self.lock_of(by).0 as usize], now)
    }
}

impl ClientSide for SimulatedMemcached {
    fn new_client(world: &mut World<Self>) -> Client {
        Client::new(world.service.settings.of_clients())
    }

    fn requests_in_flight(client: &Client) -> usize {
        usize::from(client.is_asking())
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.machine.connections()
    }

    fn client_input(
        (connection, _): (ConnectionId, ServerId),
        arrival: Arrival<ServerMessage>,
    ) -> ClientInput {
        match arrival {
            Arrival::Opened => ClientInput::Opened(connection),
            Arrival::Closed { .. } => ClientInput::Broken(connection),
            Arrival::Message(message) => ClientInput::Received(connection, message),
        }
    }

    fn on_client_output(world: &mut World<Self>, client: ClientId, output: ClientOutput) {
        match output {
            ClientOutput::Dial(server) => {
                let connection = world.connect(client, server);
                world.client_input(client, ClientInput::Dialled(server, connection));
            }
            ClientOutput::HangUp(connection) => world.hang_up(connection),
            ClientOutput::Send(connection, message) => {
                let (number, kind) = (message.number, message.command.kind());
                let request = RequestId { connection, number };
                let slot = &mut world.host.clients[client.0 as usize];
                slot.state = Some((request, kind));
                let sent = Moment::new(slot.by.0, MomentKind::Sent(kind)).about(request);
                world.moment(sent);
                world.send_to_server(connection, message);
            }
        }
    }

    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        (connection, heard): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        let number = message.number;
        let slot = &world.host.clients[client.0 as usize];
        if !heard || !slot.machine.awaits(connection, number) {
            return None;
        }
        world.answer_arrives(|answered| answered == RequestId { connection, number })
    }
}

impl ServerSide for SimulatedMemcached {
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let now = world.server_now(server);
        let host = &mut world.host;
        let machine = &mut host.servers[usize::from(server.0)].machine;
        machine.handle(now, input, &mut world.tape, &mut host.server_outputs);
    }

    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        match output {
            Output::Reply(connection, message) => {
                world.send_to_client(server, connection, message, false);
            }
            Output::Changed(key, change) => world.item_changed(server, &key, change),
        }
    }

    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: ClientMessage,
    ) {
        world.count_request(connection, || 0);
        let (number, kind) = (message.number, message.command.kind());
        world.server_input(server, Input::Command(connection, message));
        let by = world.asker(connection);
        if by != NO_CONTENDER {
            let committed = Moment::new(by.0, MomentKind::Committed(kind));
            world.moment(committed.about(RequestId { connection, number }));
        }
    }

    fn fate_of_reply(
        world: &mut World<Self>,
        _server: ServerId,
        (connection, _own): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        let number = message.number;
        let request = RequestId { connection, number };
        match (world.kind_of(request), world.asker(connection)) {
            (Some(kind), by) if by != NO_CONTENDER => {
                world.fate_of(by.0, MomentKind::Answered(kind), request)
            }
            _ => world.planned_fate_of_reply(request),
        }
    }

    /// The process of a server has died, and all of its items with it. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId) {
        world.close_client_connections_to(server);
        world.items_lost(server);
    }

    fn restarted(world: &mut World<Self>, server: ServerId) {
        world.record_restart_with(server, DataFound::Nothing);
        world.server_input(server, Input::Restart);
    }
}

impl SimulatedService for SimulatedMemcached {
    const WAITERS_ASK_AGAIN: bool = true;

    fn new(plan: &Plan, tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        let settings = plan.service.get::<Memcached>();
        let settings = settings
            .expect("a plan is run over its own service")
            .clone();
        let servers = (0..settings.servers).map(|_| {
            let since_tick = u64::from(tape.choose(1_000)) * 1_000;
            let wall = LocalClock::default().wall(VirtualTime::ZERO);
            let machine = Server::new(settings.of_servers(since_tick), wall);
            HostedServer::of(machine, ownership::Holds::of(plan.workload.locks))
        });
        let servers = servers.collect();
        (Self { settings }, servers)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let name = |lock: LockName| Path::from(format!("lock-{}", lock.letter()));
        names.map(name).collect()
    }

    fn on_own_event(world: &mut World<Self>, ItemExpires { server, lock }: ItemExpires) {
        world.item_expires(server, lock);
    }

    fn recipient(_world: &World<Self>, _event: &ItemExpires) -> Recipient {
        Recipient::World
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn resumed(world: &mut World<Self>, _server: ServerId, backlog: Vec<HostEvent<Self>>) {
        for event in backlog {
            world.dispatch_from_backlog(Event::Service(event));
        }
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, index: u32) -> Read {
        handle::bystander(shared, thread, index)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| !world.host.clients[client.0 as usize].machine.is_asking())
    }

    fn unanswered(world: &World<Self>, by: ContenderId) -> Option<u64> {
        let clients = world.host.clients.iter().filter(|slot| slot.by == by);
        Some(
            clients
                .map(|slot| u64::from(slot.machine.unanswered()))
                .sum(),
        )
    }

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        if let Fault::EvictKey { target } = *fault {
            let server = Self::server(world, target)?;
            for name in world.lock_names.clone() {
                world.server_input(server, Input::Evict(name));
            }
        }
        None
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        let index = match name {
            ServerName::Number(number) => Some(number as usize),
            ServerName::Of(contender) => {
                let server = world.server_of_lock(ContenderId(contender.0))?;
                Some(usize::from(server.0))
            }
            _ => None,
        };
        let index = index.filter(|index| *index < world.host.servers.len())?;
        Some(ServerId(index as u8))
    }

    fn waits_behind(world: &mut World<Self>, by: ContenderId) -> Option<(NameId, ContenderId)> {
        world.ownerships[world.lock_of(by).0 as usize].head()
    }
}
