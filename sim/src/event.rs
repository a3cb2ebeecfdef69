//! What the timeline holds: everything that can happen next.

use picklock_algorithms::clients::completion::Completion;
use picklock_algorithms::clients::redis::{Command, Value};
use picklock_checker::VirtualTime;
use picklock_redis::sentinel::CallId;
use picklock_redis::{BusMessage, LinkId, PeerMessage as RedisPeerMessage};

use crate::process::ProcessId;
use crate::resource::Write;
use crate::zookeeper::messages::{ClientMessage, ConnectionId, ServerId, ServerMessage, Xid};
use crate::zookeeper::quorum_messages::PeerMessage;

/// A client handle, by its place in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// Something that is going to happen.
#[derive(Default)]
pub enum Event {
    /// A message of a client reaches a server.
    ToServer {
        connection: ConnectionId,
        message: ClientMessage,
    },
    /// A message of a server reaches a client.
    ToClient {
        connection: ConnectionId,
        message: ServerMessage,
    },
    /// A client asks a server for a connection.
    ConnectRequest { connection: ConnectionId },
    /// A client learns that its connection is open.
    ConnectionOpened { connection: ConnectionId },
    /// A client learns that there is no connection, or no longer.
    ConnectionReset { connection: ConnectionId },
    /// A server learns that a client has closed a connection.
    ClientClosed { connection: ConnectionId },
    /// A client asks a server `isro`, over a connection of its own.
    IsroProbe { client: ClientId, server: ServerId },
    /// The answer is `rw`.
    IsroReply { client: ClientId, server: ServerId },
    /// Something happens between Redis and its clients.
    Redis(RedisEvent),
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
    /// A server wanted to look at the clock.
    ServerWake { server: ServerId },
    /// A client wanted to look at the clock.
    ClientWake { client: ClientId },
    /// A task has slept enough.
    Timer {
        process: ProcessId,
        done: Completion<()>,
    },
    /// A task of a process has slept enough, if its clock has kept its pace since.
    Alarm { process: ProcessId },
    /// A request reaches the resource.
    Resource {
        process: ProcessId,
        request: ResourceRequest,
        answer: Completion<i64>,
    },
    /// An answer of the resource reaches its client.
    Answer {
        process: ProcessId,
        value: i64,
        answer: Completion<i64>,
    },
    /// A fault strikes, some time after its trigger.
    Strike {
        fault: usize,
        request: Option<(ConnectionId, Xid)>,
    },
    /// A fault is over.
    Heal { fault: usize },
    /// Nothing happens, but whoever waits until nothing is under way looks whether that is so.
    #[default]
    QuiescenceCheck,
    /// The storm has lasted long enough.
    StormEnds,
    /// A fault is over; if it was the last, so is the storm.
    StormMayEnd,
    /// The calm has lasted long enough.
    BoundReached,
    /// What was left behind has had time to go.
    Drained,
}

/// Something that happens between Redis and its clients.
pub enum RedisEvent {
    /// A command reaches a server.
    ToServer {
        connection: ConnectionId,
        command: Command,
    },
    /// An answer or a message reaches a client.
    ToClient {
        connection: ConnectionId,
        value: Value,
    },
    /// A client asks a server for a connection.
    ConnectRequest { connection: ConnectionId },
    /// A client learns that its connection is open.
    ConnectionOpened { connection: ConnectionId },
    /// A client learns that there is no connection, or no longer.
    ConnectionReset { connection: ConnectionId },
    /// A server learns that a client has closed a connection.
    ClientClosed { connection: ConnectionId },
    /// A server wanted to look at the clock.
    ServerWake { server: ServerId },
    /// A client wanted to look at the clock.
    ClientWake { client: ClientId },
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
        message: Box<RedisPeerMessage>,
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
    /// Whoever moves a slot does the next thing about it.
    SlotMoves { fault: usize },
    /// Something happens between a Sentinel and whom it asks.
    Sentinel(Box<SentinelEvent>),
}

