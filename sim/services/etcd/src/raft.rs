//! Raft as etcd uses it: elections, the log, and reads that a quorum confirms.
//!
//! What is in the log is on the disk before anything is said of it, and the log is never cut to a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use picklock_machines::{Chance, ServerId};

use crate::settings::Settings;

mod election;
mod messages;
mod replication;

pub(crate) use messages::{Entry, RaftBody, ReadId, Ready};
pub use messages::{Proposal, RaftMessage};

#[derive(Clone, Debug)]
enum Role {
    Follower,
    PreCandidate(BTreeMap<ServerId, bool>),
    Candidate(BTreeMap<ServerId, bool>),
    Leader(BTreeMap<ServerId, Progress>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    matched: usize,
    next: usize,
    recent_active: bool,
}

/// A read that waits for a quorum: how far the log was committed, and which members have confirmed.
#[derive(Clone, Debug)]
struct PendingRead {
    read: ReadId,
    index: usize,
    acks: BTreeSet<ServerId>,
}

/// The raft node of a member.
#[derive(Clone, Debug)]
pub(crate) struct Raft {
    pub(crate) id: ServerId,
    settings: Settings,
    pub(crate) term: u64,
    vote: Option<ServerId>,
    pub(crate) log: Vec<Entry>,
    pub(crate) committed: usize,
    pub(crate) lead: Option<ServerId>,
    role: Role,
    election_elapsed: u32,
    randomized_timeout: u32,
    reads: Vec<PendingRead>,
    /// Reads that came before this leader had committed an entry of its term.
    postponed_reads: Vec<ReadId>,
}

impl Raft {
    /// A member of a cluster that has elected one, whose first entry is committed everywhere.
    pub(crate) fn formed(id: ServerId, leader: ServerId, settings: Settings) -> Self {
        let mut raft = Self {
            id,
            settings,
            term: 2,
            vote: Some(leader),
            log: vec![Entry {
                term: 2,
                proposal: None,
            }],
            committed: 1,
            lead: Some(leader),
            role: Role::Follower,
            election_elapsed: 0,
            randomized_timeout: settings.election_ticks() + u32::from(id.0),
            reads: Vec::new(),
            postponed_reads: Vec::new(),
        };
        if id == leader {
            raft.role = Role::Leader(raft.progress(1));
        }
        raft
    }

    /// The process has started: term, vote, log, and what is known to be committed were on its disk.
    pub(crate) fn restart(&mut self, chance: &mut dyn Chance) {
        self.become_follower(self.term, None, chance);
    }

    pub(crate) fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    fn peers(&self) -> impl Iterator<Item = ServerId> + use<> {
        let id = self.id;
        let members = (0..self.settings.members).map(ServerId);
        members.filter(move |member| *member != id)
    }

    fn quorum(&self) -> usize {
        usize::from(self.settings.members) / 2 + 1
    }

    fn progress(&self, matched: usize) -> BTreeMap<ServerId, Progress> {
        let progress = Progress {
            matched,
            next: self.log.len() + 1,
            recent_active: false,
        };
        self.peers().map(|peer| (peer, progress)).collect()
    }

    fn term_at(&self, index: usize) -> u64 {
        let entry = index.checked_sub(1).and_then(|index| self.log.get(index));
        entry.map_or(0, |entry| entry.term)
    }

    fn reset(&mut self, term: u64, chance: &mut dyn Chance) {
        if self.term != term {
            (self.term, self.vote) = (term, None);
        }
        self.lead = None;
        self.election_elapsed = 0;
        let ticks = self.settings.election_ticks();
        // Members differ, and not always the same way, even where chance has nothing to say.
        let own = u32::from(self.id.0) * 7 + (self.term % u64::from(ticks)) as u32 * 3;
        self.randomized_timeout = ticks + (chance.choose(ticks) + own) % ticks;
        self.reads.clear();
        self.postponed_reads.clear();
    }

    fn become_follower(&mut self, term: u64, lead: Option<ServerId>, chance: &mut dyn Chance) {
        self.reset(term, chance);
        (self.lead, self.role) = (lead, Role::Follower);
    }

    fn send(&self, to: ServerId, body: RaftBody, ready: &mut Ready) {
        let term = self.term;
        ready.messages.push((to, RaftMessage { term, body }));
    }

