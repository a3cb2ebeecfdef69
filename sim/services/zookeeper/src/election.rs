//! Leader election: each server sends its vote to all others, and changes to a better candidate, until a quorum agrees
//! and nothing better has come for a while.

mod received_votes;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::Zxid;

use super::follower::Following;
use super::leader::{LeaderPhase, Leading, LearnerPhase};
use super::messages::ServerId;
use super::quorum_messages::{Notification, PeerBody, PeerMessage, ServerState, Vote};
use super::state::{Output, Role, Server, Turn, later};
pub(super) use received_votes::Election;
use received_votes::FIRST_REPEAT;

/// How long an agreement must stand before it holds, in microseconds.
const SETTLE: u64 = 200_000;
/// How long it waits at most.
const LAST_REPEAT: u64 = 60_000_000;
/// For how long at most a server that does not vote waits before it asks who leads, once it has lost its leader: of
/// `zookeeper.observer.election.DelayMs`, any part.
const OBSERVER_DELAY: u32 = 200_000;

impl Server {
    /// Stops whatever we were doing and looks for a leader.
    pub(super) fn look_for_leader(&mut self, turn: &mut Turn) {
        let had_leader = matches!(self.role, Role::Following(_));
        self.stop_serving(turn);
        self.hang_up(turn);
        // A server that stops following or leading writes down first what it has logged.
        self.log.flush_now(turn.now);
        self.round += 1;
        self.vote = self.own_vote();
        if self.settings.servers == 1 && self.votes() {
            self.stand_alone(turn);
            return;
        }
        let read_only = self.read_only_from(turn.now);
        let mut election = Election::new(turn.now, self.settings.servers, read_only);
        let waits = !self.votes() && had_leader;
        if waits {
            election.repeat = later(turn.now, turn.chance.choose(OBSERVER_DELAY).into());
            election.wait = FIRST_REPEAT / 2;
        }
        self.role = Role::Looking(election);
        if !waits {
            self.broadcast_vote(turn);
        }
    }

    /// A single server leads itself, in the epoch that it has.
    fn stand_alone(&mut self, turn: &mut Turn) {
        let last = self.log.last_zxid();
        let mut leading = Leading::new(turn.now, &self.settings, last);
        leading.begin_epoch(self.current_epoch.max(1), last);
        self.current_epoch = leading.epoch;
        self.accepted_epoch = leading.epoch;
        self.role = Role::Leading(Box::new(leading));
        self.establish_leader(turn);
    }

    /// The start-up shortcut: every server knows the leader and is in sync.
    pub(super) fn start_formed(&mut self, leader: ServerId) {
        let now = VirtualTime::ZERO;
        self.round = 1;
        self.connected_peers.fill(true);
        self.vote = Vote {
            epoch: 0,
            zxid: self.log.last_zxid(),
            leader,
        };
        let link_of = |id: ServerId| 1 << 8 | u32::from(id.0);
        self.links = 1;
        if leader == self.id {
            let last = self.log.last_zxid();
            let mut leading = Leading::new(now, &self.settings, last);
            leading.begin_epoch(1, last);
            leading.phase = LeaderPhase::Established;
            for (id, learner) in (0..).map(ServerId).zip(&mut leading.learners) {
                if id != self.id {
                    learner.phase = LearnerPhase::InSync;
                    learner.link = link_of(id);
                    learner.acked = last;
                    learner.accepted = true;
                }
            }
            self.role = Role::Leading(Box::new(leading));
        } else {
            let following = Following::formed(leader, link_of(self.id), &self.settings);
            self.role = Role::Following(following);
        }
        self.start_serving(now);
    }

    /// Closes our links to a leader or to followers.
    fn hang_up(&mut self, turn: &mut Turn) {
        match &mut self.role {
            Role::Following(_) => self.send_to_leader(turn, PeerBody::Hangup),
            Role::Leading(leading) => {
                for (id, learner) in (0..).map(ServerId).zip(&mut leading.learners) {
                    if learner.phase != LearnerPhase::Away {
                        learner.send(turn.out, id, turn.now, PeerBody::Hangup);
                    }
                }
            }
            Role::Down | Role::Looking(_) => {}
        }
    }

