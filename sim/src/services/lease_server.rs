//! The lease server in the world: one server, and a lock that goes by itself.

mod handle;

use std::fmt::Display;
use std::rc::Rc;

use picklock_algorithms::Lock;
use picklock_checker::service_event::DataFound;
use picklock_checker::{ContenderId, LockId, Mode, Token, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::env::Env;
use picklock_clients::lease_server::{Claim, Reply};
use picklock_clients::zookeeper::Path;
use picklock_lease_server::client::{Client, Input as ClientInput, Output as ClientOutput};
use picklock_lease_server::{Input, Numbered, Output, Server};
use picklock_machines::Machine;

use crate::engine::Tape;
use crate::event::{ClientId, Event, ServiceEvent};
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::ownership::Actor;
use crate::plan::{Plan, ServerName};
use crate::process::Thread;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{
    Arrival, ClientSide, HostEvent, HostedClient, HostedServer, MessageFate, Read, Recipient,
    ServerSide, ServiceMessage, ServiceTypes, Shared, SimulatedService, World,
};

/// There is one.
const SERVER: ServerId = ServerId(0);

/// The lock as the world sees it.
#[derive(Default)]
pub(crate) struct SimulatedLeaseServer {
    /// The grant by which a contender owns the lock.
    owner: Option<Token>,
}

/// The lease of the owner is over, whether the server looks at the clock or not.
pub(crate) struct LeaseEnds;

impl ServiceEvent for LeaseEnds {
    fn kind_and_subject(&self) -> (u64, u32) {
        (47, 0)
    }
}

impl ServiceMessage for Numbered<Claim> {
    fn text(&self) -> impl Display + '_ {
        self
    }
}

impl ServiceMessage for Numbered<Reply> {
    fn text(&self) -> impl Display + '_ {
        self
    }
}

impl World<SimulatedLeaseServer> {
    /// A client claims the lock. It has a new connection if the one that it had is gone.
    fn submit(&mut self, id: ClientId, claim: ClientInput) {
        let slot = &self.host.clients[id.0 as usize];
        if slot.machine.connection().is_none() {
            let connection = self.connections.open((slot.process, id.0), SERVER);
            let ends = self.connections.get_mut(connection);
            (ends.open_at_server, ends.was_opened) = (true, true);
            self.client_input(id, ClientInput::Opened { connection });
        }
        self.client_input(id, claim);
    }

    /// The contender whose client has a connection.
    fn asker(&self, connection: ConnectionId) -> ContenderId {
        self.host.clients[self.client_of(connection).0 as usize].by
    }

    fn disowned(&mut self, actor: Actor) {
        if let Some(token) = self.service.owner.take() {
            self.key_gone(LockId::default(), token, actor);
        }
    }
}

impl ServiceTypes for SimulatedLeaseServer {
    type Server = Server;
    type Client = Client;
    type ServerState = ();
    type ClientState = ();
    type Request = Numbered<Claim>;
    type Reply = Numbered<Reply>;
    type OwnEvent = LeaseEnds;
    /// Connections stand by themselves, and neither machine wants to be woken: most of these never happen.
    const EVENT_NUMBERS: [u64; 8] = [45, 46, 52, 53, 54, 55, 56, 57];
}

impl ClientSide for SimulatedLeaseServer {
    fn new_client(_world: &mut World<Self>) -> Client {
        Client::default()
    }

    fn requests_in_flight(client: &Client) -> usize {
        usize::from(client.is_asking())
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.machine.connection().into_iter()
    }

    fn client_input(
        (connection, _): (ConnectionId, ServerId),
        arrival: Arrival<Numbered<Reply>>,
    ) -> ClientInput {
        match arrival {
            Arrival::Opened => ClientInput::Opened { connection },
            Arrival::Closed { .. } => ClientInput::Broken { connection },
            Arrival::Message(reply) => ClientInput::Received { connection, reply },
        }
    }

