//! What happens between Redis and its clients and at no other service.

use picklock_clients::redis::{Command, Value};
use picklock_redis::sentinel::CallId;
use picklock_redis::{BusMessage, LinkId, PeerMessage};

use crate::event::ServiceEvent;
use crate::network::{ConnectionId, ServerId};

/// Something that happens between Redis and its clients.
pub enum RedisEvent {
    /// The kernel of a client gives up a connection on which nothing is acknowledged.
    ConnectionGivenUp { connection: ConnectionId },
    /// The lock's key may have expired at a server.
    LeaseEnds { server: ServerId },
    /// A replica knocks at its primary.
    ReplicaConnectRequest { link: LinkId },
    /// A replica learns whether its link stands.
    LinkEstablished { link: LinkId, up: bool },
    /// A message of another server arrives.
    ToPeer {
        to: ServerId,
        link: LinkId,
        message: Box<PeerMessage>,
    },
    /// A message of another node of the cluster arrives.
    ToNode {
        to: ServerId,
        message: Box<BusMessage>,
    },
    /// A server learns that a link is gone.
    LinkClosed { server: ServerId, link: LinkId },
    /// A primary that was replaced is told so.
    Demote { server: ServerId },
    /// The operator that moves a slot takes the next step.
    SlotMoves { fault: usize },
    /// Something happens on a call of a Sentinel.
    Sentinel(Box<SentinelEvent>),
}

/// A call of a Sentinel, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub by: ServerId,
    pub id: CallId,
}

/// Something that happens on a call of a Sentinel.
pub enum SentinelEvent {
    /// A Sentinel wanted to look at the clock.
    Wake { sentinel: ServerId },
    /// It requests a connection to a server or a Sentinel.
    ConnectRequest { call: Call, at: ServerId },
    /// A command of it arrives.
    Asked {
        call: Call,
        at: ServerId,
        command: Command,
    },
    /// The other end learns that it has closed a call.
    HungUp { call: Call, at: ServerId },
    /// An answer arrives, or a message of a subscription.
    Answered { call: Call, value: Value },
    /// It learns that a call could not be made, or is gone.
    Closed { call: Call },
}

impl SentinelEvent {
    /// The machine that it comes to.
    pub fn recipient(&self) -> ServerId {
        match self {
            Self::Wake { sentinel: to }
            | Self::ConnectRequest { at: to, .. }
            | Self::Asked { at: to, .. }
            | Self::HungUp { at: to, .. } => *to,
            Self::Answered { call, .. } | Self::Closed { call } => call.by,
        }
    }

    fn kind(&self) -> u64 {
        match self {
            Self::Wake { .. } => 35,
            Self::ConnectRequest { .. } => 36,
            Self::Asked { .. } => 37,
            Self::HungUp { .. } => 38,
            Self::Answered { .. } => 39,
            Self::Closed { .. } => 40,
        }
    }
}

impl ServiceEvent for RedisEvent {
    fn kind_and_subject(&self) -> (u64, u32) {
        match self {
            Self::LeaseEnds { server } => (28, u32::from(server.0)),
            Self::ReplicaConnectRequest { link } => (30, link.0),
            Self::LinkEstablished { link, .. } => (31, link.0),
            Self::ToPeer { to, .. } => (32, u32::from(to.0)),
            Self::LinkClosed { server, .. } => (33, u32::from(server.0)),
            Self::Demote { server } => (34, u32::from(server.0)),
            Self::SlotMoves { fault } => (44, *fault as u32),
            Self::ConnectionGivenUp { connection } => (51, connection.0),
            Self::ToNode { to, .. } => (41, u32::from(to.0)),
            Self::Sentinel(event) => (event.kind(), u32::from(event.recipient().0)),
        }
    }
}
