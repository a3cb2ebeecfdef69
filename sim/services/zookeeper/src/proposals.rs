//! The leader's work: requests become proposals, and proposals that a quorum has logged are committed.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{MultiFailed, Path, Request, SessionId, ZkError, Zxid};

use super::acl::Identities;
use super::leader::{Leading, LearnerPhase, Proposal, WaitingSync, shuffle};
use super::messages::{ServerId, Xid};
use super::prep_request_processor::{Check, refused_to_all};
use super::quorum_messages::{Forwarded, PeerBody, Submission};
use super::state::{Output, Role, Server, Turn, WALL_CLOCK_AT_START, later};
use super::txn::{Txn, TxnChange};

/// The client that wants to write.
pub(super) struct Writer {
    pub(super) session: SessionId,
    pub(super) who: Identities,
    /// The server that it has asked.
    pub(super) through: ServerId,
    /// Where the tracker was last seen to keep the session.
    pub(super) tracked: u32,
}

impl Server {
    /// A request for the leader has come, from a follower or from our own clients.
    pub(super) fn submit(&mut self, turn: &mut Turn, through: ServerId, forwarded: Forwarded) {
        let Forwarded { session, xid, what } = forwarded;
        match what {
            Submission::Write(request, who) => {
                let by = Writer {
                    session,
                    who,
                    through,
                    tracked: 0,
                };
                self.submit_write(turn, by, xid, &request);
            }
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

    /// Whether proposals are reported to the world from now on. A new server reports them.
    pub fn report_proposals(&mut self, says: bool) {
        self.reports_proposals = says;
    }

    pub(super) fn submit_write(
        &mut self,
        turn: &mut Turn,
        mut by: Writer,
        xid: Xid,
        request: &Request,
    ) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let session = by.session;
        let zxid = Zxid::new(leading.epoch, leading.counter + 1);
        let tracker = &mut leading.tracker;
        let change = match tracker.check_at(&mut by.tracked, session, by.through) {
            Err(error) => {
                let before = refused_to_all(request, self.settings.extended_types).err();
                refusal(request, before.unwrap_or(error))
            }
            Ok(tracked) => {
                let mut check = Check {
                    prep: &mut leading.prep,
                    tree: &self.tree,
                    zxid,
                    session,
                    who: by.who,
                    enforce_quota: self.settings.enforce_quota,
                    extended_types: self.settings.extended_types,
                };
                let change = check.request(request).unwrap_or_else(TxnChange::Error);
                note_ephemerals(&change, &mut |path| {
                    tracked.creates(Rc::clone(path), zxid, leading.committed);
                });
                change
            }
        };
        if self.reports_proposals {
            turn.out.push(Output::Proposed {
                session,
                xid: Some(xid),
                kind: request.kind(),
            });
        }
        self.propose(turn, session, Some(xid), change);
    }

    #[inline(never)]
    fn submit_sync(&mut self, turn: &mut Turn, through: ServerId, session: SessionId, xid: Xid) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        match leading.outstanding.back() {
            Some(last) => {
                let after = last.zxid;
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
    #[cold]
    pub(super) fn propose_close(&mut self, turn: &mut Turn, session: SessionId, xid: Option<Xid>) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        let zxid = Zxid::new(leading.epoch, leading.counter + 1);
        let mut check = Check {
            prep: &mut leading.prep,
            tree: &self.tree,
            zxid,
            session,
            who: Identities::default(),
            enforce_quota: false,
            extended_types: true,
        };
        let creating = match leading.tracker.get(session) {
            Some(tracked) => tracked.creating(),
            None => &[],
        };
        let mut paths = check.close(creating);
        shuffle(&mut paths, turn.chance);
        self.propose(turn, session, xid, TxnChange::CloseSession { paths });
    }

    /// Deletes the nodes that go by themselves and are due. If there are none, there was no look either.
    #[cold]
    pub(super) fn reap(&mut self, turn: &mut Turn) {
        let interval = self.settings.reap_interval;
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        if leading.next_reaping > turn.now || !self.tree.has_reaped() {
            return;
        }
        let late = turn.now.since(leading.next_reaping).as_micros() as u64;
        leading.next_reaping = later(leading.next_reaping, (late / interval + 1) * interval);
        for path in self.tree.overdue(wall_clock(turn.now)) {
            let Role::Leading(leading) = &mut self.role else {
                return;
            };
            let mut check = Check {
                prep: &mut leading.prep,
                tree: &self.tree,
                zxid: Zxid::new(leading.epoch, leading.counter + 1),
                session: SessionId(0),
                who: Identities::default(),
                enforce_quota: false,
                extended_types: true,
            };
            let change = check.reap(path).unwrap_or_else(TxnChange::Error);
            self.propose(turn, SessionId(0), None, change);
        }
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
        if leading.counter + 1 == u32::MAX && self.settings.machines() > 1 {
            // The epoch has no numbers left. What was asked for is lost.
            self.look_for_leader(turn);
            return;
        }
        leading.counter += 1;
        let zxid = Zxid::new(leading.epoch, leading.counter);
        let txn = Rc::new(Txn {
            zxid,
            time: wall_clock(turn.now),
            session: Some(session),
            xid,
            change,
        });
        leading.send_voters(turn, || PeerBody::Proposal(Rc::clone(&txn)));
        let durable = self.log.append(turn.now, txn);
        leading.outstanding.push_back(Proposal { zxid, durable });
        if durable <= turn.now {
            self.commit(turn);
        }
    }

    /// Commits what a quorum has logged.
    pub(super) fn commit(&mut self, turn: &mut Turn) {
        let quorum = self.settings.quorum();
        while let Role::Leading(leading) = &mut self.role
            && let Some(zxid) = leading.next_committed(turn.now, quorum)
        {
            leading.committed = zxid;
            while let Some(txn) = self.log.next_to_apply(zxid) {
                if txn.zxid == zxid
                    && let Role::Leading(leading) = &mut self.role
                {
                    leading.broadcast_commit(turn, &txn);
                }
                self.apply(turn, &txn);
            }
            self.answer_syncs(turn, zxid);
        }
    }

    fn answer_syncs(&mut self, turn: &mut Turn, committed: Zxid) {
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        while let Some(sync) = leading.next_sync(committed) {
            leading.answer_sync(turn, sync.through, sync.session, sync.xid);
        }
    }
}

impl Leading {
    /// Takes the oldest waiting sync if what it waits for is committed.
    fn next_sync(&mut self, committed: Zxid) -> Option<WaitingSync> {
        if self.syncs.front()?.after > committed {
            return None;
        }
        self.syncs.pop_front()
    }

    fn answer_sync(&mut self, turn: &mut Turn, through: ServerId, session: SessionId, xid: Xid) {
        if let Some(learner) = self.learner(through)
            && learner.phase >= LearnerPhase::Syncing
        {
            let body = PeerBody::Synced { session, xid };
            learner.send(turn.out, through, turn.now, body);
        }
    }
}

/// What becomes of a request of a session that may not ask. Each operation of a multi is refused by itself, so one
/// that has none is done.
fn refusal(request: &Request, error: ZkError) -> TxnChange {
    match request {
        Request::Multi(ops) if ops.is_empty() => TxnChange::Multi(Vec::new()),
        Request::Multi(ops) => TxnChange::MultiFailed(MultiFailed {
            parts: ops.len() as u32,
            place: 0,
            error,
        }),
        _ => TxnChange::Error(error),
    }
}

/// The leader's wall clock, in milliseconds since the Unix epoch.
fn wall_clock(now: VirtualTime) -> i64 {
    WALL_CLOCK_AT_START + (now.micros() / 1_000) as i64
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
        | TxnChange::SetAcl { .. }
        | TxnChange::MultiFailed(_)
        | TxnChange::CreateSession { .. }
        | TxnChange::CloseSession { .. }
        | TxnChange::Check
        | TxnChange::Error(_) => {}
    }
}
