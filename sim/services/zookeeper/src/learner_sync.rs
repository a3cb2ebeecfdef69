//! How a leader and its followers come together: a new epoch, what each lacks, and the word that a quorum follows.

use picklock_clients::zookeeper::Zxid;

use super::follower::FollowerPhase;
use super::leader::{LeaderPhase, Learner, LearnerPhase};
use super::log::TxnLog;
use super::messages::ServerId;
use super::quorum_messages::{Catchup, PeerBody, PeerMessage, Pong};
use super::state::{Output, Role, Server, Turn, later};
use super::tree::DataTree;

/// The leader's side.
impl Server {
    pub(super) fn peer_while_leading(
        &mut self,
        turn: &mut Turn,
        from: ServerId,
        message: PeerMessage,
    ) {
        if let PeerBody::Vote(notification) = message.body {
            self.answer_vote(turn, from, *notification);
            return;
        }
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let Some(learner) = leading.learner(from) else {
            return;
        };
        if let PeerBody::FollowerInfo { accepted_epoch } = message.body {
            learner.phase = LearnerPhase::Asking;
            learner.link = message.link;
            learner.sent = 0;
            learner.received = 0;
            learner.accepted_epoch = accepted_epoch;
        }
        if learner.phase == LearnerPhase::Away || learner.link != message.link {
            self.refuse_link(turn, from, &message);
            return;
        }
        if message.number != 0 {
            if message.number != learner.received + 1 {
                // Something got lost: the connection is broken.
                learner.send(turn.out, from, turn.now, PeerBody::Hangup);
                learner.phase = LearnerPhase::Away;
                return;
            }
            learner.received = message.number;
        }
        leading.note_contact(from);
        self.process_follower_packet(turn, from, message.body);
    }

    fn process_follower_packet(&mut self, turn: &mut Turn, from: ServerId, body: PeerBody) {
        match body {
            PeerBody::Ack(logged) => self.acked(turn, from, logged),
            PeerBody::Forward(forwarded) => self.submit(turn, from, *forwarded),
            PeerBody::Pong(pong) => {
                let Pong { logged, touched } = *pong;
                if let Role::Leading(leading) = &mut self.role {
                    for (session, timeout) in touched {
                        leading.tracker.touch(turn.now, session, timeout);
                    }
                }
                self.pong(turn, from, logged);
            }
            PeerBody::Revalidate {
                connection,
                session,
                timeout,
            } => {
                if let Role::Leading(leading) = &mut self.role {
                    let valid = leading.tracker.touch(turn.now, session, timeout);
                    if valid {
                        leading.tracker.set_owner(session, from);
                    }
                    if let Some(learner) = leading.learner(from) {
                        let body = PeerBody::Revalidated { connection, valid };
                        learner.send(turn.out, from, turn.now, body);
                    }
                }
            }
            PeerBody::FollowerInfo { .. } => self.on_follower_info(turn, from),
            PeerBody::AckEpoch {
                current_epoch,
                last_zxid,
                first,
                want_snapshot,
            } => {
                let theirs = (current_epoch, last_zxid);
                self.epoch_acked(turn, from, theirs, first, want_snapshot);
            }
            PeerBody::AckNewLeader { logged } => self.new_leader_acked(turn, from, logged),
            PeerBody::Hangup => {
                if let Role::Leading(leading) = &mut self.role {
                    leading.drop_learner(from);
                }
            }
            // What leaders say to followers.
            PeerBody::LeaderInfo { .. }
            | PeerBody::NewLeader(_)
            | PeerBody::UpToDate { .. }
            | PeerBody::Proposal(_)
            | PeerBody::Commit(_)
            | PeerBody::Inform(_)
            | PeerBody::Ping
            | PeerBody::Synced { .. }
            | PeerBody::Revalidated { .. }
            | PeerBody::Vote(_) => {}
        }
    }

