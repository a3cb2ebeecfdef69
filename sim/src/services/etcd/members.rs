//! Members in the world: what they want done, how they die and come back, and what they say to each other.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::service_event::{DataFound, KeyHolders, ServiceEventKind as What};
use picklock_checker::{ContenderId, ServerChange};
use picklock_clients::etcd::ClientMessage;
use picklock_clients::etcd::{ServerBody, ServerMessage};
use picklock_etcd::{Input, Member, Output, PeerMessage};
use picklock_machines::{Chance, Machine};

use super::clients::is_notification;
use super::{EtcdEvent, SimulatedEtcd};
use crate::engine::Tape;
use crate::event::Event;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::etcd::Etcd;
use crate::plan::{Plan, ServerName};
use crate::trace::MessageStep::{Lost, Received, Sent};
use crate::world::moment::MomentKind;
use crate::world::{HostEvent, HostedServer, MessageFate, ServerSide, World};

/// The cluster of a plan, which has elected its last member.
pub(super) fn formed(
    plan: &Plan,
    tape: &mut Tape,
) -> (SimulatedEtcd, Vec<HostedServer<SimulatedEtcd>>) {
    let settings = plan.service.get::<Etcd>();
    let settings = settings
        .expect("a plan is run over its own service")
        .clone();
    let of_members = settings.of_members();
    let leader = ServerId(settings.servers - 1);
    let members = (0..settings.servers).map(|id| {
        let phase = Duration::from_millis(tape.choose(500).into());
        let member = Member::formed(ServerId(id), leader, of_members).scanning_from(phase);
        HostedServer::of(member, ())
    });
    let members = members.collect();
    let service = SimulatedEtcd {
        settings,
        last_commit: 0,
        leases: BTreeMap::new(),
    };
    (service, members)
}

impl World<SimulatedEtcd> {
    /// The member that a name means at the moment; `None` if there is none.
    pub(super) fn member(&self, name: ServerName) -> Option<ServerId> {
        let servers = self.host.servers.iter();
        let leads =
            |slot: &HostedServer<SimulatedEtcd>| slot.process.is_up() && slot.machine.is_leader();
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
                let connection = self.last_connection(ContenderId(contender.0))?;
                Some(usize::from(self.server_of(connection).0))
            }
        };
        index
            .filter(|index| *index < self.host.servers.len())
            .map(|index| ServerId(index as u8))
    }

    /// A message of another member arrives. The kernel of a machine whose process is dead refuses a call.
    pub(super) fn at_peer(&mut self, from: ServerId, to: ServerId, message: PeerMessage) {
        if !self.host.servers[usize::from(to.0)].process.is_up() {
            self.trace_between((from, to), Lost, &message, PeerMessage::is_sign_of_life);
            if let PeerMessage::Lease(..) = message {
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

    /// A member learns that the process of another is not there.
    fn tell_peer_lost(&mut self, server: ServerId, peer: ServerId) {
        let at = self.arrival_at_peer(peer, server);
        self.schedule(at, EtcdEvent::PeerLost { server, peer });
    }

    fn send_to_peer(&mut self, from: ServerId, to: ServerId, message: PeerMessage) {
        self.trace_between((from, to), Sent, &message, PeerMessage::is_sign_of_life);
        let at = self.arrival_at_peer(from, to);
        let message = Box::new(message);
        self.schedule(at, EtcdEvent::Peer { from, to, message });
    }

    /// A member leads from now on, or has another leader than it had.
    fn leader_changed(&mut self, server: ServerId, term: u64) {
        let epoch = u32::try_from(term).unwrap_or(u32::MAX);
        let first = self.service.settings.servers - 1;
        self.record_leader(server, epoch, first);
        self.record_server_change(server, ServerChange::Elected);
        self.elected();
    }
}

impl ServerSide for SimulatedEtcd {
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let now = world.server_now(server);
        let host = &mut world.host;
        let machine = &mut host.servers[usize::from(server.0)].machine;
        machine.handle(now, input, &mut world.tape, &mut host.server_outputs);
        if !world.pending_writes.is_empty() {
            let mark = machine.applied() as u64;
            world.replicated_up_to(server, None, mark);
        }
    }

    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        match output {
            Output::ToClient(connection, message) => {
                world.send_to_client(server, connection, message, false);
            }
            Output::ToPeer(to, message) => world.send_to_peer(server, to, message),
            Output::Committed(commit) => world.committed(server, &commit),
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
        world.record_error_reply(connection, || match &message.body {
            ServerBody::Error(status) => Some(status.message.to_owned()),
            ServerBody::Unary(..) | ServerBody::Watch(_) | ServerBody::LeaseKeepAlive(..) => None,
        });
        if is_notification(message) {
            world.count_message(world.process_of(connection), own);
            return None;
        }
        if !world.watches_requests() {
            return None;
        }
        let by = world.asker(connection).0;
        let number = message.call;
        let request = RequestId { connection, number };
        match world.kind_answered(request) {
            Some(kind) => world.fate_of(by, MomentKind::Answered(kind), request),
            None => world.planned_fate_of_reply(request),
        }
    }

    /// The process of a member has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId) {
        let clients = world.host.clients.iter();
        let connections: Vec<ConnectionId> = clients
            .flat_map(<Self as crate::world::ClientSide>::connections)
            .collect();
        world.close_connections_to(server, connections.into_iter());
        for peer in (0..world.host.servers.len()).map(|index| ServerId(index as u8)) {
            if peer != server {
                world.tell_peer_lost(peer, server);
            }
        }
    }

    /// What it has applied, and its log, are on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        if world.records_service_events() {
            let up_to = world.host.servers[usize::from(server.0)].machine.applied() as u64;
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
