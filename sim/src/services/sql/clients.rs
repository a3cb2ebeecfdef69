//! Clients of a database: which contender has asked what, and which wait for it.

use std::collections::BTreeMap;

use picklock_checker::ContenderId;
use picklock_clients::RequestKind;
use picklock_clients::completion::Completion;
use picklock_clients::sql::{
    ClientBody, ClientMessage, ConnectionListener, QueryResult, ServerMessage, SqlResult,
};
use picklock_sql::client::{Client, Input, Output, SessionId};

use super::SimulatedSql;
use crate::event::ClientId;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::world::moment::{Moment, MomentKind};
use crate::world::{Arrival, ClientSide, HostedClient, World};

/// What is kept of a client beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    /// The number of sessions so far.
    pub(super) sessions: u32,
    pub(super) connecting: BTreeMap<SessionId, Completion<SqlResult<()>>>,
    pub(super) callers: BTreeMap<SessionId, Completion<SqlResult<QueryResult>>>,
    pub(super) listeners: BTreeMap<SessionId, ConnectionListener>,
    /// What was sent and has no answer yet.
    sent: Vec<(RequestId, RequestKind)>,
}

impl World<SimulatedSql> {
    /// The contender whose client has a connection.
    pub(super) fn asker(&self, connection: ConnectionId) -> ContenderId {
        self.host.clients[self.client_of(connection).0 as usize].by
    }

    fn send_statement(&mut self, connection: ConnectionId, message: ClientMessage) {
        if let ClientBody::Query(statement) = &message.body {
            let (number, kind) = (message.number, statement.kind());
            let request = RequestId { connection, number };
            let client = self.client_of(connection).0 as usize;
            let sent = &mut self.host.clients[client].state.sent;
            sent.retain(|(known, _)| known.connection != connection);
            sent.push((request, kind));
            let by = self.asker(connection).0;
            self.moment(Moment::new(by, MomentKind::Sent(kind)).about(request));
        }
        self.send_to_server(connection, message);
    }

    /// The statement that a connection has sent, and that is not answered yet.
    pub(super) fn statement_of(
        &self,
        connection: ConnectionId,
    ) -> Option<(RequestId, RequestKind)> {
        let slot = &self.host.clients[self.client_of(connection).0 as usize];
        let mut sent = slot.state.sent.iter();
        sent.find(|(request, _)| request.connection == connection)
            .copied()
    }

    /// A statement has come to wait at the server for a lock, or waits no more.
    pub(super) fn statement_waits(&mut self, connection: ConnectionId, waits: bool) {
        let client = self.client_of(connection);
        let slot = &mut self.host.clients[client.0 as usize];
        let process = slot.process;
        if slot.alive && slot.machine.set_waits(connection, waits) {
            self.count_requests(client);
            if waits {
                self.update_waiting(process);
            }
        }
    }
}

impl ClientSide for SimulatedSql {
    fn new_client(world: &mut World<Self>) -> Client {
        Client::new(world.service.settings.of_clients())
    }

    fn client_died(world: &mut World<Self>, client: ClientId) {
        world.host.clients[client.0 as usize].state = ClientState::default();
    }

    /// A statement that waits for a lock is answered when the lock is free.
    fn requests_in_flight(client: &Client) -> usize {
        client.under_way()
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.machine.connections()
    }

    fn client_input(
        (connection, _): (ConnectionId, ServerId),
        arrival: Arrival<ServerMessage>,
    ) -> Input {
        match arrival {
            Arrival::Opened => Input::Opened(connection),
            Arrival::Closed { .. } => Input::Broken(connection),
            Arrival::Message(message) => Input::Received(connection, message),
        }
    }

    fn on_client_output(world: &mut World<Self>, client: ClientId, output: Output) {
        let index = client.0 as usize;
        match output {
            Output::Dial(session, server) => {
                let connection = world.connect(client, server);
                world.client_input(client, Input::Dialled(session, connection));
            }
            Output::Send(connection, message) => world.send_statement(connection, message),
            Output::HangUp(connection) => world.hang_up(connection),
            Output::Connected(session, result) => {
                let state = &mut world.host.clients[index].state;
                if let Some(caller) = state.connecting.remove(&session) {
                    caller.complete(result);
                }
            }
            Output::Answered(session, result) => {
                let state = &mut world.host.clients[index].state;
                if let Some(caller) = state.callers.remove(&session) {
                    caller.complete(result);
                }
            }
            Output::Gone(session) => {
                let state = &mut world.host.clients[index].state;
                if let Some(listener) = state.listeners.remove(&session) {
                    listener.closed();
                }
            }
        }
    }

    fn reply_arrives(
        world: &mut World<Self>,
        _client: ClientId,
        (connection, heard): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        let number = message.number;
        let request = RequestId { connection, number };
        match heard && world.watches_requests() {
            true => world.answer_arrives(|answered| answered == request),
            false => None,
        }
    }
}
