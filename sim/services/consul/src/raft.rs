//! Raft as Consul has it: who leads, and the log.
//!
//! What is in the log is on the disk before anything is said of it, and the log is never cut to a snapshot.

mod messages;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, ServerId};

use crate::log::{CallId, Command, Entry};
use crate::settings::Settings;

use messages::Body;
pub use messages::RaftMessage;

#[derive(Clone, Debug)]
enum Role {
    Follower,
    Candidate(BTreeSet<ServerId>),
    Leader(BTreeMap<ServerId, Peer>),
}

/// What a leader knows of another server.
#[derive(Clone, Copy, Debug)]
struct Peer {
    matched: usize,
    next: usize,
    contact: VirtualTime,
    /// The newest round of messages that it has answered.
    round: u64,
}

/// What a step of raft sends.
pub(crate) type Sent = Vec<(ServerId, RaftMessage)>;

/// The raft node of a server.
#[derive(Clone, Debug)]
pub(crate) struct Raft {
    id: ServerId,
    settings: Settings,
    pub(crate) term: u64,
    vote: Option<ServerId>,
    pub(crate) log: Vec<Entry>,
    pub(crate) committed: usize,
    pub(crate) lead: Option<ServerId>,
    role: Role,
    /// When its timer ends: of an election, or of heartbeats.
    pub(crate) timer: VirtualTime,
    /// How long a follower waits for its leader.
    timeout: Duration,
    round: u64,
}

impl Raft {
    /// A server of a cluster that has elected one, whose first entry is committed everywhere.
    pub(crate) fn formed(id: ServerId, leader: ServerId, settings: Settings) -> Self {
        let first = Entry {
            term: 1,
            command: Command::Noop,
            call: None,
        };
        let mut raft = Self {
            id,
            settings,
            term: 1,
            vote: Some(leader),
            log: vec![first],
            committed: 1,
            lead: Some(leader),
            role: Role::Follower,
            timer: VirtualTime::ZERO + settings.heartbeat_timeout(),
            timeout: settings.heartbeat_timeout(),
            round: 0,
        };
        if id == leader {
            raft.role = Role::Leader(raft.peers_at(VirtualTime::ZERO));
            raft.timer = VirtualTime::ZERO;
        }
        raft
    }

    pub(crate) fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// The process has started: term, vote, and log were on its disk, and not how much is committed.
    pub(crate) fn restart(&mut self, now: VirtualTime, chance: &mut dyn Chance) {
        self.committed = 0;
        (self.role, self.lead) = (Role::Follower, None);
        self.begin_timer(now, chance);
    }

    fn others(&self) -> impl Iterator<Item = ServerId> + use<> {
        let id = self.id;
        let servers = (0..self.settings.servers).map(ServerId);
        servers.filter(move |server| *server != id)
    }

    fn peers_at(&self, contact: VirtualTime) -> BTreeMap<ServerId, Peer> {
        let peer = Peer {
            matched: 0,
            next: self.log.len() + 1,
            contact,
            round: 0,
        };
        self.others().map(|other| (other, peer)).collect()
    }

    fn term_at(&self, place: usize) -> u64 {
        let entry = place.checked_sub(1).and_then(|index| self.log.get(index));
        entry.map_or(0, |entry| entry.term)
    }

    /// A time from this one to twice this one.
    fn random(&self, least: Duration, chance: &mut dyn Chance) -> Duration {
        let steps = u32::try_from(least.as_millis()).unwrap_or(u32::MAX).max(1);
        // Servers differ even where chance has nothing to say.
        let own = steps / 4 * u32::from(self.id.0);
        least + Duration::from_millis(u64::from((chance.choose(steps) + own) % steps))
    }

    /// It follows this leader from now on, or none. A newer term alone does not begin its timer again: a server that
    /// cannot be elected would keep all others from trying.
    fn follow(
        &mut self,
        now: VirtualTime,
        term: u64,
        lead: Option<ServerId>,
        chance: &mut dyn Chance,
    ) {
        if self.term != term {
            (self.term, self.vote) = (term, None);
        }
        self.lead = lead;
        if !matches!(self.role, Role::Follower) {
            self.role = Role::Follower;
            self.begin_timer(now, chance);
        }
    }

