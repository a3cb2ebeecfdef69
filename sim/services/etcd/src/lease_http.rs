//! Renewals, and what is left of a lease: the lessor of the leader knows, and other members ask it.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{ConnectionId, ServerId};

use crate::ids::{Caller, LookupId, Origin};
use crate::io::{Output, PeerMessage, Turn};
use crate::lessor::Renewal;
use crate::lookup::{Lookup, LookupAnswer, LookupKind, LookupState};
use crate::reads::ReadFor;
use crate::rpc::{LeaseId, Response, ServerBody, TimeToLive};
use crate::rpctypes::{self, Status};
use crate::state::Member;

/// How long a member waits before it asks once more.
const RETRY: Duration = Duration::from_millis(50);

impl Member {
    /// A sign of life has come on a stream.
    pub(crate) fn keep_alive(
        &mut self,
        turn: &mut Turn,
        caller: (ConnectionId, u32),
        lease: LeaseId,
    ) {
        let stream = self.keepalives.entry(caller).or_default();
        stream.waiting.push_back(lease);
        if !stream.is_busy {
            self.next_keep_alive(turn, caller);
        }
    }

    fn next_keep_alive(&mut self, turn: &mut Turn, caller: (ConnectionId, u32)) {
        let Some(stream) = self.keepalives.get_mut(&caller) else {
            return;
        };
        let lease = stream.waiting.pop_front();
        stream.is_busy = lease.is_some();
        if let Some(lease) = lease {
            let caller = Caller::Client(caller.0, caller.1);
            let id = self.begin_lookup(caller, LookupKind::Renew, lease);
            self.renew(turn, Origin::Local(id), lease, false);
        }
    }

    fn begin_lookup(&mut self, caller: Caller, kind: LookupKind, lease: LeaseId) -> LookupId {
        let id = LookupId(self.next_number());
        let lookup = Lookup {
            caller,
            kind,
            lease,
            revision: self.applier.store.revision(),
            deadline: VirtualTime::NEVER,
            state: LookupState::AtLessor,
        };
        self.lookups.insert(id, lookup);
        id
    }

    /// What is left of a lease.
    pub(crate) fn time_to_live(
        &mut self,
        turn: &mut Turn,
        caller: Caller,
        lease: LeaseId,
        keys: bool,
    ) {
        let kind = LookupKind::TimeToLive(keys);
        let id = self.begin_lookup(caller, kind, lease);
        if self.believes_to_lead() {
            self.ask_lessor(turn, Origin::Local(id), kind, lease);
        } else {
            self.lookup_failed(turn, id);
        }
    }

    fn look_up(&self, now: VirtualTime, id: LeaseId, keys: bool) -> LookupAnswer {
        let lessor = &self.applier.lessor;
        if !lessor.is_primary() && self.settings.version.refuses_unpromoted_ttl() {
            return LookupAnswer::NotPrimary;
        }
        let Some((granted, _)) = lessor.lookup(id) else {
            return LookupAnswer::NotFound;
        };
        let keys = if keys {
            self.applier.keys_of(id)
        } else {
            Vec::new()
        };
        let ttl = lessor.remaining(now, id);
        LookupAnswer::TimeToLive(TimeToLive {
            id,
            ttl,
            granted,
            keys,
        })
    }

    /// Renews a lease at the lessor of this member.
    pub(crate) fn renew(&mut self, turn: &mut Turn, origin: Origin, lease: LeaseId, ensured: bool) {
        let is_primary = self.applier.lessor.is_primary();
        if is_primary && !ensured && self.is_unsure_to_lead(turn.now) {
            return self.reads.waiting.push(ReadFor::Renewal(origin, lease));
        }
        let answer = match self.applier.lessor.renew(turn.now, lease) {
            Renewal::Renewed(ttl) => LookupAnswer::Renewed(ttl),
            Renewal::Expired => return self.blocked_renewals.push((origin, lease)),
            Renewal::NotFound => LookupAnswer::NotFound,
            Renewal::NotPrimary => LookupAnswer::NotPrimary,
        };
        self.answer_lookup(turn, origin, answer);
    }

    /// A lease is revoked: renewals that have waited for that are too late.
    pub(crate) fn lease_revoked(&mut self, turn: &mut Turn, lease: LeaseId) {
        let late = self.blocked_renewals.extract_if(.., |(_, of)| *of == lease);
        for (origin, _) in late.collect::<Vec<_>>() {
            self.answer_lookup(turn, origin, LookupAnswer::NotFound);
        }
    }

    /// This member leads no more: renewals that wait here ask the new leader.
    pub(crate) fn lessor_demoted(&mut self, turn: &mut Turn) {
        for (origin, _) in std::mem::take(&mut self.blocked_renewals) {
            self.answer_lookup(turn, origin, LookupAnswer::NotPrimary);
        }
    }

    /// The lessor of this member is asked.
    pub(crate) fn ask_lessor(
        &mut self,
        turn: &mut Turn,
        origin: Origin,
        kind: LookupKind,
        lease: LeaseId,
    ) {
        match kind {
            LookupKind::Renew => self.renew(turn, origin, lease, false),
            LookupKind::TimeToLive(keys) => {
                let answer = self.look_up(turn.now, lease, keys);
                self.answer_lookup(turn, origin, answer);
            }
        }
    }

    pub(crate) fn answer_lookup(&mut self, turn: &mut Turn, origin: Origin, answer: LookupAnswer) {
        match origin {
            Origin::Peer(to, id) => {
                let message = PeerMessage::LeaseAnswer(id, answer);
                turn.out.push(Output::ToPeer(to, message));
            }
            Origin::Local(id) => self.lookup_done(turn, id, answer),
        }
    }

