//! The leader: its learners, its proposals in flight, and the expiry of sessions.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{SessionId, Zxid};
use picklock_machines::Chance;

use super::messages::{ServerId, Xid};
use super::prep_request_processor::Prep;
use super::quorum_messages::{PeerBody, PeerMessage};
use super::session_tracker::SessionTracker;
use super::state::{Output, QuorumPeerConfig, Role, Server, Turn, later};
use super::txn::SharedTxn;

/// What a leader keeps in memory.
#[derive(Clone, Debug)]
pub(super) struct Leading {
    pub(super) phase: LeaderPhase,
    pub(super) epoch: u32,
    /// The number of the last transaction of the epoch.
    pub(super) counter: u32,
    /// By server: first those that vote, ourselves among them, and then those that do not.
    pub(super) learners: Vec<Learner>,
    /// How many servers vote.
    voters: usize,
    pub(super) tracker: SessionTracker,
    pub(super) prep: Prep,
    /// Proposed and not committed, oldest first.
    pub(super) outstanding: VecDeque<Proposal>,
    pub(super) committed: Zxid,
    /// Syncs that wait for a proposal, oldest first.
    pub(super) syncs: VecDeque<WaitingSync>,
    next_ping: VirtualTime,
    /// When nodes that go by themselves are looked for.
    pub(super) next_reaping: VirtualTime,
    /// Half ticks of leading.
    half_ticks: u32,
    /// When to give up if no quorum follows yet.
    deadline: VirtualTime,
}

/// How far a leader has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeaderPhase {
    /// It learns from a quorum which epoch is new.
    Discovering,
    /// It waits for a quorum to accept the epoch.
    Proposing,
    /// It waits for a quorum to log what it has.
    Syncing,
    /// A quorum follows.
    Established,
}

/// What was proposed and is not committed yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub(super) zxid: Zxid,
    /// When it is safe on the leader's own disk.
    pub(super) durable: VirtualTime,
}

/// A sync that waits for a proposal to be committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingSync {
    pub(super) after: Zxid,
    pub(super) through: ServerId,
    pub(super) session: SessionId,
    pub(super) xid: Xid,
}

/// A follower as its leader knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Learner {
    pub(super) phase: LearnerPhase,
    pub(super) link: u32,
    pub(super) sent: u32,
    pub(super) received: u32,
    /// The tick of leading in which it was heard last.
    heard: u32,
    /// Everything up to this is logged there.
    pub(super) acked: Zxid,
    pub(super) accepted_epoch: u32,
    /// It has accepted our epoch, and no other's of the same number.
    pub(super) accepted: bool,
    pub(super) last_zxid: Zxid,
    /// The last transaction of what it was sent to catch up.
    pub(super) catchup_zxid: Zxid,
    pub(super) want_snapshot: bool,
}

/// How far a follower has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LearnerPhase {
    /// It is not here.
    #[default]
    Away,
    /// It has asked to follow.
    Asking,
    /// It has accepted the epoch.
    Accepted,
    /// It was sent what it lacks, and gets proposals and commits from there on.
    Syncing,
    /// It has logged what it lacked.
    InSync,
}

impl Learner {
    /// Sends to this follower.
    pub(super) fn send(
        &mut self,
        out: &mut Vec<Output>,
        to: ServerId,
        now: VirtualTime,
        body: PeerBody,
    ) {
        self.sent += 1;
        out.push(Output::ToPeer {
            to,
            message: PeerMessage {
                link: self.link,
                number: self.sent,
                body,
            },
            at: now,
        });
    }
}

impl Leading {
    pub(super) fn new(now: VirtualTime, settings: &QuorumPeerConfig, last_zxid: Zxid) -> Self {
        Self {
            phase: LeaderPhase::Discovering,
            epoch: 0,
            counter: 0,
            learners: vec![Learner::default(); usize::from(settings.machines())],
            voters: usize::from(settings.servers),
            tracker: SessionTracker::new(settings.tick),
            prep: Prep::default(),
            outstanding: VecDeque::new(),
            committed: last_zxid,
            syncs: VecDeque::new(),
            next_ping: later(now, settings.tick / 2),
            next_reaping: later(now, settings.reap_interval),
            half_ticks: 0,
            deadline: later(now, u64::from(settings.init_limit) * settings.tick),
        }
    }

