//! How a replica takes the place of its primary: it waits a little, asks the primaries for their votes, and wins with
//! a majority of them.

use super::bus::{Body, Header};
use super::{Cluster, NodeId};
use crate::Output;

/// How long a replica waits before it asks, in milliseconds, so that all nodes know that the primary has failed.
const DELAY: i64 = 500;
/// And by chance up to so much longer.
const SPREAD: u32 = 500;
/// And so much longer for each other replica that has more.
const RANK: i64 = 1_000;
/// Votes are waited for at least for so long.
const LEAST: i64 = 2_000;
/// For so many node timeouts, no other replica of the same primary is voted for.
const VOTE_LASTS: i64 = 2;
/// How often a primary pings its replicas (`repl-ping-replica-period`), in milliseconds.
const PING_PERIOD: i64 = 10_000;

/// What a replica has done to take the place of its primary.
#[derive(Clone, Debug, Default)]
pub(super) struct Election {
    /// When it asks, or has asked, for votes.
    at: Option<i64>,
    asked: bool,
    pub(super) votes: usize,
    rank: i64,
    pub(super) epoch: u64,
}

impl Cluster {
    /// Goes on with taking the place of the primary, if it has failed. `behind` is how long there was no link to it, in
    /// milliseconds. Answers whether this node has won.
    pub(super) fn stand(&mut self, now: i64, behind: i64, out: &mut Vec<Output>) -> bool {
        let Some(primary) = self.primary() else {
            return false;
        };
        let timeout = self.timeout();
        let failed = self.node(primary);
        if failed.failed.is_none() || failed.slots.is_empty() || !self.is_fresh(behind) {
            return false;
        }
        let patience = (2 * timeout).max(LEAST);
        let age = self.election.at.map(|at| now - at);
        if age.is_none_or(|age| age > 2 * patience) {
            self.begin_election(now, out);
            return false;
        }
        let rank = self.rank();
        let election = &mut self.election;
        let Some(at) = &mut election.at else {
            return false;
        };
        if !election.asked && rank > election.rank {
            *at += (rank - election.rank) * RANK;
            election.rank = rank;
        }
        if now < *at || now - *at > patience {
            return false;
        }
        if !election.asked {
            election.asked = true;
            self.epoch += 1;
            self.election.epoch = self.epoch;
            self.broadcast(&Body::VoteWanted, out);
            return false;
        }
        self.election.votes >= self.majority()
    }

    /// Whether it has not been without its primary for too long.
    fn is_fresh(&self, behind: i64) -> bool {
        let factor = i64::from(self.settings.validity_factor);
        let age = if behind > self.timeout() {
            behind - self.timeout()
        } else {
            behind
        };
        factor == 0 || age <= PING_PERIOD + self.timeout() * factor
    }

    fn begin_election(&mut self, now: i64, out: &mut Vec<Output>) {
        let spread = i64::from(self.draw(SPREAD));
        let rank = self.rank();
        self.election = Election {
            at: Some(now + DELAY + spread + rank * RANK),
            rank,
            ..Election::default()
        };
        // The other replicas of the same primary are to know how far this one is.
        let primary = self.primary();
        for id in self.others() {
            if self.node(id).primary == primary {
                let gossip = self.gossip(id);
                self.send_to_node(id, Body::Pong(gossip), out);
            }
        }
    }

    /// How many other replicas of the same primary have more.
    fn rank(&self) -> i64 {
        let primary = self.primary();
        let ahead = self.others().filter(|id| {
            let node = self.node(*id);
            node.primary == primary && node.offset > self.offset
        });
        ahead.count() as i64
    }

    /// Whether this node may vote for the sender.
    pub(super) fn may_vote_for(&self, header: &Header, now: i64) -> bool {
        let Some(primary) = self.node(header.from).primary else {
            return false;
        };
        let slots_are_newer_elsewhere = || {
            header.slots.iter().any(|slot| {
                let owner = self.owner(slot).map(|owner| self.node(owner));
                owner.is_some_and(|owner| owner.config_epoch > header.config_epoch)
            })
        };
        let lately = |voted: i64| now - voted < VOTE_LASTS * self.timeout();
        self.node(self.me).counts()
            && header.epoch >= self.epoch
            && self.voted != self.epoch
            && self.node(primary).failed.is_some()
            && !self.node(primary).voted.is_some_and(lately)
            && !slots_are_newer_elsewhere()
    }

    pub(super) fn vote_for(&mut self, id: NodeId, now: i64, out: &mut Vec<Output>) {
        if let Some(primary) = self.node(id).primary {
            self.node_mut(primary).voted = Some(now);
        }
        self.voted = self.epoch;
        self.send_to_node(id, Body::Vote, out);
    }
}
