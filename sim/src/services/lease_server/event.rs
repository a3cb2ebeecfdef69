//! What happens between the lease server and its clients.

use picklock_clients::lease_server::{Claim, Reply};

use crate::event::ServiceEvent;
use crate::network::RequestId;

/// Something that is going to happen at the lease server.
pub(crate) enum LeaseServerEvent {
    /// A claim reaches the server.
    ToServer { request: RequestId, claim: Claim },
    /// The answer to it reaches its client.
    ToClient { request: RequestId, reply: Reply },
    /// The server wanted to look at the clock.
    ServerWake,
}

impl ServiceEvent for LeaseServerEvent {
    fn kind_and_subject(&self) -> (u64, u32) {
        match self {
            Self::ToServer { request, .. } => (45, request.connection.0),
            Self::ToClient { request, .. } => (46, request.connection.0),
            Self::ServerWake => (47, 0),
        }
    }
}
