//! What happens at an ensemble and at no other service.

use picklock_checker::VirtualTime;
use picklock_zookeeper::quorum_messages::PeerMessage;

use crate::event::ClientId;
use crate::event::ServiceEvent;
use crate::network::ServerId;

/// Something that is going to happen at an ensemble.
pub(crate) enum ZooKeeperEvent {
    /// A client asks a server `isro`, over a connection of its own.
    IsroProbe { client: ClientId, server: ServerId },
    /// The answer is `rw`.
    IsroReply { client: ClientId, server: ServerId },
    /// A message between servers arrives.
    Peer {
        from: ServerId,
        to: ServerId,
        /// How often its sender had died before it sent it.
        life: u32,
        /// When it left, unless its sender had died by then.
        departed: VirtualTime,
        message: PeerMessage,
    },
    /// A server learns that another is gone.
    PeerLost { server: ServerId, peer: ServerId },
}

impl ServiceEvent for ZooKeeperEvent {
    #[inline]
    fn kind_and_subject(&self) -> (u64, u32) {
        match self {
            Self::Peer { from, to, .. } => (7, u32::from(from.0) << 8 | u32::from(to.0)),
            Self::PeerLost { server, peer } => (8, u32::from(server.0) << 8 | u32::from(peer.0)),
            Self::IsroProbe { client, .. } => (42, client.0),
            Self::IsroReply { client, .. } => (43, client.0),
        }
    }
}
