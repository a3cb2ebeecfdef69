//! What goes into a member and what comes out of it.

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, ConnectionId, ServerId};

use crate::ids::LookupId;
use crate::lookup::{LookupAnswer, LookupKind};
use crate::raft::RaftMessage;
use crate::rpc::{ClientMessage, Event, LeaseId, Revision, ServerBody, ServerMessage};

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

/// What a member wants done, or has done.
#[derive(Clone, Debug)]
pub enum Output {
    /// A message to a client.
    ToClient(ConnectionId, ServerMessage),
    /// A message to another member.
    ToPeer(ServerId, PeerMessage),
    /// The leader knows that this revision is committed. A new leader says so of what it had not applied, which
    /// the one before may have done already.
    Committed(Revision, Vec<Event>),
    /// A lease is revoked, as the leader knows.
    LeaseRevoked(LeaseId),
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
