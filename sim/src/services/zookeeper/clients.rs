//! Client handles in the world: their sessions' settings, and what they want done.

use picklock_checker::time::whole_micros;
use picklock_clients::RequestKind;
use picklock_clients::zookeeper::SessionState;
use picklock_zookeeper::client::{Client, Input, Output, ZooKeeperClientConfig};
use picklock_zookeeper::messages::ServerMessage;
use picklock_zookeeper::messages::{ConnectionId, ServerId, Xid};

use super::SimulatedZooKeeper;
use super::event_threads::EventThreadDelay;
use crate::event::ClientId;
use crate::network::RequestId;
use crate::process::ProcessId;
use crate::world::NO_CONTENDER;
use crate::world::moment::Moment;
use crate::world::{Arrival, ClientSide, HostedClient, World};

/// What is kept of a client handle beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    pub connection: Option<ConnectionId>,
    /// The kinds of requests that are not answered yet; kept only if faults may ask.
    pub sent: Vec<(Xid, RequestKind)>,
    /// It has been connected before.
    pub was_connected: bool,
    pub held: EventThreadDelay,
}

impl World<SimulatedZooKeeper> {
    #[cold]
    fn connect_to(&mut self, client: ClientId, server: ServerId) {
        let connection = self.connect(client, server);
        let state = &mut self.host.clients[client.0 as usize].state;
        if let Some(earlier) = state.connection.replace(connection) {
            self.connections.get_mut(earlier).open_at_client = false;
        }
    }

    /// The kind of a request that is not answered yet.
    pub(super) fn kind_of(&mut self, client: usize, xid: Xid) -> Option<RequestKind> {
        let sent = &mut self.host.clients[client].state.sent;
        let index = sent.iter().position(|(known, _)| *known == xid)?;
        Some(sent.remove(index).1)
    }
}

impl ClientSide for SimulatedZooKeeper {
    fn new_client(world: &mut World<Self>) -> Client {
        let ensemble = &world.service.ensemble;
        let settings = ZooKeeperClientConfig {
            request_timeout: ensemble.request_timeout.map(whole_micros),
            read_only: ensemble.read_only,
            jute_max_buffer: ensemble.jute_max_buffer,
            ..ZooKeeperClientConfig::new(
                whole_micros(ensemble.session_timeout),
                ensemble.machines(),
            )
            .of(ensemble.library, ensemble.version)
        };
        Client::new(settings, &mut world.tape)
    }

    fn client_added(world: &mut World<Self>, client: ClientId) {
        world.client_input(client, Input::Start);
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

    #[inline(always)]
    fn client_input(
        (connection, _): (ConnectionId, ServerId),
        arrival: Arrival<ServerMessage>,
    ) -> Input {
        match arrival {
            Arrival::Opened => Input::Opened { connection },
            Arrival::Closed { was_opened: true } => Input::Broken { connection },
            Arrival::Closed { was_opened: false } => Input::Refused,
            Arrival::Message(message) => Input::Message {
                connection,
                message,
            },
        }
    }

    #[inline(always)]
    fn on_client_output(world: &mut World<Self>, client: ClientId, output: Output) {
        match output {
            Output::Connect { server } => world.connect_to(client, server),
            Output::Disconnect { connection } => {
                world.hang_up(connection);
                world.check_list_too_long(client);
            }
            Output::Send {
                connection,
                message,
            } => world.send_request(connection, message),
            Output::ProbeIsro { server } => world.send_isro_probe(client, server),
            Output::StateChanged(state) => world.client_state(client, state),
        }
    }

    /// A message has come to a client. Answers the moment of an answer that faults may wait for.
    #[inline(always)]
    fn reply_arrives(
        world: &mut World<Self>,
        id: ClientId,
        (connection, heard): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        world.arrived(id, message, heard);
        if !heard {
            world.record_lost_watch(connection, message);
            return None;
        }
        if let ServerMessage::Connected { session, .. } = *message {
            let by = world.host.clients[id.0 as usize].by;
            if by != NO_CONTENDER && world.note_session(session, id, by) {
                world.record_new_session(world.server_of(connection), session, by);
            }
        }
        if let ServerMessage::Reply { xid, .. } = message
            && world.shares_clients()
        {
            world.watch_answered(id, *xid);
        }
        if world.a_user_believes_without_owning(id) {
            world.loss_delivered(id, connection, message);
        }
        match message {
            ServerMessage::Reply { xid, .. } if world.watches_requests() => {
                let number = xid.0;
                let request = RequestId { connection, number };
                world.answer_arrives(|answered| answered == request)
            }
            _ => None,
        }
    }

    fn reply_died(
        world: &mut World<Self>,
        process: ProcessId,
        _: ConnectionId,
        message: &ServerMessage,
    ) {
        if let ServerMessage::Notification { .. } = message {
            world.notification_lost(process);
        }
    }
}