    fn begin_timer(&mut self, now: VirtualTime, chance: &mut dyn Chance) {
        self.timeout = self.random(self.settings.heartbeat_timeout(), chance);
        self.timer = now + self.timeout;
    }

    fn message(&self, body: Body) -> RaftMessage {
        let term = self.term;
        RaftMessage { term, body }
    }

    /// The timer has ended.
    pub(crate) fn tick(&mut self, now: VirtualTime, chance: &mut dyn Chance, sent: &mut Sent) {
        let Role::Leader(peers) = &self.role else {
            return self.campaign(now, chance, sent);
        };
        let lease = self.settings.leader_lease_timeout();
        let heard = peers.values().filter(|peer| peer.contact + lease >= now);
        if heard.count() + 1 < self.settings.quorum() {
            return self.follow(now, self.term, None, chance);
        }
        self.timer = now + self.random(self.settings.heartbeat_timeout() / 10, chance);
        self.broadcast(sent);
    }

    fn campaign(&mut self, now: VirtualTime, chance: &mut dyn Chance, sent: &mut Sent) {
        self.begin_timer(now, chance);
        (self.term, self.vote, self.lead) = (self.term + 1, Some(self.id), None);
        self.role = Role::Candidate(BTreeSet::from([self.id]));
        let last = (self.term_at(self.log.len()), self.log.len());
        let request = self.message(Body::RequestVote { last });
        sent.extend(self.others().map(|other| (other, request.clone())));
        self.count_votes(now, sent);
    }

    fn count_votes(&mut self, now: VirtualTime, sent: &mut Sent) {
        if let Role::Candidate(votes) = &self.role
            && votes.len() >= self.settings.quorum()
        {
            self.role = Role::Leader(self.peers_at(now));
            (self.lead, self.timer) = (Some(self.id), now);
            self.append(Command::Noop, None, sent);
        }
    }

    /// The leader adds an entry; answers its place.
    pub(crate) fn append(
        &mut self,
        command: Command,
        call: Option<CallId>,
        sent: &mut Sent,
    ) -> usize {
        let term = self.term;
        self.log.push(Entry {
            term,
            command,
            call,
        });
        self.commit(sent);
        self.broadcast(sent);
        self.log.len()
    }

    /// Says to all others what they lack, and that this one leads; answers the number of the round.
    pub(crate) fn broadcast(&mut self, sent: &mut Sent) -> u64 {
        self.round += 1;
        for other in self.others() {
            self.send_append(other, sent);
        }
        self.round
    }

    fn send_append(&mut self, to: ServerId, sent: &mut Sent) {
        let end = self.log.len();
        let Role::Leader(peers) = &mut self.role else {
            return;
        };
        let Some(peer) = peers.get_mut(&to) else {
            return;
        };
        let after = peer.next - 1;
        peer.next = end + 1;
        let body = Body::Append {
            after: (after, self.term_at(after)),
            entries: self.log[after..].to_vec(),
            commit: self.committed,
            round: self.round,
        };
        sent.push((to, self.message(body)));
    }

    /// Commits what a majority has.
    fn commit(&mut self, sent: &mut Sent) {
        let Role::Leader(peers) = &self.role else {
            return;
        };
        let mut matched: Vec<usize> = peers.values().map(|peer| peer.matched).collect();
        matched.push(self.log.len());
        matched.sort_unstable_by(|one, other| other.cmp(one));
        let place = matched[self.settings.quorum() - 1];
        if place > self.committed && self.term_at(place) == self.term {
            self.committed = place;
            self.broadcast(sent);
        }
    }

    /// Whether a majority has answered a round: this server has led since it began.
    pub(crate) fn is_confirmed(&self, round: u64) -> bool {
        match &self.role {
            Role::Leader(peers) => {
                let confirmed = peers.values().filter(|peer| peer.round >= round);
                confirmed.count() + 1 >= self.settings.quorum()
            }
            Role::Follower | Role::Candidate(_) => false,
        }
    }

