//! The sizes of messages on the wire.

use picklock_clients::zookeeper::{ERROR_REPLY_BYTES, Response};
use picklock_zookeeper::messages::{ServerMessage, notification_bytes};

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
        | Response::ChildrenWithStat { .. }
        | Response::AllChildrenNumber(_)
        | Response::ClientInfo(_)
        | Response::Synced
        | Response::Watching
        | Response::Ephemerals(_)
        | Response::Acl { .. }
        | Response::MultiFailed(_)
        | Response::MultiRead(_)
        | Response::Closed => false,
    }
}
