//! Servers in the world: what they want done, how they die and come back, and what they say to each other.

use std::collections::BTreeMap;

use picklock_checker::ServerChange;
use picklock_checker::service_event::{DataFound, KeyHolders, ServiceEventKind as What};
use picklock_clients::consul::{ClientMessage, ServerMessage};
use picklock_consul::{Input, Output, PeerMessage, Server};
use picklock_machines::Machine;

use super::{ConsulEvent, SimulatedConsul};
use crate::event::Event;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::consul::Consul;
use crate::plan::{Plan, ServerName};
use crate::trace::MessageStep::{Lost, Received, Sent};
use crate::world::moment::MomentKind;
use crate::world::{ClientSide, HostEvent, HostedServer, MessageFate, ServerSide, World};

/// The servers of a plan, which have elected the last of them.
pub(super) fn formed(plan: &Plan) -> (SimulatedConsul, Vec<HostedServer<SimulatedConsul>>) {
    let settings = plan.service.get::<Consul>();
    let settings = settings
        .expect("a plan is run over its own service")
        .clone();
    let of_servers = settings.of_servers();
    let leader = ServerId(settings.servers - 1);
    let servers = (0..settings.servers).map(|id| {
        let server = Server::formed(ServerId(id), leader, of_servers);
        HostedServer::of(server, ())
    });
    let servers = servers.collect();
    let service = SimulatedConsul {
        settings,
        last_commit: 1,
        sessions: BTreeMap::new(),
        keys: BTreeMap::new(),
        holds: (0..plan.workload.locks).map(|_| Vec::new()).collect(),
    };
    (service, servers)
}

impl World<SimulatedConsul> {
    /// The server that a name means at the moment; `None` if there is none.
    pub(super) fn server_named(&self, name: ServerName) -> Option<ServerId> {
        let servers = self.host.servers.iter();
        let leads =
            |slot: &HostedServer<SimulatedConsul>| slot.process.is_up() && slot.machine.is_leader();
        let newest = (servers.enumerate())
            .filter(|(_, slot)| leads(slot))
            .max_by_key(|(_, slot)| slot.machine.term());
        let leader = newest.map(|(index, _)| index);
        let index = match name {
            ServerName::Leader => leader,
            ServerName::Number(number) => Some(number as usize),
            ServerName::Primary | ServerName::Sentinel(_) | ServerName::Observer(_) => None,
            ServerName::Follower(nth) => (0..self.host.servers.len())
                .filter(|index| Some(*index) != leader)
                .nth(nth as usize),
            ServerName::Of(contender) => {
                let contender = self.contenders.get(contender.0 as usize)?;
                let client = &self.host.clients[contender.client?.0 as usize];
                Some(usize::from(self.server_of(client.machine.connection()?).0))
            }
        };
        index
            .filter(|index| *index < self.host.servers.len())
            .map(|index| ServerId(index as u8))
    }

    /// A message of another server arrives. The kernel of a machine whose process is dead refuses a call.
    pub(super) fn at_peer(&mut self, from: ServerId, to: ServerId, message: PeerMessage) {
        if !self.host.servers[usize::from(to.0)].process.is_up() {
            self.trace_between((from, to), Lost, &message, PeerMessage::is_sign_of_life);
            if let PeerMessage::Forward(..) = message {
                self.tell_peer_lost(from, to);
            }
            return;
        }
        self.trace_between((from, to), Received, &message, PeerMessage::is_sign_of_life);
        self.server_input(to, Input::Peer(from, message));
    }

    pub(super) fn peer_lost(&mut self, server: ServerId, peer: ServerId) {
        self.server_input(server, Input::PeerLost(peer));
    }

    /// A server learns that the process of another is not there.
    fn tell_peer_lost(&mut self, server: ServerId, peer: ServerId) {
        let at = self.arrival_at_peer(peer, server);
        self.schedule(at, ConsulEvent::PeerLost { server, peer });
    }

    fn send_to_peer(&mut self, from: ServerId, to: ServerId, message: PeerMessage) {
        self.trace_between((from, to), Sent, &message, PeerMessage::is_sign_of_life);
        let at = self.arrival_at_peer(from, to);
        let message = Box::new(message);
        self.schedule(at, ConsulEvent::Peer { from, to, message });
    }

    /// A server leads from now on.
    fn leader_changed(&mut self, server: ServerId, term: u64) {
        let epoch = u32::try_from(term).unwrap_or(u32::MAX);
        let first = self.service.settings.servers - 1;
        self.record_leader(server, epoch, first);
        self.record_server_change(server, ServerChange::Elected);
        self.elected();
    }
}

impl ServerSide for SimulatedConsul {
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let now = world.server_now(server);
        let host = &mut world.host;
        let machine = &mut host.servers[usize::from(server.0)].machine;
        machine.handle(now, input, &mut world.tape, &mut host.server_outputs);
        if !world.pending_writes.is_empty() {
            let mark = machine.applied();
            world.replicated_up_to(server, None, mark);
        }
    }

    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        match output {
            Output::ToClient(connection, message) => {
                world.send_to_client(server, connection, message, false);
            }
            Output::ToPeer(to, message) => world.send_to_peer(server, to, message),
            Output::Committed(commit) => world.committed(server, commit),
            Output::BecameLeader(term) => world.leader_changed(server, term),
            Output::SteppedDown => {
                if world.records_service_events() {
                    world.record_service_event(server, What::Looking);
                }
            }
        }
    }

    fn client_gone(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        world.record_client_gone(connection);
        world.server_input(server, Input::ClientGone(connection));
    }

    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: ClientMessage,
    ) {
        world.count_request(connection, || 0);
        world.server_input(server, Input::Client(connection, message));
    }

    fn fate_of_reply(
        world: &mut World<Self>,
        _server: ServerId,
        (connection, own): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        world.record_error_reply(connection, || {
            let error = message.result.as_ref().err();
            error.map(ToString::to_string)
        });
        if message.ends_wait {
            world.count_message(world.process_of(connection), own);
            return None;
        }
        if !world.watches_requests() {
            return None;
        }
        let by = world.asker(connection).0;
        let number = message.number;
        let request = RequestId { connection, number };
        match world.kind_of(request) {
            Some(kind) => world.fate_of(by, MomentKind::Answered(kind), request),
            None => world.planned_fate_of_reply(request),
        }
    }

    /// The process of a server has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId) {
        let clients = world.host.clients.iter();
        let connections: Vec<ConnectionId> = clients.flat_map(Self::connections).collect();
        world.close_connections_to(server, connections.into_iter());
        for peer in (0..world.host.servers.len()).map(|index| ServerId(index as u8)) {
            if peer != server {
                world.tell_peer_lost(peer, server);
            }
        }
    }

    /// Its log is on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        if world.records_service_events() {
            let up_to = world.host.servers[usize::from(server.0)].machine.applied();
            let restarted = What::Restarted {
                data: DataFound::Log { up_to },
                without_key_of: None,
                left: KeyHolders::default(),
            };
            world.record_service_event(server, restarted);
        }
        world.record_server_change(server, ServerChange::Restarted);
        world.server_input(server, Input::Restart);
    }

    fn resumed(world: &mut World<Self>, server: ServerId, backlog: Vec<HostEvent<Self>>) {
        if world.host.servers[usize::from(server.0)].process.is_up() {
            world.server_input(server, Input::Wake);
            for event in backlog {
                world.dispatch_from_backlog(Event::Service(event));
            }
        }
    }
}