    /// A message has come from another server.
    pub(crate) fn step(
        &mut self,
        now: VirtualTime,
        from: ServerId,
        message: RaftMessage,
        chance: &mut dyn Chance,
        sent: &mut Sent,
    ) {
        let RaftMessage { term, body } = message;
        if let Body::RequestVote { last } = body {
            return self.answer_vote(now, (from, term), last, chance, sent);
        }
        if term > self.term {
            let leads = matches!(body, Body::Append { .. });
            self.follow(now, term, leads.then_some(from), chance);
        }
        match body {
            Body::RequestVote { .. } => {}
            Body::Vote { granted } => {
                if let Role::Candidate(votes) = &mut self.role
                    && granted
                    && term == self.term
                {
                    votes.insert(from);
                    self.count_votes(now, sent);
                }
            }
            Body::Append {
                after,
                entries,
                commit,
                round,
            } => {
                let mut taken = None;
                if term == self.term {
                    self.hears_leader(now, from, chance);
                    taken = self.take(after, entries, commit);
                }
                let body = Body::Appended {
                    matches: taken.is_some(),
                    end: taken.unwrap_or(self.log.len()),
                    round,
                };
                sent.push((from, self.message(body)));
            }
            Body::Appended {
                matches,
                end,
                round,
            } => {
                if term == self.term {
                    self.heard(now, from, (matches, end, round), sent);
                }
            }
        }
    }

    /// A server that follows a leader votes for no other, in whatever term.
    fn answer_vote(
        &mut self,
        now: VirtualTime,
        (from, term): (ServerId, u64),
        last: (u64, usize),
        chance: &mut dyn Chance,
        sent: &mut Sent,
    ) {
        let mut granted = false;
        if self.lead.is_none_or(|lead| lead == from) && term >= self.term {
            if term > self.term {
                self.follow(now, term, None, chance);
            }
            let end = self.log.len();
            granted = self.vote.is_none_or(|vote| vote == from) && last >= (self.term_at(end), end);
            if granted {
                self.follow(now, term, None, chance);
                self.begin_timer(now, chance);
                self.vote = Some(from);
            }
        }
        sent.push((from, self.message(Body::Vote { granted })));
    }

    /// The leader of this term says that it leads.
    fn hears_leader(&mut self, now: VirtualTime, leader: ServerId, chance: &mut dyn Chance) {
        match (&self.role, self.lead) {
            (Role::Follower, Some(known)) if known == leader => self.timer = now + self.timeout,
            _ => {
                self.follow(now, self.term, Some(leader), chance);
                self.begin_timer(now, chance);
            }
        }
    }

    /// A follower takes what the leader has sent, if it fits; answers up to where its log is the leader's.
    fn take(&mut self, after: (usize, u64), entries: Vec<Entry>, commit: usize) -> Option<usize> {
        let (place, term) = after;
        if place > self.log.len() || self.term_at(place) != term {
            return None;
        }
        let last = place + entries.len();
        for (index, entry) in (place..).zip(entries) {
            if self.term_at(index + 1) != entry.term {
                self.log.truncate(index);
                self.log.push(entry);
            }
        }
        self.committed = self.committed.max(commit.min(last));
        Some(last)
    }

    /// A follower has answered its leader.
    fn heard(
        &mut self,
        now: VirtualTime,
        from: ServerId,
        (matches, end, round): (bool, usize, u64),
        sent: &mut Sent,
    ) {
        let Role::Leader(peers) = &mut self.role else {
            return;
        };
        let Some(peer) = peers.get_mut(&from) else {
            return;
        };
        (peer.contact, peer.round) = (now, peer.round.max(round));
        if matches {
            peer.matched = peer.matched.max(end);
            self.commit(sent);
        } else {
            // One entry less each time, or what it lacks.
            peer.next = (peer.next - 1).min(end + 1).max(peer.matched + 1);
            self.send_append(from, sent);
        }
    }
}
