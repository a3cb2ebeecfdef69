//! Clients with their agents: which contender has asked what, and which wait for it.

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, Knowledge};
use picklock_clients::RequestKind;
use picklock_clients::completion::Completion;
use picklock_clients::consul::{ClientMessage, ConsulResult, Response, ServerMessage};
use picklock_consul::ClientSettings;
use picklock_consul::client::{Client, Input, Output};
use picklock_machines::Chance;

use super::SimulatedConsul;
use crate::event::ClientId;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::process::ProcessId;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{Arrival, ClientSide, HostedClient, NO_CONTENDER, World};

/// What is kept of a client beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    connections: Vec<ConnectionId>,
    /// The number of calls so far.
    pub(super) calls: u32,
    pub(super) callers: BTreeMap<u32, Completion<ConsulResult<Response>>>,
}

impl World<SimulatedConsul> {
    /// The contender whose client has a connection.
    pub(super) fn asker(&self, connection: ConnectionId) -> ContenderId {
        self.host.clients[self.client_of(connection).0 as usize].by
    }

    /// The kind of a call that has no answer yet.
    pub(super) fn kind_of(&self, request: RequestId) -> Option<RequestKind> {
        let client = self.client_of(request.connection).0 as usize;
        let slot = &self.host.clients[client];
        let request = slot.alive.then(|| slot.machine.call(request.number))?;
        request.map(|request| request.kind())
    }

    /// A contender's session has its whole time to live from now on, by the contender's own clock.
    pub(super) fn session_renewed(&mut self, by: ContenderId) {
        self.note_expiry_by_own_clock(by);
        self.is_connected(by, true);
        self.is_connected(by, false);
    }

    /// An answer has come to a contender: what it says of its session, and of the key that it holds.
    fn learns(&mut self, by: ContenderId, message: &ServerMessage) {
        match &message.result {
            Ok(Response::Renewed(Some(_))) => self.session_renewed(by),
            Ok(Response::Renewed(None)) if self.believes_without_owning(by) => {
                self.could_know_from_now(by, Knowledge::SessionLost);
            }
            // The monitor sees another session, or none.
            Ok(Response::Pairs(..)) if message.ends_wait && self.believes_without_owning(by) => {
                self.could_know_from_now(by, Knowledge::NodeGone);
            }
            _ => {}
        }
    }
}

impl ClientSide for SimulatedConsul {
    fn new_client(world: &mut World<Self>) -> Client {
        let settings = &world.service.settings;
        let (count, rpc_client_timeout) = (settings.servers, settings.rpc_client_timeout);
        let first = world.tape.choose(u32::from(count)) as u8;
        let servers = (0..count).map(|place| ServerId((first + place) % count));
        Client::new(ClientSettings {
            servers: servers.collect(),
            rpc_client_timeout,
        })
    }

    fn client_died(world: &mut World<Self>, client: ClientId) {
        world.host.clients[client.0 as usize].state = ClientState::default();
    }

    /// A contender that waits for a change has a request in flight, a blocking query.
    fn requests_in_flight(client: &Client) -> usize {
        client.calls_under_way()
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.state.connections.iter().copied()
    }

    fn client_input(
        (connection, server): (ConnectionId, ServerId),
        arrival: Arrival<ServerMessage>,
    ) -> Input {
        match arrival {
            Arrival::Opened => Input::Opened(connection, server),
            Arrival::Closed { was_opened: true } => Input::Broken(connection),
            Arrival::Closed { was_opened: false } => Input::Refused(server),
            Arrival::Message(message) => Input::Received(connection, message),
        }
    }

    fn on_client_output(world: &mut World<Self>, client: ClientId, output: Output) {
        let index = client.0 as usize;
        match output {
            Output::Connect(server) => {
                let connection = world.connect(client, server);
                let known = &world.connections;
                let state = &mut world.host.clients[index].state;
                state
                    .connections
                    .retain(|held| known.get(*held).open_at_client);
                state.connections.push(connection);
            }
            Output::Send(connection, message) => world.send_call(connection, message),
            Output::HangUp(connection) => world.hang_up(connection),
            Output::Answered(call, result) => {
                let state = &mut world.host.clients[index].state;
                if let Some(caller) = state.callers.remove(&call) {
                    caller.complete(result);
                }
            }
        }
    }

    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        (connection, heard): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        let slot = &world.host.clients[client.0 as usize];
        let (process, by) = (slot.process, slot.by);
        if message.ends_wait {
            match heard {
                true => world.notification_delivered(process, client),
                false => world.notification_lost(process),
            }
        }
        if heard && by != NO_CONTENDER {
            world.learns(by, message);
        }
        let number = message.number;
        let request = RequestId { connection, number };
        match heard && world.watches_requests() {
            true => world.answer_arrives(|answered| answered == request),
            false => None,
        }
    }

    fn reply_died(
        world: &mut World<Self>,
        process: ProcessId,
        _: ConnectionId,
        message: &ServerMessage,
    ) {
        if message.ends_wait {
            world.notification_lost(process);
        }
    }
}

impl World<SimulatedConsul> {
    fn send_call(&mut self, connection: ConnectionId, message: ClientMessage) {
        if self.watches_requests() {
            let number = message.number;
            let request = RequestId { connection, number };
            let (by, kind) = (self.asker(connection).0, message.request.kind());
            self.moment(Moment::new(by, MomentKind::Sent(kind)).about(request));
        }
        self.send_to_server(connection, message);
    }
}