    /// A tick has passed.
    pub(crate) fn tick(&mut self, chance: &mut dyn Chance, ready: &mut Ready) {
        self.election_elapsed += 1;
        let (ticks, quorum) = (self.settings.election_ticks(), self.quorum());
        if let Role::Leader(progress) = &mut self.role {
            if self.election_elapsed >= ticks {
                self.election_elapsed = 0;
                let active = progress.values().filter(|peer| peer.recent_active).count() + 1;
                progress
                    .values_mut()
                    .for_each(|peer| peer.recent_active = false);
                if active < quorum {
                    self.become_follower(self.term, None, chance);
                    return;
                }
            }
            self.broadcast_heartbeat(self.reads.last().map(|pending| pending.read), ready);
        } else if self.election_elapsed >= self.randomized_timeout {
            self.campaign(self.settings.version.pre_vote(), chance, ready);
        }
    }

    /// A message has come from another member.
    pub(crate) fn step(
        &mut self,
        from: ServerId,
        message: RaftMessage,
        chance: &mut dyn Chance,
        ready: &mut Ready,
    ) {
        let RaftMessage { term, body } = message;
        // These have no term of their own: they are for any leader.
        let has_term = !matches!(body, RaftBody::Prop(_) | RaftBody::ReadIndex { .. });
        let leads = matches!(body, RaftBody::App { .. } | RaftBody::Heartbeat { .. });
        if has_term && term > self.term {
            if !self.meet_newer_term(from, (term, leads), &body, chance) {
                return;
            }
        } else if has_term && term < self.term {
            if leads {
                // It tells a former leader of the newer term.
                let index = self.log.len();
                self.send(
                    from,
                    RaftBody::AppResp {
                        index,
                        reject: false,
                    },
                    ready,
                );
            } else if let RaftBody::Vote { pre: true, .. } = body {
                self.send(
                    from,
                    RaftBody::VoteResp {
                        pre: true,
                        reject: true,
                    },
                    ready,
                );
            }
            return;
        }
        self.step_in_term(from, term, body, chance, ready);
    }

    fn step_in_term(
        &mut self,
        from: ServerId,
        term: u64,
        body: RaftBody,
        chance: &mut dyn Chance,
        ready: &mut Ready,
    ) {
        match body {
            RaftBody::Vote {
                pre,
                index,
                log_term,
            } => {
                self.answer_vote(from, term, (pre, index, log_term), ready);
            }
            RaftBody::VoteResp { pre, reject } => {
                self.count_vote(from, (pre, reject), chance, ready)
            }
            RaftBody::App {
                index,
                log_term,
                entries,
                commit,
            } => {
                self.follow(from, chance);
                self.take_append(from, (index, log_term), entries, commit, ready);
            }
            RaftBody::Heartbeat { commit, read } => {
                self.follow(from, chance);
                self.committed = self.committed.max(commit.min(self.log.len()));
                self.send(from, RaftBody::HeartbeatResp { read }, ready);
            }
            RaftBody::AppResp { index, reject } => {
                self.take_append_response(from, index, reject, ready)
            }
            RaftBody::HeartbeatResp { read } => {
                let end = self.log.len();
                let Role::Leader(progress) = &mut self.role else {
                    return;
                };
                let lags = progress.get_mut(&from).is_some_and(|peer| {
                    peer.recent_active = true;
                    peer.matched < end
                });
                if lags {
                    self.send_append(from, ready);
                }
                if let Some(read) = read {
                    self.confirm_read(from, read, ready);
                }
            }
            RaftBody::Prop(proposal) => {
                if !self.propose(&proposal, ready) {
                    ready.no_leader.push(proposal);
                }
            }
            RaftBody::ReadIndex { number } => {
                if self.is_leader() {
                    self.read_index_of((from, number), ready);
                }
            }
            RaftBody::ReadIndexResp { number, index } => ready.read_states.push((number, index)),
        }
    }

    fn follow(&mut self, leader: ServerId, chance: &mut dyn Chance) {
        match self.role {
            Role::Follower => (self.lead, self.election_elapsed) = (Some(leader), 0),
            Role::PreCandidate(_) | Role::Candidate(_) | Role::Leader(_) => {
                self.become_follower(self.term, Some(leader), chance);
            }
        }
    }
}
