//! What goes into a member and what comes out of it.

use std::fmt;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, ConnectionId, ServerId};

use crate::ids::LookupId;
use crate::lookup::{LookupAnswer, LookupKind};
use crate::raft::{Proposal, RaftMessage};
use crate::rpc::{ClientMessage, Event, LeaseId, ServerBody, ServerMessage};

/// A message between members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// Of raft.
    Raft(RaftMessage),
    /// A member that does not lead asks the lessor of the leader.
    Lease(LookupId, LookupKind, LeaseId),
    /// Its answer.
    LeaseAnswer(LookupId, LookupAnswer),
}

impl PeerMessage {
    /// Whether it says no more than that its sender is there.
    pub fn is_sign_of_life(&self) -> bool {
        matches!(self, Self::Raft(message) if message.is_heartbeat())
    }
}

/// What happens to a member.
#[derive(Clone, Debug)]
pub enum Input {
    /// The process starts again: what was in memory alone is gone.
    Restart,
    /// A message from a client.
    Client(ConnectionId, ClientMessage),
    /// A connection is gone.
    ClientGone(ConnectionId),
    /// A message from another member.
    Peer(ServerId, PeerMessage),
    /// The process of another member is gone, and the connections to it.
    PeerLost(ServerId),
    /// The raft loop hangs (in a write of its log, say), while the rest of the process goes on.
    RaftStalls,
    /// It goes on.
    RaftGoesOn,
    /// It is time to look at the clock.
    Wake,
}

/// An entry of the log that a leader has applied. A new leader reports what it had not applied, which the one before
/// may have reported already: the place in the log tells.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Its place in the log.
    pub index: usize,
    /// What was proposed.
    pub proposal: Rc<Proposal>,
    /// Whether it was done, and not refused.
    pub is_done: bool,
    /// What it has changed, in order.
    pub events: Vec<Event>,
}

/// What a member wants done, or has done.
#[derive(Clone, Debug)]
pub enum Output {
    /// A message to a client.
    ToClient(ConnectionId, ServerMessage),
    /// A message to another member.
    ToPeer(ServerId, PeerMessage),
    /// A leader has applied an entry of the log, of which all know that it is committed.
    Committed(Commit),
    /// This member leads from this term on.
    BecameLeader(u64),
    /// It does not any more.
    SteppedDown,
}

/// What is at hand while an input is handled.
pub(crate) struct Turn<'a> {
    pub(crate) now: VirtualTime,
    pub(crate) chance: &'a mut dyn Chance,
    pub(crate) out: &'a mut Vec<Output>,
}

impl Turn<'_> {
    pub(crate) fn tell_client(
        &mut self,
        (connection, call): (ConnectionId, u32),
        body: ServerBody,
    ) {
        self.out
            .push(Output::ToClient(connection, ServerMessage { call, body }));
    }
}

impl fmt::Display for PeerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raft(message) => message.fmt(out),
            Self::Lease(_, kind, lease) => write!(out, "{kind:?} of lease {lease}"),
            Self::LeaseAnswer(_, answer) => write!(out, "{answer:?}"),
        }
    }
}
