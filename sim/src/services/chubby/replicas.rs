//! Replicas in the world: what they want done, how they die and come back, and what they say to each other.

use std::collections::BTreeMap;
use std::fmt::Display;

use picklock_checker::service_event::{DataFound, ServiceEventKind as What};
use picklock_checker::{ContenderId, LockId, Mode};
use picklock_chubby::{Cell, Departure, Input, Output, PeerMessage, Replica};
use picklock_clients::chubby::{
    ClientMessage, HandleId, LockMode, ServerBody, ServerMessage, SessionId,
};
use picklock_machines::Machine;

use super::SimulatedChubby;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::ownership::Actor;
use crate::plan::Plan;
use crate::plan::chubby::Chubby;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{
    BetweenServers, HostedServer, MessageFate, NO_CONTENDER, PeerSide, ServerSide, ServiceMessage,
    SessionFact, World,
};

/// The cell of a plan, which has elected its last replica.
pub(super) fn formed(plan: &Plan) -> (SimulatedChubby, Vec<HostedServer<SimulatedChubby>>) {
    let settings = plan.service.get::<Chubby>();
    let settings = settings
        .expect("a plan is run over its own service")
        .clone();
    let (cell, of_replicas) = (Cell::default(), settings.of_replicas());
    let master = ServerId(settings.replicas - 1);
    let replicas = (0..settings.replicas).map(|id| {
        let replica = Replica::new(ServerId(id), master, &cell, &of_replicas);
        HostedServer::of(replica, ())
    });
    let replicas = replicas.collect();
    let service = SimulatedChubby {
        settings,
        sessions: BTreeMap::new(),
        holds: BTreeMap::new(),
    };
    (service, replicas)
}

impl BetweenServers for PeerMessage {
    /// A replica learns of a dead one by its silence.
    const EVENT_NUMBERS: [u64; 2] = [88, 89];
}

impl ServiceMessage for PeerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        true
    }
}

impl PeerSide<PeerMessage> for SimulatedChubby {
    fn peer_input(from: ServerId, message: PeerMessage) -> Input {
        Input::Peer(from, message)
    }

    fn term_of_leader(replica: &Replica) -> Option<u64> {
        replica.is_master().then(|| replica.epoch().0)
    }

    fn connection_of(world: &World<Self>, by: ContenderId) -> Option<ConnectionId> {
        let client = world.contenders.get(by.0 as usize)?.client?;
        world.host.clients[client.0 as usize].machine.connection()
    }
}

impl World<SimulatedChubby> {
    /// The lock that a file is.
    fn lock_of_file(&self, name: &str) -> Option<LockId> {
        let place = self.lock_names.iter().position(|lock| **lock == *name)?;
        Some(LockId(place as u32))
    }

    fn acquired(&mut self, name: &str, handle: (SessionId, HandleId), mode: LockMode) {
        let by = self.service.sessions.get(&handle.0).copied();
        if let (Some(lock), Some(by)) = (self.lock_of_file(name), by) {
            let mode = match mode {
                LockMode::Exclusive => Mode::Exclusive,
                LockMode::Shared => Mode::Shared,
            };
            let token = self.granted(lock, by, mode);
            self.service.holds.insert(handle, (lock, token));
        }
    }

    fn released(&mut self, handle: (SessionId, HandleId), departure: Departure) {
        if let Some((lock, token)) = self.service.holds.remove(&handle) {
            let by = match departure {
                Departure::Released => self.service.sessions.get(&handle.0).copied(),
                Departure::Failed => None,
                Departure::Deleted(connection) => Some(self.asker(connection)),
            };
            self.key_gone(lock, token, by.map_or(Actor::SessionEnd, Actor::Contender));
        }
    }

    fn session_expired(&mut self, server: ServerId, id: SessionId) {
        let of = self.service.sessions.remove(&id);
        if let Some(by) = of {
            self.session_changed(by, SessionFact::Expired);
        }
        if self.records_service_events() {
            let session = id.0.to_string();
            self.record_service_event(server, What::SessionExpired { session, of });
        }
    }

    /// A call was carried out: its moment.
    fn is_done(&mut self, connection: ConnectionId, number: u32) {
        let request = RequestId { connection, number };
        if self.watches_moments()
            && let Some(kind) = self.kind_sent(request)
        {
            let by = self.asker(connection);
            self.moment(Moment::new(by.0, MomentKind::Committed(kind)).about(request));
        }
    }
}

impl ServerSide for SimulatedChubby {
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let now = world.server_now(server);
        let host = &mut world.host;
        let machine = &mut host.servers[usize::from(server.0)].machine;
        machine.handle(now, input, &mut world.tape, &mut host.server_outputs);
    }

    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        match output {
            Output::ToClient(connection, message) => {
                world.send_to_client(server, connection, message, false);
            }
            Output::ToPeer(to, message) => world.send_to_peer(server, to, message),
            Output::BecameMaster(epoch) => world.leader_elected(server, epoch.0),
            Output::SteppedDown => world.leader_stepped_down(server),
            Output::SessionBegan(connection, session) => {
                let by = world.asker(connection);
                if by != NO_CONTENDER {
                    world.service.sessions.insert(session, by);
                }
            }
            Output::SessionExpired(session) => world.session_expired(server, session),
            Output::Done(connection, call) => world.is_done(connection, call),
            Output::Acquired(name, session, handle, mode) => {
                world.acquired(&name, (session, handle), mode);
            }
            Output::Released(_, session, handle, departure) => {
                world.released((session, handle), departure);
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
        (connection, _): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        world.record_error_reply(connection, || match &message.body {
            ServerBody::Answer(Err(error)) => Some(error.to_string()),
            _ => None,
        });
        if !world.watches_requests() {
            return None;
        }
        let by: ContenderId = world.asker(connection);
        let number = message.call;
        let request = RequestId { connection, number };
        match world.kind_sent(request) {
            Some(kind) if by != NO_CONTENDER => {
                world.fate_of(by.0, MomentKind::Answered(kind), request)
            }
            _ => world.planned_fate_of_reply(request),
        }
    }

    /// The process of a replica has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId) {
        world.close_client_connections_to(server);
    }

    /// What it has promised is on its disk, and what masters have written is on those of a majority.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        world.record_restart_with(server, DataFound::Everything);
        world.server_input(server, Input::Restart);
    }
}
