//! The follower: it logs what the leader proposes, applies what the leader commits, and asks the leader for what its
//! clients want.

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::Zxid;

use super::messages::ServerId;
use super::quorum_messages::{PeerBody, PeerMessage, Pong};
use super::state::{Output, QuorumPeerConfig, Role, Server, Turn, later};
use super::txn::SharedTxn;

/// A leader that is not there yet is asked again after this long, in microseconds.
const RETRY: u64 = 100_000;
/// How often it is asked before another election.
const TRIES: u32 = 5;

/// What a follower keeps in memory.
#[derive(Clone, Debug)]
pub(super) struct Following {
    pub(super) leader: ServerId,
    pub(super) phase: FollowerPhase,
    pub(super) link: u32,
    pub(super) sent: u32,
    pub(super) received: u32,
    pub(super) last_heard: VirtualTime,
    /// When to look whether the leader has been silent for too long.
    watchdog: VirtualTime,
    /// When to ask again a leader that was not there yet, and how often it was not.
    pub(super) retry: VirtualTime,
    refusals: u32,
}

/// How far a follower has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FollowerPhase {
    /// It has asked to follow.
    Asking,
    /// It has accepted the epoch.
    Accepted,
    /// It logs what it lacks.
    Syncing,
    /// It serves.
    InSync,
}

impl Following {
    pub(super) fn new(
        leader: ServerId,
        link: u32,
        now: VirtualTime,
        settings: &QuorumPeerConfig,
    ) -> Self {
        Self {
            leader,
            phase: FollowerPhase::Asking,
            link,
            sent: 0,
            received: 0,
            last_heard: now,
            watchdog: later(now, u64::from(settings.init_limit) * settings.tick),
            retry: VirtualTime::NEVER,
            refusals: 0,
        }
    }

    /// One that is in sync from the start.
    pub(super) fn formed(leader: ServerId, link: u32, settings: &QuorumPeerConfig) -> Self {
        let mut following = Self::new(leader, link, VirtualTime::ZERO, settings);
        following.phase = FollowerPhase::InSync;
        following.set_watchdog(settings);
        following
    }

    #[inline]
    pub(super) fn next_wake(&self) -> VirtualTime {
        self.watchdog.min(self.retry)
    }

    /// How long the leader may be silent, in microseconds.
    fn patience(&self, settings: &QuorumPeerConfig) -> u64 {
        let ticks = match self.phase {
            FollowerPhase::Asking | FollowerPhase::Accepted | FollowerPhase::Syncing => {
                settings.init_limit
            }
            FollowerPhase::InSync => settings.sync_limit,
        };
        u64::from(ticks) * settings.tick
    }

    /// Looks at the leader's silence at the right time for this phase.
    pub(super) fn set_watchdog(&mut self, settings: &QuorumPeerConfig) {
        self.watchdog = later(self.last_heard, self.patience(settings));
    }
}

impl Server {
    /// Sends to the leader, in order.
    pub(super) fn send_to_leader(&mut self, turn: &mut Turn, body: PeerBody) {
        if let Role::Following(following) = &mut self.role {
            following.sent += 1;
            turn.out.push(Output::ToPeer {
                to: following.leader,
                message: PeerMessage {
                    link: following.link,
                    number: following.sent,
                    body,
                },
                at: turn.now,
            });
        }
    }

    /// Sends to the leader when our disk is done; what is sent meanwhile overtakes it.
    pub(super) fn send_to_leader_at(&mut self, turn: &mut Turn, at: VirtualTime, body: PeerBody) {
        if let Role::Following(following) = &self.role {
            turn.out.push(Output::ToPeer {
                to: following.leader,
                message: PeerMessage {
                    link: following.link,
                    number: 0,
                    body,
                },
                at: at.max(turn.now),
            });
        }
    }

    #[cold]
    pub(super) fn follower_timers(&mut self, turn: &mut Turn) {
        let Role::Following(following) = &mut self.role else {
            return;
        };
        if following.retry <= turn.now {
            following.retry = VirtualTime::NEVER;
            following.sent = 0;
            following.received = 0;
            let link = self.new_link();
            if let Role::Following(following) = &mut self.role {
                following.link = link;
            }
            let accepted_epoch = self.accepted_epoch;
            self.send_to_leader(turn, PeerBody::FollowerInfo { accepted_epoch });
        }
        let Role::Following(following) = &mut self.role else {
            return;
        };
        if following.watchdog <= turn.now {
            following.set_watchdog(&self.settings);
            if following.watchdog <= turn.now {
                self.look_for_leader(turn);
            }
        }
    }

