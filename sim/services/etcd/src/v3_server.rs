//! What a member does with a call: it proposes writes, confirms reads, and waits no longer than its time-out.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::ConnectionId;

use crate::extract::extract_if;
use crate::ids::{Caller, StreamId};
use crate::io::{Commit, Output, Turn};
use crate::lookup::LookupAnswer;
use crate::raft::Proposal;
use crate::reads::{Asked, PendingProposal, ReadFor};
use crate::rpc::{LeaseId, Request};
use crate::rpctypes::{self, Status};
use crate::settings::EnsuresLeadership;
use crate::state::Member;
use crate::txn::{check_request, is_readonly, is_serializable};

/// After which time a read asks the leader once more.
const READ_INDEX_RETRY: Duration = Duration::from_millis(500);

impl Member {
    /// Begins a call.
    pub(crate) fn submit(&mut self, turn: &mut Turn, caller: Caller, request: Request) {
        if let Err(status) = check_request(&request) {
            return self.answer(turn, caller, Err(status));
        }
        let reads = match &request {
            Request::Range(range) => Some(range.serializable),
            Request::Txn(txn) if is_readonly(txn) => Some(is_serializable(txn)),
            Request::LeaseLeases => Some(true),
            Request::LeaseTimeToLive(id, keys) => {
                return self.time_to_live(turn, caller, *id, *keys);
            }
            Request::Put(_)
            | Request::DeleteRange(_)
            | Request::Txn(_)
            | Request::Compact(_)
            | Request::LeaseGrant(..)
            | Request::LeaseRevoke(_) => None,
            Request::Lock(..)
            | Request::Unlock(_)
            | Request::Campaign(..)
            | Request::Proclaim(..)
            | Request::Resign(_)
            | Request::Leader(_) => return self.begin_task(turn, caller, request),
        };
        match reads {
            Some(true) => self.read(turn, caller, &request),
            Some(false) => self.reads.waiting.push(ReadFor::Request(caller, request)),
            None => self.propose(turn, caller, request),
        }
    }

    fn read(&mut self, turn: &mut Turn, caller: Caller, request: &Request) {
        let result = self.applier.apply(turn.now, request);
        self.answer(turn, caller, result);
    }

    /// The call of a client for which something is done.
    fn origin(&self, caller: Caller) -> Option<(ConnectionId, u32)> {
        match caller {
            Caller::Client(connection, call) => Some((connection, call)),
            Caller::Task(task) => self.origin(self.tasks.get(&task)?.caller),
            Caller::Unheard => None,
        }
    }

    fn propose(&mut self, turn: &mut Turn, caller: Caller, mut request: Request) {
        let (number, by) = (self.next_number(), self.id());
        if let Request::LeaseGrant(id @ LeaseId(0), _) = &mut request {
            *id = LeaseId((i64::from(by.0) + 1) << 48 | number as i64);
        }
        let pending = PendingProposal {
            caller,
            start: turn.now,
            deadline: turn.now + self.settings.request_timeout(),
            proposed: self.raft_hangs() && self.lead.is_some(),
        };
        self.proposals.insert(number, pending);
        self.unproposed.push_back(Rc::new(Proposal {
            by,
            number,
            origin: self.origin(caller),
            request,
        }));
    }

    /// Proposes what has waited for a leader.
    pub(crate) fn propose_waiting(&mut self, turn: &mut Turn) {
        while self.raft.lead.is_some()
            && let Some(proposal) = self.unproposed.pop_front()
        {
            if proposal.by == self.id()
                && let Some(pending) = self.proposals.get_mut(&proposal.number)
            {
                pending.proposed = true;
            }
            self.with_raft(turn, |raft, _, ready| raft.propose(&proposal, ready));
            self.apply_committed(turn);
        }
    }

