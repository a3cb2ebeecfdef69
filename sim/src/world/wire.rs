//! What messages weigh on the wire, and by which link they go.

use picklock_algorithms::clients::zookeeper::{ERROR_REPLY_BYTES, Response};

use crate::zookeeper::messages::{ServerId, ServerMessage, notification_bytes};

/// Links between servers have the numbers below this.
const OF_SERVERS: u32 = 64;

/// The number of the link from one server to another.
pub(super) fn between_servers(from: ServerId, to: ServerId) -> u32 {
    (u32::from(from.0) * 8 + u32::from(to.0)) % OF_SERVERS
}

/// The number of the link from a client to its server.
pub(super) fn to_server(client: u32) -> u32 {
    OF_SERVERS + client * 2
}

/// The number of the link from a server to its client.
pub(super) fn to_client(client: u32) -> u32 {
    OF_SERVERS + client * 2 + 1
}

/// The length of what a server says, on the wire; keep-alives and greetings do not count.
pub(super) fn bytes_of(message: &ServerMessage) -> u64 {
    match message {
        ServerMessage::Reply {
            reply: Ok(response),
            ..
        } => response.wire_bytes(),
        ServerMessage::Reply { reply: Err(_), .. } => ERROR_REPLY_BYTES,
        ServerMessage::Notification { path, .. } => notification_bytes(path),
        ServerMessage::Connected { .. }
        | ServerMessage::Expired
        | ServerMessage::Authenticated
        | ServerMessage::AuthFailed
        | ServerMessage::Pong
        | ServerMessage::WatchesSet { .. } => 0,
    }
}

/// Whether an answer is that to a write.
pub(super) fn answers_write(response: &Response) -> bool {
    match response {
        Response::Created { .. } | Response::Deleted | Response::Set(_) | Response::Multi(_) => {
            true
        }
        Response::Exists(_)
        | Response::Data { .. }
        | Response::Children(_)
        | Response::Synced
        | Response::Watching
        | Response::Ephemerals(_)
        | Response::Acl { .. }
        | Response::MultiFailed(_)
        | Response::Closed => false,
    }
}
