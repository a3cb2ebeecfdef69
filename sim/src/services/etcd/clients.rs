//! Clients of members: which contender has asked what, and which wait for it.

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, Knowledge};
use picklock_clients::RequestKind;
use picklock_clients::completion::Completion;
use picklock_clients::etcd::{
    Answered, ClientBody, ClientMessage, EtcdError, EtcdResult, KeepAliveListener, LeaseId,
    Response, ServerBody, ServerMessage, WatchListener, WatchRequest, rpctypes,
};
use picklock_etcd::client::{CallId, Client, ClientSettings, Input, Output, WatchEnd, WatchKey};
use picklock_machines::Chance;

use super::SimulatedEtcd;
use crate::event::ClientId;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::process::ProcessId;
use crate::world::moment::{Moment, MomentKind};
use crate::world::{Arrival, ClientSide, HostedClient, World};

/// The end of a caller that waits for an answer.
pub(super) type Caller = Completion<EtcdResult<Answered<Response>>>;

/// What is kept of a client beside its machine.
#[derive(Default)]
pub(crate) struct ClientState {
    connections: Vec<ConnectionId>,
    /// The numbers of calls and watches so far.
    pub(super) numbers: u32,
    pub(super) callers: BTreeMap<CallId, Caller>,
    pub(super) watches: BTreeMap<WatchKey, WatchListener>,
    pub(super) leases: BTreeMap<LeaseId, KeepAliveListener>,
    /// What was sent and has no answer yet; kept only if faults may ask.
    sent: Vec<(RequestId, RequestKind)>,
}

/// The kind of request that a message is one of, if it is one.
fn kind_of(body: &ClientBody) -> Option<RequestKind> {
    match body {
        ClientBody::Unary(request) => Some(request.kind()),
        ClientBody::Watch(WatchRequest::Create(_)) => Some(RequestKind::WatchCreate),
        ClientBody::LeaseKeepAlive(_) => Some(RequestKind::LeaseKeepAlive),
        ClientBody::Watch(WatchRequest::Cancel(_) | WatchRequest::Progress)
        | ClientBody::Cancel => None,
    }
}

/// Whether it is events of a watch.
pub(super) fn is_notification(message: &ServerMessage) -> bool {
    matches!(&message.body, ServerBody::Watch(watch) if !watch.events.is_empty())
}

impl World<SimulatedEtcd> {
    /// The contender whose client has a connection.
    pub(super) fn asker(&self, connection: ConnectionId) -> ContenderId {
        self.host.clients[self.client_of(connection).0 as usize].by
    }

    /// The connection that a contender's client has to a member that it has asked last.
    pub(super) fn last_connection(&self, by: ContenderId) -> Option<ConnectionId> {
        let client = self.contenders.get(by.0 as usize)?.client?;
        let slot = &self.host.clients[client.0 as usize];
        slot.machine.last_connection()
    }

    fn send_request(&mut self, connection: ConnectionId, message: ClientMessage) {
        if self.watches_requests()
            && let Some(kind) = kind_of(&message.body)
        {
            let number = message.call;
            let request = RequestId { connection, number };
            let client = self.client_of(connection).0 as usize;
            self.host.clients[client].state.sent.push((request, kind));
            let by = self.asker(connection).0;
            self.moment(Moment::new(by, MomentKind::Sent(kind)).about(request));
        }
        self.send_to_server(connection, message);
    }

    /// What was asked by a call that is not answered yet.
    pub(super) fn kind_sent(&self, request: RequestId) -> Option<RequestKind> {
        let client = self.client_of(request.connection).0 as usize;
        let sent = &self.host.clients[client].state.sent;
        let found = sent.iter().find(|(known, _)| *known == request);
        found.map(|(_, kind)| *kind)
    }

    /// The same, which is answered now.
    pub(super) fn kind_answered(&mut self, request: RequestId) -> Option<RequestKind> {
        let client = self.client_of(request.connection).0 as usize;
        let sent = &mut self.host.clients[client].state.sent;
        let place = sent.iter().position(|(known, _)| *known == request)?;
        Some(sent.remove(place).1)
    }

    /// Forgets the connections of a client that it does not have any more.
    fn drop_closed(&mut self, client: usize) {
        let state = &mut self.host.clients[client].state;
        let connections = &self.connections;
        state
            .connections
            .retain(|connection| connections.get(*connection).open_at_client);
    }
}

impl ClientSide for SimulatedEtcd {
    fn new_client(world: &mut World<Self>) -> Client {
        let members = world.service.settings.servers;
        let first = world.tape.choose(u32::from(members)) as u8;
        let endpoints = (0..members).map(|place| ServerId((first + place) % members));
        Client::new(ClientSettings {
            endpoints: endpoints.collect(),
            dial_timeout: None,
            require_leader: false,
        })
    }

    fn client_added(world: &mut World<Self>, client: ClientId) {
        world.client_input(client, Input::Wake);
    }

    fn client_died(world: &mut World<Self>, client: ClientId) {
        world.host.clients[client.0 as usize].state = ClientState::default();
    }

    /// A contender that waits for a lock at a member does not ask: the member answers when it has it.
    fn requests_in_flight(client: &Client) -> usize {
        client.calls_under_way()
    }

    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId> {
        slot.state.connections.iter().copied()
    }

    fn client_input(
        (connection, member): (ConnectionId, ServerId),
        arrival: Arrival<ServerMessage>,
    ) -> Input {
        match arrival {
            Arrival::Opened => Input::Opened(connection, member),
            Arrival::Closed { was_opened: true } => Input::Broken(connection, member),
            Arrival::Closed { was_opened: false } => Input::Refused(member),
            Arrival::Message(message) => Input::Received(connection, message),
        }
    }

    fn on_client_output(world: &mut World<Self>, client: ClientId, output: Output) {
        let index = client.0 as usize;
        match output {
            Output::Connect(member) => {
                let connection = world.connect(client, member);
                world.drop_closed(index);
                world.host.clients[index].state.connections.push(connection);
            }
            Output::Send(connection, message) => world.send_request(connection, message),
            Output::Answered(call, result) => {
                let state = &mut world.host.clients[index].state;
                if let Some(caller) = state.callers.remove(&call) {
                    let result = result.map(|(header, response)| Answered { header, response });
                    caller.complete(result.map_err(EtcdError::Status));
                }
            }
            Output::KeptAlive(..) => {}
            Output::LeaseLost(lease) => {
                if let Some(listener) = world.host.clients[index].state.leases.remove(&lease) {
                    listener.end();
                    let by = world.host.clients[index].by;
                    world.could_know_from_now(by, Knowledge::SessionLost);
                }
            }
            Output::Told(watch, response) => {
                if let Some(listener) = world.host.clients[index].state.watches.get(&watch) {
                    listener.deliver(response.events);
                }
            }
            Output::WatchEnded(watch, end) => {
                let why = match end {
                    WatchEnd::Compacted(revision) => EtcdError::Compacted(revision),
                    WatchEnd::Canceled(_) => EtcdError::Status(rpctypes::LEADER_CHANGED),
                    WatchEnd::Failed(status) => EtcdError::Status(status),
                };
                if let Some(listener) = world.host.clients[index].state.watches.remove(&watch) {
                    listener.end(why);
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
        let process = world.host.clients[client.0 as usize].process;
        if is_notification(message) {
            match heard {
                true => world.notification_delivered(process, client),
                false => world.notification_lost(process),
            }
        }
        let number = message.call;
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
        if is_notification(message) {
            world.notification_lost(process);
        }
    }
}