    /// An entry of the log is committed.
    pub(crate) fn apply_entry(&mut self, turn: &mut Turn, proposal: &Rc<Proposal>) {
        let result = self.applier.apply(turn.now, &proposal.request);
        let is_changed = self.applier.store.end();
        if self.raft.is_leader() {
            let revision = self.applier.store.revision();
            let events = self.applier.store.events_from(revision);
            turn.out.push(Output::Committed(Commit {
                index: self.applied,
                proposal: Rc::clone(proposal),
                is_done: result.is_ok(),
                events: events.filter(|_| is_changed).cloned().collect(),
            }));
        }
        if is_changed {
            let notices = self.watchable.notify(&self.applier.store);
            self.tell(turn, notices);
        }
        if let (Request::LeaseRevoke(id), Ok(_)) = (&proposal.request, &result) {
            self.lease_revoked(turn, *id);
        }
        if proposal.by == self.id()
            && let Some(pending) = self.proposals.remove(&proposal.number)
        {
            self.answer(turn, pending.caller, result);
        }
    }

    /// Serves reads that are confirmed, and asks about those that have come meanwhile.
    pub(crate) fn serve_reads(&mut self, turn: &mut Turn) {
        loop {
            if let Some(asked) = self.reads.asked.take_if(|asked| asked.is_ready) {
                for read in asked.reads {
                    self.read_confirmed(turn, read);
                }
            }
            if self.reads.asked.is_some() || self.reads.waiting.is_empty() {
                return;
            }
            let number = self.next_number();
            self.reads.asked = Some(Asked {
                number,
                reads: std::mem::take(&mut self.reads.waiting),
                deadline: turn.now + self.settings.request_timeout(),
                retry_at: turn.now + READ_INDEX_RETRY,
                index: None,
                is_ready: false,
            });
            self.ask_read_index(turn, number);
        }
    }

    fn ask_read_index(&mut self, turn: &mut Turn, number: u64) {
        self.with_raft(turn, |raft, _, ready| raft.read_index(number, ready));
        if !self.raft_hangs() {
            self.apply_committed(turn);
        }
    }

    fn read_confirmed(&mut self, turn: &mut Turn, read: ReadFor) {
        match read {
            ReadFor::Request(caller, request) => self.read(turn, caller, &request),
            ReadFor::Renewal(origin, lease) => self.renew(turn, origin, lease, true),
            ReadFor::Revocations(leases) if self.believes_to_lead() => self.revoke(turn, leases),
            ReadFor::Revocations(_) => {}
        }
    }

    /// The reads that were asked about fail.
    pub(crate) fn fail_reads(&mut self, turn: &mut Turn, status: Status) {
        let Some(asked) = self.reads.asked.take() else {
            return;
        };
        for read in asked.reads {
            match read {
                ReadFor::Request(caller, _) => self.answer(turn, caller, Err(status)),
                ReadFor::Renewal(origin, _) => {
                    self.answer_lookup(turn, origin, LookupAnswer::NotPrimary);
                }
                ReadFor::Revocations(_) => {}
            }
        }
    }

    /// Whether a quorum must say first that this member leads.
    pub(crate) fn is_unsure_to_lead(&self, now: VirtualTime) -> bool {
        match self.settings.version.ensures_leadership() {
            EnsuresLeadership::Never => false,
            EnsuresLeadership::Always => true,
            EnsuresLeadership::IfNotTicking => {
                self.last_tick + self.settings.heartbeat_interval * 3 <= now
            }
        }
    }

    /// Proposes to revoke leases that are over.
    pub(crate) fn revoke_expired(&mut self, turn: &mut Turn) {
        let expired = self.applier.lessor.find_expired(turn.now);
        if expired.is_empty() {
            return;
        }
        if self.is_unsure_to_lead(turn.now) {
            self.reads.waiting.push(ReadFor::Revocations(expired));
        } else {
            self.revoke(turn, expired);
        }
    }

    fn revoke(&mut self, turn: &mut Turn, leases: Vec<LeaseId>) {
        for lease in leases {
            self.propose(turn, Caller::Unheard, Request::LeaseRevoke(lease));
        }
    }

