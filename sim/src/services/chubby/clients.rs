//! Clients of a cell: which contender has asked what, and which wait for it.

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, Knowledge};
use picklock_chubby::client::{Client, ClientSettings, Input, Output};
use picklock_clients::RequestKind;
use picklock_clients::chubby::{
    ChubbyResult, ClientBody, ClientMessage, HandleId, Response, ServerMessage, SessionListener,
    SessionState,
};
use picklock_clients::completion::Completion;
use picklock_machines::Chance;

use super::SimulatedChubby;
use crate::event::ClientId;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::world::moment::{Moment, MomentKind};
use crate::world::{Arrival, ClientSide, HostedClient, SessionFact, World};

/// What is kept of a client beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    pub(super) callers: BTreeMap<u32, Completion<ChubbyResult<Response>>>,
    pub(super) listeners: BTreeMap<HandleId, SessionListener>,
    /// What was sent and has no answer yet; kept only if faults may ask.
    sent: Vec<(RequestId, RequestKind)>,
}

fn kind_of(message: &ClientMessage) -> RequestKind {
    match &message.body {
        ClientBody::CreateSession => RequestKind::NewSession,
        ClientBody::KeepAlive(_) => RequestKind::KeepAlive,
        ClientBody::Call(_, request) => request.kind(),
    }
}

impl World<SimulatedChubby> {
    /// The contender whose client has a connection.
    pub(super) fn asker(&self, connection: ConnectionId) -> ContenderId {
        self.host.clients[self.client_of(connection).0 as usize].by
    }

    fn send_request(&mut self, connection: ConnectionId, message: ClientMessage) {
        if self.watches_requests() {
            let (number, kind) = (message.call, kind_of(&message));
            let request = RequestId { connection, number };
            let client = self.client_of(connection).0 as usize;
            let sent = &mut self.host.clients[client].state.sent;
            sent.retain(|(known, _)| known.connection == connection);
            sent.push((request, kind));
            let by = self.asker(connection).0;
            self.moment(Moment::new(by, MomentKind::Sent(kind)).about(request));
        }
        let waits = matches!(&message.body, ClientBody::Call(_, call) if call.waits_for_turn());
        self.send_to_server(connection, message);
        if waits {
            // The library may have sent it long after its caller has asked.
            self.update_waiting(self.process_of(connection));
        }
    }

    /// What was asked by a call that is not answered yet.
    pub(super) fn kind_sent(&self, request: RequestId) -> Option<RequestKind> {
        let client = self.client_of(request.connection).0 as usize;
        let mut sent = self.host.clients[client].state.sent.iter();
        let found = sent.find(|(known, _)| *known == request);
        found.map(|(_, kind)| *kind)
    }

    /// A contender's session is in another state, or it has come to believe that it holds a lock: what is known of the
    /// session tells it whether it may have lost the lock.
    pub(super) fn note_session_state(&mut self, by: ContenderId) {
        let client = (self.contenders.get(by.0 as usize)).and_then(|contender| contender.client);
        let Some(client) = client.filter(|_| self.believes(by)) else {
            return;
        };
        match self.host.clients[client.0 as usize].machine.session_state() {
            SessionState::Safe => self.is_connected(by, true),
            SessionState::Jeopardy => self.is_connected(by, false),
            SessionState::Expired => self.could_know_from_now(by, Knowledge::SessionLost),
        }
    }

    fn session_is(&mut self, client: ClientId, state: SessionState) {
        let listeners = &mut self.host.clients[client.0 as usize].state.listeners;
        listeners
            .values()
            .for_each(|listener| listener.changed(state));
        if state == SessionState::Expired {
            listeners.clear();
        }
        for by in self.users(client) {
            self.note_session_state(by);
            if state == SessionState::Expired {
                self.session_changed(by, SessionFact::Lost);
            }
        }
    }
}

impl ClientSide for SimulatedChubby {
    fn new_client(world: &mut World<Self>) -> Client {
        let settings = &world.service.settings;
        let (replicas, grace_period) = (settings.replicas, settings.grace_period);
        let first = ServerId(world.tape.choose(u32::from(replicas)) as u8);
        Client::new(ClientSettings {
            replicas,
            first,
            grace_period,
        })
    }

    fn client_died(world: &mut World<Self>, client: ClientId) {
        world.host.clients[client.0 as usize].state = ClientState::default();
    }

    /// A contender that waits for a lock at the master does not ask: the master answers when it has it.
    fn requests_in_flight(client: &Client) -> usize {
        client.under_way()
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.machine.connection().into_iter()
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
        match output {
            Output::Dial(replica) => {
                let connection = world.connect(client, replica);
                world.client_input(client, Input::Dialled(connection));
            }
            Output::Send(connection, message) => world.send_request(connection, message),
            Output::HangUp(connection) => world.hang_up(connection),
            Output::Answered(call, result) => {
                let state = &mut world.host.clients[client.0 as usize].state;
                if let Some(caller) = state.callers.remove(&call) {
                    caller.complete(result);
                }
            }
            Output::Session(state) => world.session_is(client, state),
        }
    }

    fn reply_arrives(
        world: &mut World<Self>,
        _client: ClientId,
        (connection, heard): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        let number = message.call;
        let request = RequestId { connection, number };
        match heard && world.watches_requests() {
            true => world.answer_arrives(|answered| answered == request),
            false => None,
        }
    }
}
