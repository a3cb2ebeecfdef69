//! Client handles in the world: their sessions' settings, and what they want done.

use picklock_checker::time::whole_micros;
use picklock_clients::RequestKind;
use picklock_zookeeper::client::{Client, Output, ZooKeeperClientConfig};
use picklock_zookeeper::messages::{ConnectionId, ServerId, Xid};

use super::SimulatedZooKeeper;
use super::event_threads::EventThreadDelay;
use crate::event::ClientId;
use crate::world::World;

/// What is kept of a client handle beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    pub connection: Option<ConnectionId>,
    /// The kinds of requests that are not answered yet; kept only if faults may ask.
    pub sent: Vec<(Xid, RequestKind)>,
    /// It has been connected before.
    pub greeted: bool,
    pub held: EventThreadDelay,
}

impl World<SimulatedZooKeeper> {
    pub(super) fn new_client(&mut self) -> Client {
        let ensemble = &self.service.ensemble;
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
        Client::new(settings, &mut self.tape)
    }

    #[inline]
    pub(super) fn apply_client_output(&mut self, id: ClientId, output: Output) {
        match output {
            Output::Connect { server } => self.connect_to(id, server),
            Output::Disconnect { connection } => {
                self.hang_up(connection);
                self.check_list_too_long(id);
            }
            Output::Send {
                connection,
                message,
            } => self.send_request(connection, message),
            Output::ProbeIsro { server } => self.send_isro_probe(id, server),
            Output::StateChanged(state) => self.client_state(id, state),
        }
    }

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