    fn acked(&mut self, turn: &mut Turn, from: ServerId, logged: Zxid) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        // Before a follower is in sync, the end of its log says nothing about what is in it.
        if let Some(learner) = leading.learner(from)
            && learner.phase >= LearnerPhase::Syncing
        {
            learner.acked = learner.acked.max(logged);
        }
        if leading.is_established() {
            self.commit(turn);
        }
    }

    /// A follower says what it has logged. That it has caught up may have got lost before.
    fn pong(&mut self, turn: &mut Turn, from: ServerId, logged: Zxid) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let caught_up = leading.learner(from).is_some_and(|learner| {
            learner.phase == LearnerPhase::Syncing && learner.catchup_zxid <= logged
        });
        if caught_up {
            self.new_leader_acked(turn, from, logged);
        } else {
            self.acked(turn, from, logged);
        }
    }

    /// A server wants to follow. A quorum of them makes a new epoch.
    fn on_follower_info(&mut self, turn: &mut Turn, from: ServerId) {
        let quorum = self.settings.quorum();
        let own_epoch = self.accepted_epoch;
        let last_zxid = self.log.last_zxid();
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        if leading.phase != LeaderPhase::Discovering {
            let epoch = leading.epoch;
            if let Some(learner) = leading.learner(from) {
                learner.send(turn.out, from, turn.now, PeerBody::LeaderInfo { epoch });
            }
            return;
        }
        let asking = |phase| phase >= LearnerPhase::Asking;
        let here = |learners: &[Learner]| -> usize {
            learners.iter().filter(|one| asking(one.phase)).count()
        };
        if here(leading.voters()) + 1 < quorum {
            return;
        }
        let here = leading.learners.iter().filter(|one| asking(one.phase));
        let newest = here.map(|one| one.accepted_epoch).max().unwrap_or(0);
        let epoch = newest.max(own_epoch) + 1;
        leading.begin_epoch(epoch, last_zxid);
        leading.phase = LeaderPhase::Proposing;
        self.accepted_epoch = epoch;
        for (id, learner) in (0..).map(ServerId).zip(&mut leading.learners) {
            if asking(learner.phase) {
                learner.send(turn.out, id, turn.now, PeerBody::LeaderInfo { epoch });
            }
        }
    }

    /// A server has accepted the epoch.
    fn epoch_acked(
        &mut self,
        turn: &mut Turn,
        from: ServerId,
        theirs: (u32, Zxid),
        first: bool,
        want_snapshot: bool,
    ) {
        let ours = (self.current_epoch, self.log.last_zxid());
        let quorum = self.settings.quorum();
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let proposing = leading.phase == LeaderPhase::Proposing;
        if proposing && first && theirs > ours {
            // We are not the one to lead: it has what we lack.
            self.look_for_leader(turn);
            return;
        }
        if let Some(learner) = leading.learner(from) {
            learner.phase = LearnerPhase::Accepted;
            learner.accepted |= first;
            learner.last_zxid = theirs.1;
            learner.want_snapshot = want_snapshot;
        }
        let accepted = leading.voters().iter().filter(|one| one.accepted).count() + 1;
        if proposing && accepted >= quorum {
            leading.phase = LeaderPhase::Syncing;
            self.current_epoch = leading.epoch;
        }
        if leading.phase >= LeaderPhase::Syncing {
            leading.catch_up_all(turn, &self.log, &self.tree);
        }
    }

    fn new_leader_acked(&mut self, turn: &mut Turn, from: ServerId, logged: Zxid) {
        let quorum = self.settings.quorum();
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let committed = leading.committed;
        let established = leading.is_established();
        if let Some(learner) = leading.learner(from) {
            learner.phase = LearnerPhase::InSync;
            if established {
                learner.send(turn.out, from, turn.now, PeerBody::UpToDate { committed });
            }
        }
        self.acked(turn, from, logged);
        if !established
            && matches!(&self.role, Role::Leading(leading) if leading.in_sync() >= quorum)
        {
            self.establish_leader(turn);
        }
    }
}

impl super::leader::Leading {
    /// Sends all learners that have accepted the epoch what they lack.
    fn catch_up_all(&mut self, turn: &mut Turn, log: &TxnLog, tree: &DataTree) {
        let epoch = self.epoch;
        let (voters, log_end) = (self.voters().len(), log.last_zxid());
        // Observers get no proposal that is not agreed on.
        let agreed = if self.is_established() {
            self.committed
        } else {
            log_end
        };
        for (id, learner) in (0..).map(ServerId).zip(&mut self.learners) {
            if learner.phase == LearnerPhase::Accepted {
                learner.phase = LearnerPhase::Syncing;
                let known = log
                    .newest_up_to(learner.last_zxid)
                    .filter(|_| !learner.want_snapshot);
                let from = known.unwrap_or(tree.last_zxid());
                let votes = usize::from(id.0) < voters;
                let until = if votes { log_end } else { agreed };
                let catchup = Catchup {
                    epoch,
                    snapshot: known.is_none().then(|| tree.clone()),
                    truncate_after: from,
                    txns: log
                        .after(from)
                        .take_while(|txn| txn.zxid <= until)
                        .cloned()
                        .collect(),
                };
                learner.catchup_zxid = until;
                let body = PeerBody::NewLeader(Box::new(catchup));
                learner.send(turn.out, id, turn.now, body);
            }
        }
    }
}

/// The follower's side.
impl Server {
    /// The leader has told its epoch.
    pub(super) fn accept_epoch(&mut self, turn: &mut Turn, epoch: u32) {
        let Role::Following(following) = &mut self.role else {
            return;
        };
        if epoch < self.accepted_epoch {
            // We have promised ourselves to another leader, which came to nothing. As long as this one leads we stay
            // outside.
            following.retry = later(turn.now, self.settings.tick);
            return;
        }
        following.phase = FollowerPhase::Accepted;
        // An epoch is accepted once: two that claim the same must not both get a quorum.
        let first = epoch > self.accepted_epoch;
        self.accepted_epoch = epoch;
        let body = PeerBody::AckEpoch {
            current_epoch: self.current_epoch,
            last_zxid: self.log.last_zxid(),
            first,
            want_snapshot: self.want_snapshot,
        };
        self.send_to_leader(turn, body);
    }

    /// The leader has told what we lack. It is logged, and applied only when a quorum has it.
    #[cold]
    pub(super) fn catch_up(&mut self, turn: &mut Turn, catchup: Catchup) {
        let from = catchup.truncate_after;
        match catchup.snapshot {
            Some(tree) => {
                self.tree = tree;
                self.log.restart_after(from);
            }
            None => {
                self.log.truncate_after(from);
                if self.log.last_zxid() != from {
                    self.want_snapshot = true;
                    self.look_for_leader(turn);
                    return;
                }
            }
        }
        self.want_snapshot = false;
        self.current_epoch = catchup.epoch;
        for txn in catchup.txns {
            self.log.append(turn.now, txn);
        }
        if let Role::Following(following) = &mut self.role {
            following.phase = FollowerPhase::Syncing;
        }
        let logged = self.log.last_zxid();
        let durable = self.log.all_durable();
        self.send_to_leader_at(turn, durable, PeerBody::AckNewLeader { logged });
    }

    /// A quorum follows the leader, and we are one of it.
    pub(super) fn up_to_date(&mut self, turn: &mut Turn, committed: Zxid) {
        self.apply_up_to(turn, committed);
        if let Role::Following(following) = &mut self.role {
            following.phase = FollowerPhase::InSync;
            following.set_watchdog(&self.settings);
            self.start_serving(turn.now);
            turn.out.push(Output::StartedServing);
        }
    }
}
