//! Servers in the world: what they want done, how they die and come back, and what they say to each other.

use std::collections::BTreeMap;
use std::fmt::Display;

use picklock_checker::ContenderId;
use picklock_checker::service_event::DataFound;
use picklock_clients::consul::{ClientMessage, ServerMessage};
use picklock_consul::{Input, Output, PeerMessage, Server};
use picklock_machines::Machine;

use super::SimulatedConsul;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::Plan;
use crate::plan::consul::Consul;
use crate::world::moment::MomentKind;
use crate::world::{
    BetweenServers, HostedServer, MessageFate, PeerSide, ServerSide, ServiceMessage, World,
};

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

impl BetweenServers for PeerMessage {
    const EVENT_NUMBERS: [u64; 2] = [118, 119];

    fn is_call(&self) -> bool {
        matches!(self, Self::Forward(..))
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

impl PeerSide<PeerMessage> for SimulatedConsul {
    fn peer_input(from: ServerId, message: PeerMessage) -> Input {
        Input::Peer(from, message)
    }

    fn peer_lost_input(peer: ServerId) -> Option<Input> {
        Some(Input::PeerLost(peer))
    }

    fn term_of_leader(server: &Server) -> Option<u64> {
        server.is_leader().then(|| server.term())
    }

    fn connection_of(world: &World<Self>, by: ContenderId) -> Option<ConnectionId> {
        let client = world.contenders.get(by.0 as usize)?.client?;
        world.host.clients[client.0 as usize].machine.connection()
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
        world.close_client_connections_to(server);
        world.tell_peers_lost(server);
    }

    /// Its log is on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        let up_to = world.host.servers[usize::from(server.0)].machine.applied();
        world.record_restart_with(server, DataFound::Log { up_to });
        world.server_input(server, Input::Restart);
    }
}
