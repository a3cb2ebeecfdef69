//! Members in the world: what they want done, how they die and come back, and what they say to each other.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use picklock_checker::ContenderId;
use picklock_checker::service_event::DataFound;
use picklock_clients::etcd::ClientMessage;
use picklock_clients::etcd::{ServerBody, ServerMessage};
use picklock_etcd::{Input, Member, Output, PeerMessage};
use picklock_machines::{Chance, Machine};

use super::SimulatedEtcd;
use super::clients::is_notification;
use crate::engine::Tape;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::Plan;
use crate::plan::etcd::Etcd;
use crate::world::moment::MomentKind;
use crate::world::{
    BetweenServers, HostedServer, MessageFate, PeerSide, ServerSide, ServiceMessage, World,
};

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

impl BetweenServers for PeerMessage {
    const EVENT_NUMBERS: [u64; 2] = [68, 69];

    fn is_call(&self) -> bool {
        matches!(self, Self::Lease(..))
    }
}

impl ServiceMessage for PeerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        PeerMessage::is_sign_of_life(self)
    }
}

impl PeerSide<PeerMessage> for SimulatedEtcd {
    fn peer_input(from: ServerId, message: PeerMessage) -> Input {
        Input::Peer(from, message)
    }

    fn peer_lost_input(peer: ServerId) -> Option<Input> {
        Some(Input::PeerLost(peer))
    }

    fn term_of_leader(member: &Member) -> Option<u64> {
        member.is_leader().then(|| member.term())
    }

    fn connection_of(world: &World<Self>, by: ContenderId) -> Option<ConnectionId> {
        world.last_connection(by)
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
            Output::BecameLeader(term) => world.leader_elected(server, term),
            Output::SteppedDown => world.leader_stepped_down(server),
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
        world.close_client_connections_to(server);
        world.tell_peers_lost(server);
    }

    /// What it has applied, and its log, are on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        let up_to = world.host.servers[usize::from(server.0)].machine.applied() as u64;
        world.record_restart_with(server, DataFound::Log { up_to });
        world.server_input(server, Input::Restart);
    }
}