    /// Whether this server takes part in elections.
    fn votes(&self) -> bool {
        !self.settings.is_observer(self.id)
    }

    /// A server that does not vote begins with a vote that any other beats.
    fn own_vote(&self) -> Vote {
        if !self.votes() {
            return Vote {
                epoch: 0,
                zxid: Zxid(0),
                leader: ServerId(0),
            };
        }
        Vote {
            epoch: self.current_epoch,
            zxid: self.log.last_zxid(),
            leader: self.id,
        }
    }

    fn broadcast_vote(&self, turn: &mut Turn) {
        for id in (0..self.settings.servers).map(ServerId) {
            if id != self.id {
                self.send_vote(turn, id);
            }
        }
    }

    fn send_vote(&self, turn: &mut Turn, to: ServerId) {
        let standing = match self.role {
            Role::Down | Role::Looking(_) => ServerState::Looking,
            Role::Following(_) => ServerState::Following,
            Role::Leading(_) => ServerState::Leading,
        };
        let notification = Notification {
            round: self.round,
            vote: self.vote,
            standing,
        };
        turn.out.push(Output::ToPeer {
            to,
            message: PeerMessage {
                link: 0,
                number: 0,
                body: PeerBody::Vote(Box::new(notification)),
            },
            at: turn.now,
        });
    }

    /// Answers a server that looks for a leader with what we know.
    pub(super) fn answer_vote(&mut self, turn: &mut Turn, from: ServerId, theirs: Notification) {
        self.connect_to_peer(from);
        if theirs.standing == ServerState::Looking && self.votes() {
            self.send_vote(turn, from);
        }
    }

    /// What comes over a link that we do not know is answered as a closed port answers.
    pub(super) fn refuse_link(&self, turn: &mut Turn, from: ServerId, message: &PeerMessage) {
        if !matches!(message.body, PeerBody::Hangup) {
            turn.out.push(Output::ToPeer {
                to: from,
                message: PeerMessage {
                    link: message.link,
                    number: 0,
                    body: PeerBody::Hangup,
                },
                at: turn.now,
            });
        }
    }

    pub(super) fn peer_while_looking(
        &mut self,
        turn: &mut Turn,
        from: ServerId,
        message: PeerMessage,
    ) {
        let PeerBody::Vote(theirs) = message.body else {
            self.refuse_link(turn, from, &message);
            return;
        };
        if self.settings.is_observer(from) {
            // It only asks: what it says counts for nothing.
            self.answer_vote(turn, from, *theirs);
            return;
        }
        match theirs.standing {
            ServerState::Looking => self.vote_of_looking(turn, from, *theirs),
            ServerState::Following | ServerState::Leading => {
                self.vote_of_settled(turn, from, *theirs)
            }
        }
    }

    fn vote_of_looking(&mut self, turn: &mut Turn, from: ServerId, theirs: Notification) {
        let own = self.own_vote();
        let votes = self.votes();
        let reconnected = self.connect_to_peer(from);
        let Role::Looking(election) = &mut self.role else {
            return;
        };
        election.forget(from);
        let mut changed = false;
        if theirs.round > self.round {
            self.round = theirs.round;
            election.votes.fill(None);
            self.vote = own.max(theirs.vote);
            changed = true;
        } else if theirs.round < self.round {
            if votes {
                self.send_vote(turn, from);
            }
            return;
        } else if theirs.vote > self.vote {
            self.vote = theirs.vote;
            changed = true;
        }
        if let Some(vote) = election.votes.get_mut(usize::from(from.0)) {
            *vote = Some(theirs.vote);
        }
        if changed {
            election.settles = VirtualTime::NEVER;
        }
        if election.votes_for(self.vote) + usize::from(votes) < self.settings.quorum() {
            election.settles = VirtualTime::NEVER;
        } else if election.settles == VirtualTime::NEVER {
            election.settles = later(turn.now, SETTLE);
        }
        if changed {
            self.broadcast_vote(turn);
        } else if reconnected {
            // What was sent to it while it was away waits for the connection, as in `QuorumCnxManager`.
            self.send_vote(turn, from);
        }
    }