    fn on_client_output(world: &mut World<Self>, client: ClientId, output: ClientOutput) {
        let ClientOutput { connection, claim } = output;
        let number = claim.number;
        let by = world.host.clients[client.0 as usize].by;
        let sent = Moment::new(by.0, MomentKind::Sent(RequestKind::Claim));
        world.moment(sent.about(RequestId { connection, number }));
        world.send_to_server(connection, claim);
    }

    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        (connection, heard): (ConnectionId, bool),
        reply: &Numbered<Reply>,
    ) -> Option<Moment> {
        let slot = &world.host.clients[client.0 as usize];
        let (by, number) = (slot.by, reply.number);
        if !heard || !slot.machine.awaits(number) {
            return None;
        }
        if reply.what == Reply::Refused && world.believes_without_owning(by) {
            world.refused(by, LockId::default(), (SERVER, true), 1);
        }
        let request = RequestId { connection, number };
        world.answer_arrives(|answered| answered == request)
    }
}

impl ServerSide for SimulatedLeaseServer {
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let now = world.server_now(server);
        let host = &mut world.host;
        let machine = &mut host.servers[usize::from(server.0)].machine;
        machine.handle(now, input, &mut world.tape, &mut host.server_outputs);
        let ends = machine.lease_ends();
        if ends < VirtualTime::NEVER {
            world.schedule(ends.max(world.now), LeaseEnds);
        }
    }

    fn on_server_output(world: &mut World<Self>, _server: ServerId, output: Output) {
        match output {
            Output::Reply { connection, reply } => {
                world.send_to_client(SERVER, connection, reply, true);
            }
            Output::Granted { connection } => {
                let by = world.asker(connection);
                let token = world.granted(LockId::default(), by, Mode::Exclusive);
                world.service.owner = Some(token);
            }
            Output::Released { connection } => {
                world.disowned(Actor::Contender(world.asker(connection)));
            }
            Output::Expired => world.disowned(Actor::SessionEnd),
        }
    }

    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        claim: Numbered<Claim>,
    ) {
        world.count_request(connection, || 0);
        let number = claim.number;
        world.server_input(server, Input::Claim { connection, claim });
        let by = world.asker(connection);
        let committed = Moment::new(by.0, MomentKind::Committed(RequestKind::Claim));
        world.moment(committed.about(RequestId { connection, number }));
    }

    fn fate_of_reply(
        world: &mut World<Self>,
        _server: ServerId,
        (connection, _own): (ConnectionId, bool),
        reply: &Numbered<Reply>,
    ) -> Option<MessageFate> {
        let by = world.asker(connection);
        let number = reply.number;
        let answered = MomentKind::Answered(RequestKind::Claim);
        world.fate_of(by.0, answered, RequestId { connection, number })
    }

    fn died(world: &mut World<Self>, _server: ServerId) {
        let clients = world.host.clients.iter();
        let connections: Vec<ConnectionId> = clients.flat_map(Self::connections).collect();
        for connection in connections {
            world.cut(connection);
        }
    }

    /// What it has granted is on its disk before it answers.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        world.record_restart_with(server, DataFound::Everything);
    }
}

impl SimulatedService for SimulatedLeaseServer {
    const WAITERS_ASK_AGAIN: bool = true;

    fn new(_plan: &Plan, _tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        (
            Self::default(),
            vec![HostedServer::of(Server::default(), ())],
        )
    }

    /// It knows one lock, whatever a plan says.
    fn lock_names(plan: &Plan) -> Vec<Path> {
        (0..plan.workload.locks).map(|_| "lock".into()).collect()
    }

    fn on_own_event(world: &mut World<Self>, LeaseEnds: LeaseEnds) {
        world.server_input(SERVER, Input::Wake);
    }

    fn recipient(_world: &World<Self>, LeaseEnds: &LeaseEnds) -> Recipient {
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

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, _place: u32) -> Read {
        handle::bystander(shared, thread)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let mut clients = world.host.clients.iter();
        clients.all(|slot| slot.by != by || !slot.machine.is_asking())
    }

    fn unanswered(world: &World<Self>, by: ContenderId) -> Option<u64> {
        let clients = world.host.clients.iter().filter(|slot| slot.by == by);
        Some(
            clients
                .map(|slot| u64::from(slot.machine.unanswered()))
                .sum(),
        )
    }

    fn server(_world: &World<Self>, name: ServerName) -> Option<ServerId> {
        match name {
            ServerName::Number(0) | ServerName::Leader | ServerName::Of(_) => Some(SERVER),
            _ => None,
        }
    }
}