    /// Begins an epoch, or goes on with it if the newest transaction is of it.
    pub(super) fn begin_epoch(&mut self, epoch: u32, last_zxid: Zxid) {
        self.epoch = epoch;
        self.counter = if last_zxid.epoch() == epoch {
            last_zxid.counter()
        } else {
            0
        };
    }

    /// A quorum follows, up to this transaction.
    pub(super) fn established(
        &mut self,
        now: VirtualTime,
        committed: Zxid,
        settings: &QuorumPeerConfig,
    ) {
        self.phase = LeaderPhase::Established;
        self.committed = committed;
        self.next_ping = later(now, settings.tick / 2);
        self.next_reaping = later(now, settings.reap_interval);
        self.half_ticks = 0;
        for learner in &mut self.learners {
            learner.heard = 0;
        }
    }

    pub(super) fn is_established(&self) -> bool {
        self.phase == LeaderPhase::Established
    }

    pub(super) fn keeps_alive(&self, session: SessionId) -> bool {
        self.tracker
            .get(session)
            .is_some_and(|tracked| !tracked.closing)
    }

    pub(super) fn next_wake(&self, settings: &QuorumPeerConfig) -> VirtualTime {
        if !self.is_established() {
            return self.deadline;
        }
        let mut wake = self.tracker.next_due();
        if settings.machines() > 1 {
            wake = wake.min(self.next_ping);
        }
        // Our own disk matters only if it is all that a quorum lacks.
        if let Some(front) = self.outstanding.front()
            && self.have(front.zxid, 1, settings.quorum())
        {
            wake = wake.min(front.durable);
        }
        wake
    }

    /// Those who vote, ourselves among them.
    pub(super) fn voters(&self) -> &[Learner] {
        &self.learners[..self.voters]
    }

    /// Whether so many have logged everything up to this: `own` of ourselves, and the followers.
    #[inline]
    fn have(&self, zxid: Zxid, own: usize, quorum: usize) -> bool {
        let acked = |learner: &&Learner| learner.acked >= zxid;
        own >= quorum || self.voters().iter().filter(acked).count() + own >= quorum
    }

    /// Takes the oldest proposal if a quorum has it.
    #[inline]
    pub(super) fn next_committed(&mut self, now: VirtualTime, quorum: usize) -> Option<Zxid> {
        let Proposal { zxid, durable } = *self.outstanding.front()?;
        let own = usize::from(durable <= now);
        if !self.have(zxid, own, quorum) {
            return None;
        }
        self.outstanding.pop_front();
        Some(zxid)
    }

    /// A transaction is committed. A fault that waits for this moment strikes before any server or client hears of it.
    #[inline(always)]
    pub(super) fn broadcast_commit(&mut self, turn: &mut Turn, txn: &SharedTxn) {
        let zxid = txn.zxid;
        turn.committed(txn);
        self.send_voters(turn, || PeerBody::Commit(zxid));
        self.inform(turn, txn);
        self.prep.applied(txn);
    }

    /// Sends to every server that was sent what it lacked.
    fn send_all(&mut self, turn: &mut Turn, body: impl Fn() -> PeerBody) {
        send_to(0, &mut self.learners, turn, body);
    }

    /// Sends to every one of them that votes.
    pub(super) fn send_voters(&mut self, turn: &mut Turn, body: impl Fn() -> PeerBody) {
        send_to(0, &mut self.learners[..self.voters], turn, body);
    }

    /// Tells those that do not vote what is committed.
    pub(super) fn inform(&mut self, turn: &mut Turn, txn: &SharedTxn) {
        let observers = &mut self.learners[self.voters..];
        send_to(self.voters as u8, observers, turn, || {
            PeerBody::Inform(Rc::clone(txn))
        });
    }

