//! What happens to a server, and what it wants done.

use std::fmt;
use std::rc::Rc;

use picklock_clients::consul::{
    ClientMessage, ConsulResult, KvPair, Request, Response, ServerMessage, SessionId,
};
use picklock_machines::{ConnectionId, ServerId};

use crate::log::{CallId, Entry};
use crate::raft::RaftMessage;

/// What happens to a server.
#[derive(Clone, Debug)]
pub enum Input {
    /// A call of a client.
    Client(ConnectionId, ClientMessage),
    /// A connection of a client is gone.
    ClientGone(ConnectionId),
    /// A message of another server.
    Peer(ServerId, PeerMessage),
    /// The process of another server is gone, and the connections to it.
    PeerLost(ServerId),
    /// The process has started again: its log was on its disk.
    Restart,
    /// It is time to look at the clock.
    Wake,
}

/// What a server wants done, or has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message for a client.
    ToClient(ConnectionId, ServerMessage),
    /// A message for another server.
    ToPeer(ServerId, PeerMessage),
    /// A leader has applied an entry.
    Committed(Commit),
    /// The server leads, in this term.
    BecameLeader(u64),
    /// It leads no longer.
    SteppedDown,
}

/// An entry that a leader has applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its place in the log.
    pub index: u64,
    /// The entry.
    pub entry: Entry,
    /// The keys that it has changed, as they are now.
    pub changes: Vec<(Rc<str>, Option<KvPair>)>,
    /// The session that it has ended.
    pub ended: Option<SessionId>,
}

/// What servers say to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// Of raft.
    Raft(RaftMessage),
    /// A call of a client, for the leader.
    Forward(CallId, Request),
    /// Its answer.
    Answer(CallId, ConsulResult<Response>),
}

impl PeerMessage {
    /// Whether it says no more than that its sender is there.
    pub fn is_sign_of_life(&self) -> bool {
        match self {
            Self::Raft(message) => message.is_sign_of_life(),
            Self::Forward(..) | Self::Answer(..) => false,
        }
    }
}

impl fmt::Display for PeerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raft(message) => message.fmt(out),
            Self::Forward(_, request) => write!(out, "forwarded: {request}"),
            Self::Answer(_, Ok(response)) => response.fmt(out),
            Self::Answer(_, Err(error)) => error.fmt(out),
        }
    }
}
