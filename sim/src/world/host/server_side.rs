//! What a service does for its servers.

use picklock_checker::VirtualTime;

use super::event::HostEvent;
use super::server_process::ServerProcess;
use super::types::{ServerInput, ServerOutput, ServiceTypes};
use crate::network::{ConnectionId, ServerId};
use crate::world::{MessageFate, World};

/// What a service does for its servers.
pub(crate) trait ServerSide: ServiceTypes {
    /// Lets a server handle an input, and does what has to be done before its outputs.
    fn handle(world: &mut World<Self>, server: ServerId, input: ServerInput<Self>);

    /// Does what a server wants done.
    fn on_server_output(world: &mut World<Self>, server: ServerId, output: ServerOutput<Self>);

    /// The process of a server, or of another machine that has the number of one.
    fn process(world: &mut World<Self>, server: ServerId) -> &mut ServerProcess<HostEvent<Self>> {
        &mut world.host.servers[usize::from(server.0)].process
    }

    /// Whether a request for a connection is kept waiting: it is looked at again when the server is back.
    fn keeps_waiting(_world: &mut World<Self>, _connection: ConnectionId) -> bool {
        false
    }

    /// Whether a server takes connections.
    fn accepts(world: &mut World<Self>, server: ServerId) -> bool {
        Self::process(world, server).is_up()
    }

    /// A server has taken a connection.
    fn accepted(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}

    /// A server refuses a connection.
    fn refuses(_world: &mut World<Self>, _connection: ConnectionId) {}

    /// A server learns that a connection of a client is gone.
    fn client_gone(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}

    /// A request has come to a server that runs.
    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: Self::Request,
    );

    /// What becomes of a message that a server sends by a connection, perhaps because of its own client:
    /// [`MessageFate::Swallowed`] leaves the connection alone.
    fn fate_of_reply(
        world: &mut World<Self>,
        server: ServerId,
        by: (ConnectionId, bool),
        message: &Self::Reply,
    ) -> Option<MessageFate>;

    /// When a message of a server sets out: it is busy until then.
    fn reply_departs(
        world: &mut World<Self>,
        _server: ServerId,
        _connection: ConnectionId,
        _message: &Self::Reply,
    ) -> VirtualTime {
        world.now
    }

    /// A server has something to say by a connection that is gone.
    fn cannot_reply(_: &mut World<Self>, _connection: ConnectionId, _message: &Self::Reply) {}

    /// Whether the kernel of a server gives up what sets out, and would arrive, at these times.
    fn gives_up_reply(
        _: &mut World<Self>,
        _: ConnectionId,
        _departs_and_at: (VirtualTime, VirtualTime),
    ) -> bool {
        false
    }

    /// Something of a client has come to a machine that is down.
    fn undelivered(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}

    /// The process of a server has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId);

    /// A dead server has come back, with what was safe on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId);
}
