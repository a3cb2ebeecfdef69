//! What a server that looks for a leader has heard from the others: `recvset` and `outofelection` of
//! `FastLeaderElection`.

use picklock_checker::VirtualTime;

use crate::input_output::later;
use crate::messages::ServerId;
use crate::quorum_messages::{Notification, ServerState, Vote};

/// How long a server waits at first before it repeats its vote, in microseconds; twice as long each time.
pub(super) const FIRST_REPEAT: u64 = 200_000;

/// What a server that looks for a leader knows.
#[derive(Clone, Debug)]
pub(crate) struct Election {
    /// The votes of the others in this round, whether they look too or have settled on a leader; by server.
    pub(super) votes: Vec<Option<Vote>>,
    /// What those say who follow or lead; by server.
    pub(super) settled: Vec<Option<Notification>>,
    /// When the agreement holds; never if there is none.
    pub(super) settles: VirtualTime,
    /// When to repeat the vote, and how long to wait after that.
    pub(super) repeat: VirtualTime,
    pub(super) wait: u64,
    /// When to answer reads meanwhile; never if that is not wanted, or has begun.
    pub(super) read_only: VirtualTime,
}

impl Election {
    pub(super) fn new(now: VirtualTime, servers: u8, read_only: VirtualTime) -> Self {
        Self {
            votes: vec![None; usize::from(servers)],
            settled: vec![None; usize::from(servers)],
            settles: VirtualTime::NEVER,
            repeat: later(now, FIRST_REPEAT),
            wait: FIRST_REPEAT,
            read_only,
        }
    }

    pub(crate) fn next_wake(&self) -> VirtualTime {
        self.settles.min(self.repeat).min(self.read_only)
    }

    /// A server is gone; what it said counts no more.
    pub(crate) fn forget(&mut self, peer: ServerId) {
        if let Some(said) = self.settled.get_mut(usize::from(peer.0)) {
            *said = None;
        }
    }

    /// How many others vote for this candidate in this round.
    pub(super) fn votes_for(&self, vote: Vote) -> usize {
        self.votes
            .iter()
            .filter(|other| **other == Some(vote))
            .count()
    }

    /// How many follow this leader, or are it.
    pub(super) fn settled_on(&self, leader: ServerId) -> usize {
        self.settled
            .iter()
            .flatten()
            .filter(|said| said.vote.leader == leader)
            .count()
    }

    /// Whether a server says itself that it leads.
    pub(super) fn leads(&self, leader: ServerId) -> bool {
        matches!(
            self.settled.get(usize::from(leader.0)),
            Some(Some(Notification {
                standing: ServerState::Leading,
                ..
            }))
        )
    }
}
