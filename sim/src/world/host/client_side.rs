//! What a service does for its clients.

use picklock_checker::VirtualTime;

use super::event::HostEvent;
use super::machines::HostedClient;
use super::types::{ClientInput, ClientOutput, ServiceTypes};
use crate::event::ClientId;
use crate::network::{ConnectionId, ServerId};
use crate::process::ProcessId;
use crate::world::World;
use crate::world::moment::Moment;

/// What comes to a client by a connection.
pub(crate) enum Arrival<R> {
    /// The connection is open.
    Opened,
    /// There is no connection, or no longer.
    Closed { was_opened: bool },
    /// A message of the server.
    Message(R),
}

/// What a service does for its clients.
pub(crate) trait ClientSide: ServiceTypes {
    /// The machine of a new client.
    fn new_client(world: &mut World<Self>) -> Self::Client;

    /// A client was added.
    fn client_added(_world: &mut World<Self>, _client: ClientId) {}

    /// The clients of a process that has died die with it: what the service has of this one goes.
    fn client_died(_world: &mut World<Self>, _client: ClientId) {}

    /// Whether nothing will ever come of a client any more.
    fn is_over(_client: &Self::Client) -> bool {
        false
    }

    /// How many requests of a client have no answer yet.
    fn requests_in_flight(client: &Self::Client) -> usize;

    /// The connections that a client has, or is making.
    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId>;

    /// Whether a connection is one of these.
    fn uses(slot: &HostedClient<Self>, connection: ConnectionId) -> bool {
        Self::connections(slot).any(|other| other == connection)
    }

    /// Whether a client wants to know that this connection is gone.
    fn reads_reset(_slot: &HostedClient<Self>, _connection: ConnectionId) -> bool {
        true
    }

    /// The input of a client for something that comes by a connection to a server.
    fn client_input(
        by: (ConnectionId, ServerId),
        arrival: Arrival<Self::Reply>,
    ) -> ClientInput<Self>;

    /// Does what a client wants done.
    fn on_client_output(world: &mut World<Self>, client: ClientId, output: ClientOutput<Self>);

    /// A message has come to a client by a connection, and is read, or not. Answers the moment of an answer that
    /// faults may wait for.
    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        by: (ConnectionId, bool),
        message: &Self::Reply,
    ) -> Option<Moment>;

    /// A message has come to a process that is dead.
    fn reply_died(_: &mut World<Self>, _: ProcessId, _: ConnectionId, _message: &Self::Reply) {}

    /// Whether the kernel of a client gives up what it sends now, and would arrive at a time.
    fn gives_up_request(_: &mut World<Self>, _: ConnectionId, _at: VirtualTime) -> bool {
        false
    }

    /// Answers an event that comes to a client if the client reads it now.
    fn reads(
        _world: &mut World<Self>,
        _client: ClientId,
        event: HostEvent<Self>,
    ) -> Option<HostEvent<Self>> {
        Some(event)
    }
}