    /// The leader's process has died, or it does not want us.
    #[cold]
    pub(super) fn leader_lost(&mut self, turn: &mut Turn) {
        self.look_for_leader(turn);
    }

    pub(super) fn peer_while_following(
        &mut self,
        turn: &mut Turn,
        from: ServerId,
        message: PeerMessage,
    ) {
        if let PeerBody::Vote(notification) = message.body {
            self.answer_vote(turn, from, *notification);
            return;
        }
        let Role::Following(following) = &mut self.role else {
            return;
        };
        if from != following.leader || message.link != following.link {
            // The sender takes us for the leader, or this is of a link that is closed.
            self.refuse_link(turn, from, &message);
            return;
        }
        if matches!(message.body, PeerBody::Hangup) {
            self.refused(turn);
            return;
        }
        if message.number != following.received + 1 {
            // Something got lost: the connection is broken.
            self.look_for_leader(turn);
            return;
        }
        following.received = message.number;
        following.last_heard = turn.now;
        self.process_leader_packet(turn, message.body);
    }

    fn process_leader_packet(&mut self, turn: &mut Turn, body: PeerBody) {
        match body {
            PeerBody::Proposal(txn) => self.log_proposal(turn, txn),
            PeerBody::Commit(zxid) => self.apply_up_to(turn, zxid),
            PeerBody::Inform(txn) => self.informed(turn, txn),
            PeerBody::Ping => {
                let logged = self.log.durable_zxid(turn.now);
                let touched = std::mem::take(&mut self.touched);
                self.touch_turn = self.touch_turn.wrapping_add(1);
                self.send_to_leader(turn, PeerBody::Pong(Box::new(Pong { logged, touched })));
            }
            PeerBody::Synced { session, .. } => self.synced(turn, session),
            PeerBody::Revalidated { connection, valid } => self.resumed(turn, connection, valid),
            PeerBody::LeaderInfo { epoch } => self.accept_epoch(turn, epoch),
            PeerBody::NewLeader(catchup) => self.catch_up(turn, *catchup),
            PeerBody::UpToDate { committed } => self.up_to_date(turn, committed),
            PeerBody::Hangup => self.refused(turn),
            // What followers say to leaders.
            PeerBody::FollowerInfo { .. }
            | PeerBody::AckEpoch { .. }
            | PeerBody::AckNewLeader { .. }
            | PeerBody::Ack(_)
            | PeerBody::Pong(_)
            | PeerBody::Forward(_)
            | PeerBody::Revalidate { .. }
            | PeerBody::Vote(_) => {}
        }
    }

    fn log_proposal(&mut self, turn: &mut Turn, txn: SharedTxn) {
        let zxid: Zxid = txn.zxid;
        if zxid <= self.log.last_zxid() {
            return;
        }
        let durable = self.log.append(turn.now, txn);
        self.send_to_leader_at(turn, durable, PeerBody::Ack(zxid));
    }

    /// A server that does not vote hears of what is committed, and acknowledges nothing.
    #[inline(never)]
    fn informed(&mut self, turn: &mut Turn, txn: SharedTxn) {
        let zxid = txn.zxid;
        if zxid > self.log.last_zxid() {
            self.log.append(turn.now, txn);
        }
        let serves = matches!(
            &self.role,
            Role::Following(following) if following.phase == FollowerPhase::InSync
        );
        // What comes before we are up to date is applied with what we lacked.
        if serves {
            self.apply_up_to(turn, zxid);
        }
    }

    /// The leader has hung up. One that was not leading yet is asked again.
    #[cold]
    fn refused(&mut self, turn: &mut Turn) {
        if let Role::Following(following) = &mut self.role
            && following.phase == FollowerPhase::Asking
            && following.refusals + 1 < TRIES
        {
            following.refusals += 1;
            following.retry = later(turn.now, RETRY);
            return;
        }
        self.leader_lost(turn);
    }
}