    /// The lessor of another member has answered.
    pub(crate) fn lease_answered(
        &mut self,
        turn: &mut Turn,
        (from, id): (ServerId, LookupId),
        answer: LookupAnswer,
    ) {
        let asked = self.lookups.get(&id).map(|lookup| lookup.state);
        if asked == Some(LookupState::Asked(from)) {
            self.lookup_done(turn, id, answer);
        }
    }

    fn lookup_done(&mut self, turn: &mut Turn, id: LookupId, answer: LookupAnswer) {
        if answer == LookupAnswer::NotPrimary {
            return self.lookup_failed(turn, id);
        }
        let Some(Lookup {
            caller,
            lease,
            revision,
            ..
        }) = self.lookups.remove(&id)
        else {
            return;
        };
        let gone = TimeToLive {
            id: lease,
            ttl: -1,
            granted: 0,
            keys: Vec::new(),
        };
        let (kept_alive, left) = match answer {
            LookupAnswer::Renewed(ttl) => (ttl, gone),
            LookupAnswer::TimeToLive(left) => (0, left),
            LookupAnswer::NotFound | LookupAnswer::NotPrimary => (0, gone),
        };
        match caller {
            Caller::Client(connection, call)
                if self.keepalives.contains_key(&(connection, call)) =>
            {
                let header = self.header_at(revision);
                let body = ServerBody::LeaseKeepAlive(header, lease, kept_alive);
                turn.tell_client((connection, call), body);
                self.next_keep_alive(turn, (connection, call));
            }
            Caller::Client(..) | Caller::Task(_) | Caller::Unheard => {
                self.answer(turn, caller, Ok(Response::LeaseTimeToLive(left)));
            }
        }
    }

    /// The lessor that was asked does not know: the leader is asked, at once or a moment later.
    fn lookup_failed(&mut self, turn: &mut Turn, id: LookupId) {
        let Some(lookup) = self.lookups.get_mut(&id) else {
            return;
        };
        if lookup.deadline != VirtualTime::NEVER {
            lookup.state = LookupState::Sleeps(turn.now + RETRY);
            return;
        }
        let refuses = self.settings.version.refuses_unpromoted_ttl();
        if self.lead == Some(self.raft.id) && lookup.kind != LookupKind::Renew && refuses {
            return self.fail_lookup(turn, id, rpctypes::LEADER_CHANGED);
        }
        lookup.deadline = turn.now + self.settings.request_timeout();
        self.ask_leader(turn, id);
    }

    fn ask_leader(&mut self, turn: &mut Turn, id: LookupId) {
        let Some(lookup) = self.lookups.get_mut(&id) else {
            return;
        };
        let (kind, lease) = (lookup.kind, lookup.lease);
        match self.lead {
            None => {
                let at = turn.now + self.settings.election_timeout;
                lookup.state = LookupState::WaitsForLeader(at);
            }
            Some(leader) if leader == self.raft.id => {
                lookup.state = LookupState::AtLessor;
                self.ask_lessor(turn, Origin::Local(id), kind, lease);
            }
            Some(leader) => {
                lookup.state = LookupState::Asked(leader);
                let message = PeerMessage::Lease(id, kind, lease);
                turn.out.push(Output::ToPeer(leader, message));
            }
        }
    }

    /// The connection to a member that was asked is gone.
    pub(crate) fn lease_peer_lost(&mut self, turn: &mut Turn, peer: ServerId) {
        self.blocked_renewals
            .retain(|(origin, _)| !matches!(origin, Origin::Peer(from, _) if *from == peer));
        for lookup in self.lookups.values_mut() {
            if lookup.state == LookupState::Asked(peer) {
                lookup.state = LookupState::Sleeps(turn.now + RETRY);
            }
        }
    }

    /// Asks once more, or gives up.
    pub(crate) fn retry_lookups(&mut self, turn: &mut Turn) {
        let due = self
            .lookups
            .iter()
            .filter(|(_, lookup)| lookup.next_wake() <= turn.now);
        let due: Vec<(LookupId, bool, LookupState)> = due
            .map(|(id, lookup)| (*id, lookup.deadline <= turn.now, lookup.state))
            .collect();
        for (id, is_over, state) in due {
            match state {
                LookupState::WaitsForLeader(_) if is_over && self.lead.is_none() => {
                    self.fail_lookup(turn, id, rpctypes::NO_LEADER);
                }
                LookupState::AtLessor
                | LookupState::Asked(_)
                | LookupState::Sleeps(_)
                | LookupState::WaitsForLeader(_)
                    if is_over =>
                {
                    self.fail_lookup(turn, id, rpctypes::TIMEOUT);
                }
                LookupState::Sleeps(_) | LookupState::WaitsForLeader(_) => {
                    self.ask_leader(turn, id);
                }
                LookupState::AtLessor | LookupState::Asked(_) => {}
            }
        }
    }

    fn fail_lookup(&mut self, turn: &mut Turn, id: LookupId, status: Status) {
        let Some(lookup) = self.lookups.remove(&id) else {
            return;
        };
        if let (Caller::Client(connection, call), LookupKind::Renew) = (lookup.caller, lookup.kind)
        {
            // The stream ends with the error.
            self.keepalives.remove(&(connection, call));
        }
        self.answer(turn, lookup.caller, Err(status));
    }
}
