//! The life of servers in the world: their connections, their links, and what they have to say.

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};
use picklock_zookeeper::state::{Input, Output};

use super::message_size::answers_write;
use super::message_size::bytes_of;
use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::Ensemble;
use crate::world::moment::MomentKind;
use crate::world::{HostEvent, MessageFate, ServerSide, World};

/// How long a server is busy with each thing that it says, in microseconds.
pub(super) struct ServiceTimes {
    read: u64,
    write: u64,
    notification: u64,
    /// Whether a proposal takes the time of servers at all.
    pub(super) proposals_keep_busy: bool,
}

impl From<&Ensemble> for ServiceTimes {
    fn from(ensemble: &Ensemble) -> Self {
        Self {
            read: whole_micros(ensemble.read_time),
            write: whole_micros(ensemble.write_time),
            notification: whole_micros(ensemble.notification_time),
            proposals_keep_busy: !ensemble.proposal_time.is_zero(),
        }
    }
}

impl World<SimulatedZooKeeper> {
    #[inline(never)]
    fn fate_of_reply(&mut self, connection: ConnectionId, xid: Xid) -> Option<MessageFate> {
        let client = self.client_of(connection).0 as usize;
        let by = self.caller(client, xid).0;
        let number = xid.0;
        let request = RequestId { connection, number };
        match self.kind_of(client, xid) {
            Some(kind) => self.fate_of(by, MomentKind::Answered(kind), request),
            None => self.planned_fate_of_reply(request),
        }
    }
}

impl ServerSide for SimulatedZooKeeper {
    /// Lets a server handle an input.
    #[inline(always)]
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let minds = world.watches_requests();
        let slot = &mut world.host.servers[server.0 as usize];
        let out = &mut world.host.server_outputs;
        slot.machine.report_proposals(minds);
        slot.machine.handle(world.now, input, &mut world.tape, out);
        if !world.pending_writes.is_empty() {
            let mark = slot.machine.last_applied().0;
            world.replicated_up_to(server, None, mark);
        }
    }

    #[inline(always)]
    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        match output {
            Output::ToClient {
                connection,
                message,
                own,
            } => world.send_to_client(server, connection, message, own),
            Output::Notify {
                connections,
                own,
                kind,
                path,
            } => {
                world.notify(server, (connections, own), kind, path);
            }
            Output::CloseClient { connection } => world.close_client(connection),
            Output::ToPeer { to, message, at } => world.send_to_peer(server, to, message, at),
            Output::Proposed { session, xid, kind } => world.proposed(session, xid, kind),
            Output::Committed(txn) => world.committed(server, &txn),
            Output::SessionExpired { session } => world.session_expired(server, session),
            Output::BecameLeader => {
                let epoch = world.host.servers[usize::from(server.0)].machine.epoch();
                // An ensemble that stands is led by the last of those that vote.
                let first = world.plan.service.servers().saturating_sub(1);
                world.record_leader(server, epoch, first);
                world.record_server_change(server, ServerChange::Elected);
                world.elected();
            }
            Output::StartedServing | Output::StoppedServing => world.record_role(server),
        }
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
        world.record_client_gone(connection);
        world.server_input(server, Input::ClientGone { connection });
    }

    /// A message of a client has come to a server that runs.
    #[inline(always)]
    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: ClientMessage,
    ) {
        if let ClientMessage::Request { xid, request } = &message {
            world.count_request(connection, || request.wire_bytes());
            let by = world.caller(world.client_of(connection).0 as usize, *xid);
            world.follow_lock_request(by, connection, (*xid, request));
        }
        world.server_input(
            server,
            Input::Client {
                connection,
                message,
            },
        );
    }

    /// What becomes of a message that a server sends: faults know of answers alone.
    #[inline(always)]
    fn fate_of_reply(
        world: &mut World<Self>,
        _server: ServerId,
        (connection, own): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        world.record_error(connection, message);
        match message {
            ServerMessage::Reply { xid, .. } if world.watches_requests() => {
                return world.fate_of_reply(connection, *xid);
            }
            ServerMessage::Notification { .. } => {
                world.count_message(world.process_of(connection), own);
                world.record_watch(connection, message);
            }
            ServerMessage::Reply { .. }
            | ServerMessage::Connected { .. }
            | ServerMessage::Expired
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong
            | ServerMessage::WatchesSet { .. } => {}
        }
        None
    }

    #[inline(always)]
    fn reply_departs(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: &ServerMessage,
    ) -> VirtualTime {
        world.count_bytes(connection, || bytes_of(message));
        let takes = match message {
            ServerMessage::Reply {
                reply: Ok(response),
                ..
            } if answers_write(response) => world.service.pace.write,
            ServerMessage::Reply { .. } => world.service.pace.read,
            ServerMessage::Notification { .. } => world.service.pace.notification,
            ServerMessage::Connected { .. }
            | ServerMessage::Expired
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong
            | ServerMessage::WatchesSet { .. } => 0,
        };
        world.host.servers[server.0 as usize].occupy(world.now, takes)
    }

    fn cannot_reply(world: &mut World<Self>, connection: ConnectionId, message: &ServerMessage) {
        world.record_lost_watch(connection, message);
    }

    /// The process of a server has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId) {
        let slot = &mut world.host.servers[server.0 as usize];
        slot.state.deaths.push(world.now);
        let logged = world.logged_by(server);
        let slot = &mut world.host.servers[server.0 as usize];
        slot.machine.crash(world.now);
        world.record_death(server, logged);
        let clients = world.host.clients.iter();
        let present: Vec<ConnectionId> = clients.filter_map(|slot| slot.state.connection).collect();
        world.close_connections_to(server, present.into_iter());
        for peer in (0..world.host.servers.len()).map(|index| ServerId(index as u8)) {
            if peer != server {
                let latency = world.latency_of_servers(server, peer).draw(&mut world.tape);
                let link = world.links.between(server, peer);
                let at = link.arrival(world.now, latency);
                world.schedule(
                    at,
                    ZooKeeperEvent::PeerLost {
                        server: peer,
                        peer: server,
                    },
                );
            }
        }
    }

    /// A dead server has come back with what was safe on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        world.record_restart(server);
        world.record_server_change(server, ServerChange::Restarted);
        let slot = &mut world.host.servers[server.0 as usize];
        let out = &mut world.host.server_outputs;
        slot.machine.restart(world.now, &mut world.tape, out);
        world.apply_server_outputs(server);
    }
}