/// A call of a Sentinel, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub by: ServerId,
    pub id: CallId,
}

/// Something that happens between a Sentinel and whom it asks.
pub enum SentinelEvent {
    /// A Sentinel wanted to look at the clock.
    Wake { sentinel: ServerId },
    /// It knocks at somebody.
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
    /// Whose machine it comes to.
    pub fn whom(&self) -> ServerId {
        match self {
            Self::Wake { sentinel: whom }
            | Self::ConnectRequest { at: whom, .. }
            | Self::Asked { at: whom, .. }
            | Self::HungUp { at: whom, .. } => *whom,
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

impl RedisEvent {
    fn kind_and_whom(&self) -> (u64, u32) {
        match self {
            Self::ToServer { connection, .. } => (20, connection.0),
            Self::ToClient { connection, .. } => (21, connection.0),
            Self::ConnectRequest { connection } => (22, connection.0),
            Self::ConnectionOpened { connection } => (23, connection.0),
            Self::ConnectionReset { connection } => (24, connection.0),
            Self::ClientClosed { connection } => (25, connection.0),
            Self::ServerWake { server } => (26, u32::from(server.0)),
            Self::ClientWake { client } => (27, client.0),
            Self::LeaseEnds { server } => (28, u32::from(server.0)),
            Self::ReplicaConnectRequest { link } => (30, link.0),
            Self::LinkEstablished { link, .. } => (31, link.0),
            Self::ToPeer { to, .. } => (32, u32::from(to.0)),
            Self::LinkClosed { server, .. } => (33, u32::from(server.0)),
            Self::Demote { server } => (34, u32::from(server.0)),
            Self::SlotMoves { fault } => (44, *fault as u32),
            Self::ToNode { to, .. } => (41, u32::from(to.0)),
            Self::Sentinel(event) => (event.kind(), u32::from(event.whom().0)),
        }
    }
}

/// What a client asks of the resource. The answer is the value read, or 1 for a write that was taken and 0 for one
/// that was refused.
#[derive(Clone, Copy, Debug)]
pub enum ResourceRequest {
    /// The value.
    Read,
    /// A write.
    Write(Write),
}

impl Event {
    /// The kind of event and whom it is about, as a word for the rolling hash.
    #[inline]
    pub fn word(&self) -> u64 {
        let (kind, whom) = match self {
            Self::ToServer { connection, .. } => (1, connection.0),
            Self::ToClient { connection, .. } => (2, connection.0),
            Self::ConnectRequest { connection } => (3, connection.0),
            Self::ConnectionOpened { connection } => (4, connection.0),
            Self::ConnectionReset { connection } => (5, connection.0),
            Self::ClientClosed { connection } => (6, connection.0),
            Self::Peer { from, to, .. } => (7, u32::from(from.0) << 8 | u32::from(to.0)),
            Self::PeerLost { server, peer } => (8, u32::from(server.0) << 8 | u32::from(peer.0)),
            Self::ServerWake { server } => (9, u32::from(server.0)),
            Self::ClientWake { client } => (10, client.0),
            Self::Timer { process, .. } | Self::Alarm { process } => (11, process.0),
            Self::Resource { process, .. } => (12, process.0),
            Self::Answer { process, .. } => (13, process.0),
            Self::Strike { fault, .. } => (14, *fault as u32),
            Self::Heal { fault } => (15, *fault as u32),
            Self::StormEnds => (16, 0),
            Self::BoundReached => (17, 0),
            Self::Drained => (18, 0),
            Self::StormMayEnd => (19, 0),
            Self::QuiescenceCheck => (29, 0),
            Self::IsroProbe { client, .. } => (42, client.0),
            Self::IsroReply { client, .. } => (43, client.0),
            Self::Redis(event) => event.kind_and_whom(),
        };
        kind << 32 | u64::from(whom)
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "event {:x}", self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_and_what_comes_after_it_are_one_line_of_the_cache() {
        assert!(size_of::<Event>() <= 56);
    }
}