    /// Whether a vote of a server comes by a new connection: it has been away since it was heard last.
    fn connect_to_peer(&mut self, peer: ServerId) -> bool {
        let connected = self.connected_peers.get_mut(usize::from(peer.0));
        connected.is_some_and(|connected| !std::mem::replace(connected, true))
    }

    fn vote_of_settled(&mut self, turn: &mut Turn, from: ServerId, theirs: Notification) {
        let quorum = self.settings.quorum();
        let same_round = theirs.round == self.round;
        let own = usize::from(self.votes() && self.vote == theirs.vote);
        let Role::Looking(election) = &mut self.role else {
            return;
        };
        if let Some(said) = election.settled.get_mut(usize::from(from.0)) {
            *said = Some(theirs);
        }
        if same_round && let Some(vote) = election.votes.get_mut(usize::from(from.0)) {
            *vote = Some(theirs.vote);
        }
        let leader = theirs.vote.leader;
        let leads = election.leads(leader);
        let agreed = if leader == self.id {
            // They elected us, in the round that we are still in.
            same_round && election.settled_on(leader) + 1 >= quorum
        } else {
            // In the round that we are still in, our own vote counts, and those of all who looked or look in it. Else
            // only what a quorum says that follows or leads.
            let in_this_round = same_round && election.votes_for(theirs.vote) + own >= quorum;
            leads && (in_this_round || election.settled_on(leader) >= quorum)
        };
        if agreed {
            self.round = theirs.round;
            self.vote = theirs.vote;
            self.elected(turn);
        }
    }

    pub(super) fn election_timers(&mut self, turn: &mut Turn) {
        let Role::Looking(election) = &mut self.role else {
            return;
        };
        if election.settles <= turn.now {
            self.elected(turn);
            return;
        }
        if election.read_only <= turn.now {
            election.read_only = VirtualTime::NEVER;
            self.serve_reads(turn);
        }
        let Role::Looking(election) = &mut self.role else {
            return;
        };
        if election.repeat <= turn.now {
            election.wait = (election.wait * 2).min(LAST_REPEAT);
            election.repeat = later(turn.now, election.wait);
            self.broadcast_vote(turn);
        }
    }

    /// The election is over, as far as we know.
    fn elected(&mut self, turn: &mut Turn) {
        self.stop_serving(turn);
        let leader = self.vote.leader;
        if leader == self.id {
            let leading = Leading::new(turn.now, &self.settings, self.tree.last_zxid());
            self.role = Role::Leading(Box::new(leading));
        } else {
            let link = self.new_link();
            let following = Following::new(leader, link, turn.now, &self.settings);
            self.role = Role::Following(following);
            let accepted_epoch = self.accepted_epoch;
            self.send_to_leader(turn, PeerBody::FollowerInfo { accepted_epoch });
        }
    }

    /// A number for a link that no other link has.
    pub(super) fn new_link(&mut self) -> u32 {
        self.links += 1;
        self.links << 8 | u32::from(self.id.0)
    }

    /// A quorum follows: everything that we have logged is committed, and every session gets its full timeout.
    pub(super) fn establish_leader(&mut self, turn: &mut Turn) {
        let committed = self.log.last_zxid();
        while let Some(txn) = self.log.next_to_apply(committed) {
            turn.committed(&txn);
            self.apply(turn, &txn);
        }
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        leading.established(turn.now, committed, &self.settings);
        self.led_from = Zxid::new(leading.epoch, 0);
        for (session, timeout) in self.tree.sessions() {
            leading.tracker.track(turn.now, session, timeout);
        }
        for (id, learner) in (0..).map(ServerId).zip(&mut leading.learners) {
            if learner.phase == LearnerPhase::InSync {
                learner.send(turn.out, id, turn.now, PeerBody::UpToDate { committed });
            }
        }
        self.start_serving(turn.now);
        turn.out.push(Output::BecameLeader);
        turn.out.push(Output::StartedServing);
    }
}
