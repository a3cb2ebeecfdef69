//! The leader: requests become proposals, proposals that a quorum has logged are committed, sessions expire.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{Path, Request, SessionId, Zxid};
use picklock_checker::VirtualTime;

use super::messages::{ServerId, Xid};
use super::peer::{Forwarded, PeerBody, PeerMessage, Submission};
use super::prep::{Check, Prep};
use super::sessions::SessionTracker;
use super::state::{Output, Role, Server, Settings, Turn, WALL_CLOCK_AT_START, later};
use super::txn::{SharedTxn, Txn, TxnChange};
use crate::chance::Chance;

/// What a leader keeps in memory.
#[derive(Clone, Debug)]
pub(super) struct Leading {
    pub(super) phase: LeaderPhase,
    pub(super) epoch: u32,
    /// The number of the last transaction of the epoch.
    counter: u32,
    /// By server.
    pub(super) learners: Vec<Learner>,
    pub(super) tracker: SessionTracker,
    prep: Prep,
    /// Proposed and not committed, oldest first.
    outstanding: VecDeque<Proposal>,
    pub(super) committed: Zxid,
    /// Syncs that wait for a proposal, oldest first.
    syncs: VecDeque<WaitingSync>,
    next_ping: VirtualTime,
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

#[derive(Clone, Debug)]
struct Proposal {
    txn: SharedTxn,
    /// When it is safe on the leader's own disk.
    durable: VirtualTime,
}

#[derive(Clone, Copy, Debug)]
struct WaitingSync {
    after: Zxid,
    through: ServerId,
    session: SessionId,
    xid: Xid,
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
    pub(super) fn new(now: VirtualTime, settings: &Settings, last_zxid: Zxid) -> Self {
        Self {
            phase: LeaderPhase::Discovering,
            epoch: 0,
            counter: 0,
            learners: vec![Learner::default(); usize::from(settings.servers)],
            tracker: SessionTracker::new(settings.tick),
            prep: Prep::default(),
            outstanding: VecDeque::new(),
            committed: last_zxid,
            syncs: VecDeque::new(),
            next_ping: later(now, settings.tick / 2),
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
    pub(super) fn established(&mut self, now: VirtualTime, committed: Zxid, settings: &Settings) {
        self.phase = LeaderPhase::Established;
        self.committed = committed;
        self.next_ping = later(now, settings.tick / 2);
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

    pub(super) fn next_wake(&self, settings: &Settings) -> VirtualTime {
        if !self.is_established() {
            return self.deadline;
        }
        let mut wake = self.tracker.next_due();
        if settings.servers > 1 {
            wake = wake.min(self.next_ping);
        }
        // Our own disk matters only if it is all that a quorum lacks.
        if let Some(front) = self.outstanding.front()
            && self.acks(front.txn.zxid) + 1 >= settings.quorum()
        {
            wake = wake.min(front.durable);
        }
        wake
    }

    /// How many followers have logged everything up to this.
    fn acks(&self, zxid: Zxid) -> usize {
        self.learners
            .iter()
            .filter(|learner| learner.acked >= zxid)
            .count()
    }

    /// Takes the oldest proposal if a quorum has it.
    fn next_committed(&mut self, now: VirtualTime, quorum: usize) -> Option<SharedTxn> {
        let front = self.outstanding.front()?;
        let own = usize::from(front.durable <= now);
        if self.acks(front.txn.zxid) + own < quorum {
            return None;
        }
        self.outstanding.pop_front().map(|proposal| proposal.txn)
    }

    /// Sends to every follower that gets proposals.
    fn send_all(&mut self, turn: &mut Turn, body: impl Fn() -> PeerBody) {
        for (id, learner) in (0..).zip(&mut self.learners) {
            if learner.phase >= LearnerPhase::Syncing {
                learner.send(turn.out, ServerId(id), turn.now, body());
            }
        }
    }

    pub(super) fn learner(&mut self, id: ServerId) -> Option<&mut Learner> {
        self.learners.get_mut(usize::from(id.0))
    }

    /// Notes that a follower was heard.
    pub(super) fn hear(&mut self, id: ServerId) {
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

    /// How many servers are in sync, with ourselves.
    pub(super) fn in_sync(&self) -> usize {
        1 + self
            .learners
            .iter()
            .filter(|learner| learner.phase == LearnerPhase::InSync)
            .count()
    }
}

impl Server {
    /// A request for the leader has come, from a follower or from our own clients.
    pub(super) fn submit(&mut self, turn: &mut Turn, through: ServerId, forwarded: Forwarded) {
        let Forwarded { session, xid, what } = forwarded;
        match what {
            Submission::Write(request) => self.submit_write(turn, through, session, xid, request),
            Submission::Open { timeout } => {
                if let Role::Leading(leading) = &mut self.role {
                    leading.tracker.track(turn.now, session, timeout);
                    leading.tracker.set_owner(session, through);
                }
                let change = TxnChange::CreateSession { timeout };
                self.propose(turn, session, None, change);
            }
            Submission::Close => {
                if let Role::Leading(leading) = &mut self.role {
                    leading.tracker.mark_closing(session);
                }
                self.propose_close(turn, session, Some(xid));
            }
            Submission::Sync => self.submit_sync(turn, through, session, xid),
        }
    }

    fn submit_write(
        &mut self,
        turn: &mut Turn,
        through: ServerId,
        session: SessionId,
        xid: Xid,
        request: Request,
    ) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let kind = request.kind();
        let zxid = Zxid::new(leading.epoch, leading.counter + 1);
        let change = match leading.tracker.check(session, through) {
            Err(error) => TxnChange::Error(error),
            Ok(tracked) => {
                let mut check = Check {
                    prep: &mut leading.prep,
                    tree: &self.tree,
                    zxid,
                    session,
                };
                let change = check.request(request).unwrap_or_else(TxnChange::Error);
                note_ephemerals(&change, &mut |path| {
                    tracked.creates(Rc::clone(path), zxid, leading.committed);
                });
                change
            }
        };
        turn.out.push(Output::Proposed {
            session,
            xid: Some(xid),
            kind,
        });
        self.propose(turn, session, Some(xid), change);
    }

    fn submit_sync(&mut self, turn: &mut Turn, through: ServerId, session: SessionId, xid: Xid) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        match leading.outstanding.back() {
            Some(last) => {
                let after = last.txn.zxid;
                leading.syncs.push_back(WaitingSync {
                    after,
                    through,
                    session,
                    xid,
                });
            }
            None => leading.answer_sync(turn, through, session, xid),
        }
    }

    /// Proposes the end of a session that is marked as closing.
    fn propose_close(&mut self, turn: &mut Turn, session: SessionId, xid: Option<Xid>) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let zxid = Zxid::new(leading.epoch, leading.counter + 1);
        let mut check = Check {
            prep: &mut leading.prep,
            tree: &self.tree,
            zxid,
            session,
        };
        let creating = match leading.tracker.get(session) {
            Some(tracked) => tracked.creating(),
            None => &[],
        };
        let mut paths = check.close(creating);
        shuffle(&mut paths, turn.chance);
        self.propose(turn, session, xid, TxnChange::CloseSession { paths });
    }

    /// Gives a transaction its place in the order, logs it, and has the others log it.
    fn propose(
        &mut self,
        turn: &mut Turn,
        session: SessionId,
        xid: Option<Xid>,
        change: TxnChange,
    ) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        leading.counter += 1;
        let txn = Rc::new(Txn {
            zxid: Zxid::new(leading.epoch, leading.counter),
            time: WALL_CLOCK_AT_START + (turn.now.micros() / 1_000) as i64,
            session: Some(session),
            xid,
            change,
        });
        let durable = self.log.append(turn.now, Rc::clone(&txn));
        leading.send_all(turn, || PeerBody::Proposal(Rc::clone(&txn)));
        leading.outstanding.push_back(Proposal { txn, durable });
        if leading.counter == u32::MAX {
            // The epoch has no numbers left.
            self.look(turn);
        } else if durable <= turn.now {
            self.commit(turn);
        }
    }