    pub(super) fn learner(&mut self, id: ServerId) -> Option<&mut Learner> {
        self.learners.get_mut(usize::from(id.0))
    }

    /// Notes that a message of a follower has come: it is in contact for another sync limit.
    pub(super) fn note_contact(&mut self, id: ServerId) {
        let tick = self.half_ticks / 2;
        if let Some(learner) = self.learner(id) {
            learner.heard = tick;
        }
    }

    /// A follower is gone.
    pub(super) fn drop_learner(&mut self, id: ServerId) {
        if let Some(learner) = self.learner(id) {
            learner.phase = LearnerPhase::Away;
        }
    }

    /// How many servers that vote are in sync, with ourselves.
    pub(super) fn in_sync(&self) -> usize {
        1 + self
            .voters()
            .iter()
            .filter(|learner| learner.phase == LearnerPhase::InSync)
            .count()
    }
}

impl Server {
    pub(super) fn leader_timers(&mut self, turn: &mut Turn) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        if !leading.is_established() {
            if leading.deadline <= turn.now {
                self.look_for_leader(turn);
            }
            return;
        }
        self.commit(turn);
        self.expire_sessions(turn);
        self.reap(turn);
        self.ping_followers(turn);
    }

    fn expire_sessions(&mut self, turn: &mut Turn) {
        loop {
            let Role::Leading(leading) = &mut self.role else {
                return;
            };
            let Some(mut dead) = leading.tracker.expire(turn.now) else {
                return;
            };
            shuffle(&mut dead, turn.chance);
            for session in dead {
                turn.out.push(Output::SessionExpired { session });
                self.propose_close(turn, session, None);
            }
        }
    }

    pub(super) fn expire_now(&mut self, turn: &mut Turn, session: SessionId) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        if leading.is_established() && leading.tracker.mark_closing(session) {
            turn.out.push(Output::SessionExpired { session });
            self.propose_close(turn, session, None);
        }
    }

    fn ping_followers(&mut self, turn: &mut Turn) {
        let half = self.settings.tick / 2;
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        if self.settings.machines() == 1 || leading.next_ping > turn.now {
            return;
        }
        // A leader that stood still for long does not catch up on pings.
        let late = turn.now.since(leading.next_ping).as_micros() as u64;
        leading.next_ping = later(leading.next_ping, (late / half + 1) * half);
        leading.half_ticks += 1;
        if leading.half_ticks.is_multiple_of(2) {
            let oldest = (leading.half_ticks / 2).saturating_sub(self.settings.sync_limit);
            for (id, learner) in (0..).zip(&mut leading.learners) {
                if learner.phase != LearnerPhase::Away && learner.heard < oldest {
                    learner.send(turn.out, ServerId(id), turn.now, PeerBody::Hangup);
                    learner.phase = LearnerPhase::Away;
                }
            }
            if leading.in_sync() < self.settings.quorum() {
                self.look_for_leader(turn);
                return;
            }
        }
        leading.send_all(turn, || PeerBody::Ping);
    }
}

/// Sends to those of them that were sent what they lacked; the first has this number.
fn send_to(first: u8, learners: &mut [Learner], turn: &mut Turn, body: impl Fn() -> PeerBody) {
    for (id, learner) in (first..).zip(learners) {
        if learner.phase >= LearnerPhase::Syncing {
            learner.send(turn.out, ServerId(id), turn.now, body());
        }
    }
}

/// Puts a sorted list into an order that chance chooses; the boring choice leaves it sorted.
pub(super) fn shuffle<T>(list: &mut [T], chance: &mut dyn Chance) {
    for index in 0..list.len() {
        let options = (list.len() - index) as u32;
        if options > 1 {
            let chosen = index + chance.choose(options) as usize;
            list[index..=chosen].rotate_right(1);
        }
    }
}