    /// When the next call runs out of time.
    pub(crate) fn next_timeout(&self) -> VirtualTime {
        let proposal = self.proposals.first_key_value();
        let proposal = proposal.map_or(VirtualTime::NEVER, |(_, pending)| pending.deadline);
        match &self.reads.asked {
            Some(asked) => proposal.min(asked.deadline).min(asked.retry_at),
            None => proposal,
        }
    }

    /// Ends calls that have waited too long.
    pub(crate) fn time_out(&mut self, turn: &mut Turn) {
        let now = turn.now;
        while let Some(first) = self.proposals.first_entry()
            && first.get().deadline <= now
        {
            let (number, pending) = first.remove_entry();
            let status = self.timed_out(&pending);
            if !pending.proposed {
                self.withdraw(number);
            }
            self.answer(turn, pending.caller, Err(status));
        }
        let Some(asked) = &mut self.reads.asked else {
            return;
        };
        if asked.deadline <= turn.now {
            self.fail_reads(turn, rpctypes::TIMEOUT);
        } else if asked.retry_at <= turn.now {
            asked.retry_at = turn.now + READ_INDEX_RETRY;
            let number = asked.number;
            self.ask_read_index(turn, number);
        }
    }

    /// A proposal that has found no leader is not proposed any more.
    fn withdraw(&mut self, number: u64) {
        let by = self.id();
        self.unproposed
            .retain(|proposal| proposal.by != by || proposal.number != number);
    }

    fn timed_out(&self, pending: &PendingProposal) -> Status {
        let lost = self.elected_at.since_start();
        let lost = lost.saturating_sub(self.settings.election_timeout * 2);
        let saw_change = pending.start.since_start() > lost && pending.start < self.elected_at;
        match pending.proposed {
            true if saw_change => rpctypes::TIMEOUT_DUE_TO_LEADER_FAIL,
            true => rpctypes::TIMEOUT,
            false if self.settings.version.maps_deadlines() => rpctypes::DEADLINE,
            false => rpctypes::UNMAPPED_DEADLINE,
        }
    }

    /// A task is gone: what it has not proposed yet is not proposed any more.
    pub(crate) fn withdraw_of(&mut self, caller: Caller) {
        self.forget_proposals(|of| of == caller);
    }

    fn forget_proposals(&mut self, is_gone: impl Fn(Caller) -> bool) {
        for (number, pending) in
            extract_if(&mut self.proposals, |_, pending| is_gone(pending.caller))
        {
            if !pending.proposed {
                self.withdraw(number);
            }
        }
    }

    /// A client has given up a call, or a stream.
    pub(crate) fn cancel_call(&mut self, turn: &mut Turn, (connection, call): (ConnectionId, u32)) {
        self.drop_callers(turn, |of, number| of == connection && number == call);
    }

    /// A connection is gone, and all its calls with it.
    pub(crate) fn connection_gone(&mut self, turn: &mut Turn, connection: ConnectionId) {
        self.drop_callers(turn, |of, _| of == connection);
    }

    /// Forgets calls. What is proposed is applied all the same.
    fn drop_callers(&mut self, turn: &mut Turn, is_gone: impl Fn(ConnectionId, u32) -> bool) {
        let of_client = |caller: Caller| match caller {
            Caller::Client(connection, call) => is_gone(connection, call),
            Caller::Task(_) | Caller::Unheard => false,
        };
        self.forget_proposals(of_client);
        self.reads.drop_client(of_client);
        self.lookups.retain(|_, lookup| !of_client(lookup.caller));
        self.keepalives
            .retain(|(connection, call), _| !is_gone(*connection, *call));
        let closed = extract_if(&mut self.streams, |stream, _| match stream {
            StreamId::Client(connection, call) => is_gone(*connection, *call),
            StreamId::Task(_) => false,
        });
        for (stream, _) in closed {
            self.watchable.close(stream);
        }
        self.cancel_tasks(turn, is_gone);
    }
}