    /// Commits what a quorum has logged.
    pub(super) fn commit(&mut self, turn: &mut Turn) {
        let quorum = self.settings.quorum();
        loop {
            let Role::Leading(leading) = &mut self.role else {
                return;
            };
            let Some(txn) = leading.next_committed(turn.now, quorum) else {
                return;
            };
            let zxid = txn.zxid;
            leading.committed = zxid;
            leading.send_all(turn, || PeerBody::Commit(zxid));
            turn.out.push(Output::Committed(Rc::clone(&txn)));
            leading.prep.applied(&txn);
            self.apply_up_to(turn, zxid);
            self.answer_syncs(turn, zxid);
        }
    }

    fn answer_syncs(&mut self, turn: &mut Turn, committed: Zxid) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        while let Some(sync) = leading.syncs.pop_front_if(|sync| sync.after <= committed) {
            leading.answer_sync(turn, sync.through, sync.session, sync.xid);
        }
    }

    pub(super) fn leader_timers(&mut self, turn: &mut Turn) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        if !leading.is_established() {
            if leading.deadline <= turn.now {
                self.look(turn);
            }
            return;
        }
        self.commit(turn);
        self.expire_sessions(turn);
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
        if self.settings.servers == 1 || leading.next_ping > turn.now {
            return;
        }
        // Who was away for long does not catch up on pings.
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
                self.look(turn);
                return;
            }
        }
        leading.send_all(turn, || PeerBody::Ping);
    }
}

impl Leading {
    fn answer_sync(&mut self, turn: &mut Turn, through: ServerId, session: SessionId, xid: Xid) {
        if let Some(learner) = self.learner(through)
            && learner.phase >= LearnerPhase::Syncing
        {
            let body = PeerBody::Synced { session, xid };
            learner.send(turn.out, through, turn.now, body);
        }
    }
}

/// Names every ephemeral node that a transaction makes.
fn note_ephemerals(change: &TxnChange, note: &mut impl FnMut(&Path)) {
    match change {
        TxnChange::Create(made) if made.owner != SessionId(0) => note(&made.path),
        TxnChange::Multi(changes) => {
            for change in changes {
                note_ephemerals(change, note);
            }
        }
        TxnChange::Create(_)
        | TxnChange::Delete { .. }
        | TxnChange::SetData { .. }
        | TxnChange::CreateSession { .. }
        | TxnChange::CloseSession { .. }
        | TxnChange::Check
        | TxnChange::Error(_) => {}
    }
}

/// Puts a sorted list into an order that chance chooses; the boring choice leaves it sorted.
fn shuffle<T>(list: &mut [T], chance: &mut dyn Chance) {
    for place in 0..list.len() {
        let options = (list.len() - place) as u32;
        if options > 1 {
            let chosen = place + chance.choose(options) as usize;
            list[place..=chosen].rotate_right(1);
        }
    }
}
