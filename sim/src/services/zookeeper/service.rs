//! What ZooKeeper brings into the world: the hooks of the host, in the order of [`SimulatedService`].

use super::clients::ClientState;
use super::message_size::bytes_of;
use super::{LOCKS_PATH, ServerState, SimulatedZooKeeper, ZooKeeperEvent, handle, setup};
use crate::engine::Tape;
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, ServerId, Side};
use crate::plan::{ContenderName, Fault, LockName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::trace::MessageStep::Lost;
use crate::world::moment::Moment;
use crate::world::{
    HostEvent, HostedClient, HostedServer, MessageFate, Read, Recipient, ServiceMessage,
    ServiceTypes, Shared, SimulatedService, World,
};
use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, ListTooLong, LockId, NameId, VirtualTime};
use picklock_clients::env::{Env, LocalFuture};
use picklock_clients::zookeeper::{Path, SessionState};
use picklock_zookeeper::client::{Client, Input as ClientInput, Output as ClientOutput};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};
use picklock_zookeeper::quorum_messages::PeerMessage;
use picklock_zookeeper::state::{Input as ServerInput, Output as ServerOutput, Server};
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self, Self::Ping)
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self, Self::Pong)
    }
}

impl ServiceTypes for SimulatedZooKeeper {
    type Server = Server;
    type Client = Client;
    type ServerState = ServerState;
    type ClientState = ClientState;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = ZooKeeperEvent;
    const EVENT_NUMBERS: [u64; 8] = [1, 2, 3, 4, 5, 6, 9, 10];
}

impl SimulatedService for SimulatedZooKeeper {
    const WAITERS_ASK_AGAIN: bool = false;

    fn new(plan: &Plan, _tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        setup::formed(plan)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let path = |lock: LockName| Path::from(format!("{LOCKS_PATH}/{}", lock.letter()));
        names.map(path).collect()
    }

    fn new_client(world: &mut World<Self>) -> Client {
        world.new_client()
    }

    fn client_added(world: &mut World<Self>, client: ClientId) {
        world.client_input(client, ClientInput::Start);
    }

    fn client_died(world: &mut World<Self>, client: ClientId) {
        world.no_longer_held(client, false);
    }

    fn is_over(client: &Client) -> bool {
        client.state() == SessionState::Closed
    }

    #[inline]
    fn requests_in_flight(client: &Client) -> usize {
        client.requests_in_flight()
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.state.connection.into_iter()
    }

    fn reads_reset(slot: &HostedClient<Self>, connection: ConnectionId) -> bool {
        Self::uses(slot, connection)
    }

    fn opened(connection: ConnectionId) -> ClientInput {
        ClientInput::Opened { connection }
    }

    fn broken(connection: ConnectionId, was_opened: bool) -> ClientInput {
        match was_opened {
            true => ClientInput::Broken { connection },
            false => ClientInput::Refused,
        }
    }

    #[inline(always)]
    fn received(connection: ConnectionId, message: ServerMessage) -> ClientInput {
        ClientInput::Message {
            connection,
            message,
        }
    }

    #[inline(always)]
    fn on_client_output(world: &mut World<Self>, client: ClientId, output: ClientOutput) {
        world.apply_client_output(client, output);
    }

    #[inline(always)]
    fn handle(world: &mut World<Self>, server: ServerId, input: ServerInput) {
        world.handle_at(server, input);
    }

    #[inline(always)]
    fn on_server_output(world: &mut World<Self>, server: ServerId, output: ServerOutput) {
        world.apply_server_output(server, output);
    }

    /// A server that stands still accepts when it goes on.
    fn keeps_waiting(world: &mut World<Self>, connection: ConnectionId) -> bool {
        let server = world.server_of(connection);
        let slot = &mut world.host.servers[usize::from(server.0)];
        let is_hung = slot.process.is_up() && slot.process.is_hung();
        if is_hung {
            let request = HostEvent::ConnectRequest { connection };
            let _in_backlog = slot.process.receive(request);
        }
        is_hung
    }

    fn accepts(world: &mut World<Self>, server: ServerId) -> bool {
        let slot = &world.host.servers[usize::from(server.0)];
        slot.process.is_up() && slot.machine.is_serving()
    }

    fn client_gone(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        world.record_client_gone(server, connection);
        world.server_input(server, ServerInput::ClientGone { connection });
    }

    #[inline(always)]
    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: ClientMessage,
    ) {
        world.client_message_arrives(server, connection, message);
    }

    #[inline(always)]
    fn fate_of_reply(
        world: &mut World<Self>,
        server: ServerId,
        by: (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        world.fate_of_message(server, by, message)
    }

    #[inline(always)]
    fn reply_departs(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: &ServerMessage,
    ) -> VirtualTime {
        world.count_bytes(connection, || bytes_of(message));
        world.departs(server, message)
    }

    fn cannot_reply(world: &mut World<Self>, connection: ConnectionId, message: &ServerMessage) {
        world.record_lost_watch(connection, message);
    }

    #[inline(always)]
    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        by: (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        world.message_arrives(client, by, message)
    }

    fn reply_died(
        world: &mut World<Self>,
        process: ProcessId,
        _: ConnectionId,
        message: &ServerMessage,
    ) {
        if let ServerMessage::Notification { .. } = message {
            world.unheard(process);
        }
    }

    #[inline(always)]
    fn on_own_event(world: &mut World<Self>, event: ZooKeeperEvent) {
        match event {
            ZooKeeperEvent::IsroProbe { client, server } => world.on_isro_probe(client, server),
            ZooKeeperEvent::IsroReply { client, server } => {
                world.client_input(client, ClientInput::Writer { server });
            }
            ZooKeeperEvent::Peer {
                from,
                to,
                life,
                departed,
                message,
            } => world.at_peer((from, life, departed), to, message),
            ZooKeeperEvent::PeerLost { server, peer } => world.peer_lost(server, peer),
        }
    }

    fn recipient(_: &World<Self>, event: &ZooKeeperEvent) -> Recipient {
        match event {
            ZooKeeperEvent::Peer { to: server, .. } | ZooKeeperEvent::PeerLost { server, .. } => {
                Recipient::Server(*server)
            }
            ZooKeeperEvent::IsroReply { client, .. } => Recipient::Client(*client),
            ZooKeeperEvent::IsroProbe { .. } => Recipient::World,
        }
    }

    fn trace_lost(world: &mut World<Self>, event: &ZooKeeperEvent) {
        if let ZooKeeperEvent::Peer {
            from, to, message, ..
        } = event
        {
            world.trace_between((*from, *to), Lost, message, PeerMessage::is_sign_of_life);
        }
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
            let machine = &world.host.clients[client.0 as usize].machine;
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
            let machine = &world.host.clients[client.0 as usize].machine;
            machine.requests_in_flight() == 0 && machine.state() == SessionState::Connected
        })
    }

    fn process_resumed(world: &mut World<Self>, process: ProcessId) {
        world.unblock_events(process);
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server(name)
    }

    fn died(world: &mut World<Self>, server: ServerId) {
        world.server_died(server);
    }

    fn restarted(world: &mut World<Self>, server: ServerId) {
        world.server_restarted(server);
    }

    /// First it looks at the clock, then it reads what has queued up.
    fn resumed(world: &mut World<Self>, server: ServerId, backlog: Vec<HostEvent<Self>>) {
        if world.host.servers[usize::from(server.0)].process.is_up() {
            world.server_input(server, ServerInput::Wake);
            for event in backlog {
                world.dispatch_from_backlog(Event::Service(event));
            }
        }
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
        Some(world.host.clients[client.0 as usize].machine.timeout())
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
