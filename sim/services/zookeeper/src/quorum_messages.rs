//! The messages between the servers of an ensemble.

use picklock_clients::zookeeper::{Request, SessionId, Zxid};

use super::acl::Identities;
use super::messages::{ConnectionId, ServerId, Xid};
use super::tree::DataTree;
use super::txn::SharedTxn;

/// A message from a server to another.
///
/// Messages between two servers are to arrive in the order of their departures. One that gets lost breaks the link
/// that it belongs to as soon as the next one arrives, as a reset connection would.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerMessage {
    /// The connection between a follower and its leader that this belongs to; the follower numbers its own. Zero
    /// for messages of elections, which need none.
    pub(super) link: u32,
    /// Its number on the link, from one; zero for those that may be late against the others.
    pub(super) number: u32,
    /// What it says.
    pub(super) body: PeerBody,
}

impl PeerMessage {
    /// Whether it commits transactions.
    pub fn is_commit(&self) -> bool {
        matches!(self.body, PeerBody::Commit(_) | PeerBody::Inform(_))
    }

    /// Whether it proposes a transaction.
    pub fn is_proposal(&self) -> bool {
        matches!(self.body, PeerBody::Proposal(_))
    }

    /// Whether it acknowledges a logged proposal.
    pub fn is_ack(&self) -> bool {
        matches!(self.body, PeerBody::Ack(_))
    }
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PeerBody {
    /// Election: my vote.
    Vote(Box<Notification>),
    /// Follower: I want to follow.
    FollowerInfo { accepted_epoch: u32 },
    /// Leader: this is my epoch.
    LeaderInfo { epoch: u32 },
    /// Follower: I accept it, and this is where I am.
    AckEpoch {
        current_epoch: u32,
        last_zxid: Zxid,
        /// Whether it had not accepted this epoch before.
        first: bool,
        want_snapshot: bool,
    },
    /// Leader: this is what you lack, and from here on I lead.
    NewLeader(Box<Catchup>),
    /// Follower: it is logged.
    AckNewLeader { logged: Zxid },
    /// Leader: a quorum follows, you may serve.
    UpToDate { committed: Zxid },
    /// Leader: log this.
    Proposal(SharedTxn),
    /// Follower: everything up to this is logged.
    Ack(Zxid),
    /// Leader: everything up to this is committed.
    Commit(Zxid),
    /// Leader, to an observer: this is committed.
    Inform(SharedTxn),
    /// Leader: I am here.
    Ping,
    /// Follower: so am I, this is what I have logged, and these sessions have given signs of life since last time.
    Pong(Box<Pong>),
    /// Follower: a client asks for this.
    Forward(Box<Forwarded>),
    /// Leader: what was proposed before your sync is committed.
    Synced { session: SessionId, xid: Xid },
    /// Follower: a client wants to resume this session here.
    Revalidate {
        connection: ConnectionId,
        session: SessionId,
        timeout: u64,
    },
    /// Leader: whether it may.
    Revalidated {
        connection: ConnectionId,
        valid: bool,
    },
    /// Either: this link is closed.
    Hangup,
}

/// What a follower has logged, and which sessions have given signs of life there, with their timeouts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pong {
    pub(super) logged: Zxid,
    pub(super) touched: Vec<(SessionId, u64)>,
}

/// What a client asks the leader for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Forwarded {
    pub(super) session: SessionId,
    pub(super) xid: Xid,
    pub(super) what: Submission,
}

/// What a client asks the leader for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Submission {
    /// A write, and the identities of its client.
    Write(Request, Identities),
    /// A new session, with this timeout.
    Open { timeout: u64 },
    /// The end of the session.
    Close,
    /// An answer when all that was proposed so far is committed.
    Sync,
}

/// What a follower lacks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Catchup {
    pub(super) epoch: u32,
    /// Forget all that you have and take this.
    pub(super) snapshot: Option<DataTree>,
    /// Forget what you have logged after this.
    pub(super) truncate_after: Zxid,
    /// Log these.
    pub(super) txns: Vec<SharedTxn>,
}

/// A vote, in the order in which votes beat each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Vote {
    pub(super) epoch: u32,
    pub(super) zxid: Zxid,
    pub(super) leader: ServerId,
}

/// What a server says in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notification {
    /// Which election, as its sender counts.
    pub(super) round: u64,
    pub(super) vote: Vote,
    pub(super) standing: ServerState,
}

/// What a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerState {
    Looking,
    Following,
    Leading,
}
