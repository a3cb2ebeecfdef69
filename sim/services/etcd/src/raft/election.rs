//! Elections.

use std::collections::BTreeMap;

use picklock_machines::{Chance, ServerId};

use super::messages::{RaftBody, RaftMessage, Ready};
use super::{Raft, Role};

impl Raft {
    pub(super) fn campaign(&mut self, pre: bool, chance: &mut dyn Chance, ready: &mut Ready) {
        let votes = BTreeMap::from([(self.id, true)]);
        let mut term = self.term + 1;
        if pre {
            (self.lead, self.election_elapsed) = (None, 0);
            self.role = Role::PreCandidate(votes);
        } else {
            self.reset(term, chance);
            (self.vote, term) = (Some(self.id), self.term);
            self.role = Role::Candidate(votes);
        }
        if self.quorum() == 1 {
            return self.won(pre, chance, ready);
        }
        let (index, log_term) = (self.log.len(), self.term_at(self.log.len()));
        let body = RaftBody::Vote {
            pre,
            index,
            log_term,
        };
        for peer in self.peers() {
            let body = body.clone();
            ready.messages.push((peer, RaftMessage { term, body }));
        }
    }

    pub(super) fn won(&mut self, pre: bool, chance: &mut dyn Chance, ready: &mut Ready) {
        if pre {
            return self.campaign(false, chance, ready);
        }
        self.reset(self.term, chance);
        self.lead = Some(self.id);
        self.role = Role::Leader(self.progress(0));
        self.append(None, ready);
    }

    /// Answers whether the message counts.
    pub(super) fn meet_newer_term(
        &mut self,
        from: ServerId,
        (term, leads): (u64, bool),
        body: &RaftBody,
        chance: &mut dyn Chance,
    ) -> bool {
        let is_vote = matches!(body, RaftBody::Vote { .. });
        let hears_leader =
            self.lead.is_some() && self.election_elapsed < self.settings.election_ticks();
        if is_vote && hears_leader {
            return false;
        }
        let is_pre = matches!(
            body,
            RaftBody::Vote { pre: true, .. }
                | RaftBody::VoteResp {
                    pre: true,
                    reject: false
                }
        );
        if !is_pre {
            self.become_follower(term, leads.then_some(from), chance);
        }
        true
    }

    pub(super) fn answer_vote(
        &mut self,
        from: ServerId,
        term: u64,
        (pre, index, log_term): (bool, usize, u64),
        ready: &mut Ready,
    ) {
        let is_free = self.vote.is_none() && self.lead.is_none();
        let can_vote = self.vote == Some(from) || is_free || (pre && term > self.term);
        let end = self.log.len();
        let up_to_date = (log_term, index) >= (self.term_at(end), end);
        if !can_vote || !up_to_date {
            return self.send(from, RaftBody::VoteResp { pre, reject: true }, ready);
        }
        if !pre {
            (self.vote, self.election_elapsed) = (Some(from), 0);
        }
        let body = RaftBody::VoteResp { pre, reject: false };
        ready.messages.push((from, RaftMessage { term, body }));
    }

    pub(super) fn count_vote(
        &mut self,
        from: ServerId,
        (pre, reject): (bool, bool),
        chance: &mut dyn Chance,
        ready: &mut Ready,
    ) {
        let quorum = self.quorum();
        let votes = match &mut self.role {
            Role::PreCandidate(votes) if pre => votes,
            Role::Candidate(votes) if !pre => votes,
            Role::PreCandidate(_) | Role::Candidate(_) | Role::Follower | Role::Leader(_) => return,
        };
        votes.entry(from).or_insert(!reject);
        let granted = votes.values().filter(|granted| **granted).count();
        let rejected = votes.len() - granted;
        if granted == quorum {
            self.won(pre, chance, ready);
        } else if rejected == quorum {
            self.become_follower(self.term, None, chance);
        }
    }
}
