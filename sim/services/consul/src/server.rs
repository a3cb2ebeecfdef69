//! A server: what it does with calls, who leads, and the sessions that the leader keeps alive.

mod queries;

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::consul::{
    Consistency, ConsulError, ConsulResult, PutIf, Request, Response, ServerMessage, SessionId,
};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::io::{Commit, Input, Output, PeerMessage};
use crate::log::{CallId, Command};
use crate::raft::{Raft, Sent};
use crate::settings::{RPC_HOLD_TIMEOUT, Settings, TTL, TTL_MULTIPLIER};
use crate::store::{Applied, Store};

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    raft: Raft,
    store: Store,
    /// How many entries of the log are applied.
    applied: usize,
    /// Until when keys cannot be acquired: each server counts by its own clock from when it applied the end of a
    /// session, and only the leader asks.
    lock_delays: BTreeMap<Rc<str>, VirtualTime>,
    leadership: Leadership,
    /// Calls that wait for a leader, until so long.
    holds: Vec<(Call, VirtualTime)>,
    /// Calls that another server was asked to answer.
    forwarded: Vec<(ServerId, Call)>,
    /// Blocking queries, until so long.
    blocked: Vec<(Call, VirtualTime)>,
}

/// What a leader keeps, and forgets when it leads no longer.
#[derive(Clone, Debug, Default)]
struct Leadership {
    /// The place of its first entry: once that is applied, it has set the timers of all sessions.
    first: usize,
    is_established: bool,
    session_timers: BTreeMap<SessionId, VirtualTime>,
    /// How many sessions it has made.
    sessions: u64,
    /// Calls that wait for their entries.
    pending: BTreeMap<usize, Call>,
    /// Reads that wait until a majority has answered a round.
    reads: Vec<(Call, u64)>,
}

/// A call, and the server that has passed it on.
#[derive(Clone, Debug)]
struct Call {
    id: CallId,
    via: Option<ServerId>,
    request: Request,
}

/// What a step has at hand.
struct Turn<'a> {
    now: VirtualTime,
    chance: &'a mut dyn Chance,
    out: &'a mut Vec<Output>,
    sent: Sent,
}

impl Server {
    /// A server of a cluster that has elected one.
    pub fn formed(id: ServerId, leader: ServerId, settings: Settings) -> Self {
        let mut server = Self {
            raft: Raft::formed(id, leader, settings),
            store: Store::default(),
            applied: 1,
            lock_delays: BTreeMap::new(),
            leadership: Leadership::default(),
            holds: Vec::new(),
            forwarded: Vec::new(),
            blocked: Vec::new(),
        };
        server.leadership.is_established = server.raft.is_leader();
        server
    }

    /// Whether it believes that it leads.
    pub fn is_leader(&self) -> bool {
        self.raft.is_leader()
    }

    /// The term that it knows.
    pub fn term(&self) -> u64 {
        self.raft.term
    }

    /// How many entries of the log it has applied.
    pub fn applied(&self) -> u64 {
        self.applied as u64
    }

    fn answer(&self, turn: &mut Turn<'_>, call: &Call, result: ConsulResult<Response>) {
        let (connection, number) = call.id;
        turn.out.push(match call.via {
            Some(server) => Output::ToPeer(server, PeerMessage::Answer(call.id, result)),
            None => {
                let ends_wait = call.request.is_blocking();
                let message = ServerMessage {
                    number,
                    result,
                    ends_wait,
                };
                Output::ToClient(connection, message)
            }
        });
    }

    /// Answers a call, or passes it on to the leader, or lets it wait for one.
    fn dispatch(&mut self, turn: &mut Turn<'_>, call: Call, until: VirtualTime) {
        let query = call.request.query();
        let is_stale = query.is_some_and(|query| query.consistency == Consistency::Stale);
        if is_stale || self.raft.is_leader() {
            return self.serve(turn, call);
        }
        match self.raft.lead {
            Some(leader) if call.via.is_none() => {
                let message = PeerMessage::Forward(call.id, call.request.clone());
                turn.out.push(Output::ToPeer(leader, message));
                self.forwarded.push((leader, call));
            }
            _ => self.holds.push((call, until)),
        }
    }

    fn serve(&mut self, turn: &mut Turn<'_>, call: Call) {
        let command = match &call.request {
            Request::Get(_, query) | Request::List(_, query) => {
                if query.consistency != Consistency::Consistent {
                    return self.read(turn, call);
                }
                let round = self.raft.broadcast(&mut turn.sent);
                return self.leadership.reads.push((call, round));
            }
            Request::SessionRenew(session) => {
                let found = self.store.session(*session).map(|entry| entry.ttl);
                if let Some(ttl) = found {
                    let over = turn.now + ttl * TTL_MULTIPLIER;
                    self.leadership.session_timers.insert(*session, over);
                }
                return self.answer(turn, &call, Ok(Response::Renewed(found)));
            }
            Request::SessionCreate(entry) => {
                if entry.ttl < TTL[0] || entry.ttl > TTL[1] {
                    return self.answer(turn, &call, Err(ConsulError::InvalidTtl));
                }
                self.leadership.sessions += 1;
                let id = SessionId(self.raft.term << 16 | self.leadership.sessions);
                Command::CreateSession(id, *entry)
            }
            Request::Put(PutIf::Acquire, pair) if self.is_delayed(&pair.key, turn.now) => {
                return self.answer(turn, &call, Ok(Response::Done(false)));
            }
            Request::SessionDestroy(_) | Request::Put(..) | Request::Delete(..) => {
                Command::Request(call.request.clone())
            }
        };
        let place = self.raft.append(command, Some(call.id), &mut turn.sent);
        self.leadership.pending.insert(place, call);
    }

    fn is_delayed(&self, key: &str, now: VirtualTime) -> bool {
        self.lock_delays.get(key).is_some_and(|until| *until > now)
    }

    /// Applies what is committed.
    fn apply(&mut self, turn: &mut Turn<'_>) {
        while self.applied < self.raft.committed {
            let entry = self.raft.log[self.applied].clone();
            self.applied += 1;
            let place = self.applied;
            let (result, applied) = self.store.apply(place as u64, &entry.command);
            self.start_lock_delays(turn.now, &applied);
            if let Some(call) = self.leadership.pending.remove(&place) {
                if let Ok(Response::Created(session)) = result {
                    self.start_timer(turn.now, session);
                }
                self.answer(turn, &call, result);
            }
            let Applied { changes, ended } = applied;
            self.wake_queries(turn, &changes);
            if self.raft.is_leader() {
                let ended = ended.map(|(session, _)| session);
                if let Some(session) = ended {
                    self.leadership.session_timers.remove(&session);
                }
                turn.out.push(Output::Committed(Commit {
                    index: place as u64,
                    entry,
                    changes,
                    ended,
                }));
            }
        }
        if self.raft.is_leader()
            && !self.leadership.is_established
            && self.applied >= self.leadership.first
        {
            self.leadership.is_established = true;
            let sessions: Vec<SessionId> = self.store.sessions().map(|(id, _)| id).collect();
            for session in sessions {
                self.start_timer(turn.now, session);
            }
        }
    }

    fn start_lock_delays(&mut self, now: VirtualTime, applied: &Applied) {
        if let Some((_, delay)) = applied.ended
            && !delay.is_zero()
        {
            let keys = applied.changes.iter().map(|(key, _)| Rc::clone(key));
            self.lock_delays.extend(keys.map(|key| (key, now + delay)));
        }
    }

    /// A session has its whole time from now on: twice what its client counts on.
    fn start_timer(&mut self, now: VirtualTime, session: SessionId) {
        if let Some(entry) = self.store.session(session) {
            let over = now + entry.ttl * TTL_MULTIPLIER;
            self.leadership.session_timers.insert(session, over);
        }
    }

    /// What has changed since about who leads.
    fn follow_leadership(&mut self, turn: &mut Turn<'_>, before: (bool, u64, Option<ServerId>)) {
        let (led, term, lead) = before;
        let leads = self.raft.is_leader();
        if led && (!leads || term != self.raft.term) {
            let Leadership { pending, reads, .. } = std::mem::take(&mut self.leadership);
            for call in pending.values() {
                self.answer(turn, call, Err(ConsulError::LeadershipLost));
            }
            for (call, _) in reads {
                self.answer(turn, &call, Err(ConsulError::NoClusterLeader));
            }
            turn.out.push(Output::SteppedDown);
        }
        if leads && (!led || term != self.raft.term) {
            self.leadership.first = self.raft.log.len();
            turn.out.push(Output::BecameLeader(self.raft.term));
        }
        if self.raft.lead.is_some() && self.raft.lead != lead {
            for (call, until) in std::mem::take(&mut self.holds) {
                self.dispatch(turn, call, until);
            }
        }
    }

    /// What is due by the clock.
    fn due(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now;
        if self.raft.timer <= now {
            self.raft.tick(now, turn.chance, &mut turn.sent);
        }
        let late = self.holds.extract_if(.., |(_, until)| *until <= now);
        let late: Vec<Call> = late.map(|(call, _)| call).collect();
        for call in late {
            self.answer(turn, &call, Err(ConsulError::NoClusterLeader));
        }
        self.end_waits(turn);
        let timers = self.leadership.session_timers.iter();
        let over = timers.filter(|(_, at)| **at <= now);
        let over: Vec<SessionId> = over.map(|(session, _)| *session).collect();
        for session in over {
            self.leadership.session_timers.remove(&session);
            let destroy = Command::Request(Request::SessionDestroy(session));
            self.raft.append(destroy, None, &mut turn.sent);
        }
    }

    /// The process of another server is gone: reads that it was asked for are asked again, and of writes is not known
    /// whether they were done.
    fn peer_lost(&mut self, turn: &mut Turn<'_>, peer: ServerId) {
        let lost = self.forwarded.extract_if(.., |(server, _)| *server == peer);
        let lost: Vec<Call> = lost.map(|(_, call)| call).collect();
        for call in lost {
            match call.request.query() {
                Some(_) => self.holds.push((call, turn.now + RPC_HOLD_TIMEOUT)),
                None => self.answer(turn, &call, Err(ConsulError::Eof)),
            }
        }
        self.holds.retain(|(call, _)| call.via != Some(peer));
        self.blocked.retain(|(call, _)| call.via != Some(peer));
    }

    fn client_gone(&mut self, connection: ConnectionId) {
        let is_other = |call: &Call| call.id.0 != connection || call.via.is_some();
        self.holds.retain(|(call, _)| is_other(call));
        self.forwarded.retain(|(_, call)| is_other(call));
        self.blocked.retain(|(call, _)| is_other(call));
    }

    fn restart(&mut self, turn: &mut Turn<'_>) {
        self.raft.restart(turn.now, turn.chance);
        (self.store, self.applied) = (Store::default(), 0);
        self.lock_delays.clear();
        self.leadership = Leadership::default();
        self.holds.clear();
        self.forwarded.clear();
        self.blocked.clear();
    }

    fn take(&mut self, turn: &mut Turn<'_>, input: Input) {
        let hold = turn.now + RPC_HOLD_TIMEOUT;
        match input {
            Input::Client(connection, message) => {
                let call = Call {
                    id: (connection, message.number),
                    via: None,
                    request: message.request,
                };
                self.dispatch(turn, call, hold);
            }
            Input::ClientGone(connection) => self.client_gone(connection),
            Input::Peer(from, PeerMessage::Raft(message)) => {
                let sent = &mut turn.sent;
                self.raft.step(turn.now, from, message, turn.chance, sent);
            }
            Input::Peer(from, PeerMessage::Forward(id, request)) => {
                let via = Some(from);
                self.dispatch(turn, Call { id, via, request }, hold);
            }
            Input::Peer(_, PeerMessage::Answer(id, result)) => {
                let place = self.forwarded.iter().position(|(_, call)| call.id == id);
                if let Some(place) = place {
                    let (_, call) = self.forwarded.remove(place);
                    self.answer(turn, &call, result);
                }
            }
            Input::PeerLost(peer) => self.peer_lost(turn, peer),
            Input::Restart => self.restart(turn),
            Input::Wake => {}
        }
    }
}

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let mut turn = Turn {
            now: now.monotonic,
            chance,
            out,
            sent: Sent::new(),
        };
        let turn = &mut turn;
        let before = |server: &Self| (server.raft.is_leader(), server.raft.term, server.raft.lead);
        let known = before(self);
        self.take(turn, input);
        self.follow_leadership(turn, known);
        let known = before(self);
        self.due(turn);
        self.follow_leadership(turn, known);
        self.apply(turn);
        self.confirm_reads(turn);
        let sent = std::mem::take(&mut turn.sent);
        let messages = sent.into_iter();
        turn.out
            .extend(messages.map(|(to, message)| Output::ToPeer(to, PeerMessage::Raft(message))));
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let holds = self.holds.iter().map(|(_, until)| *until);
        let blocked = self.blocked.iter().map(|(_, until)| *until);
        let sessions = self.leadership.session_timers.values().copied();
        let soonest = holds.chain(blocked).chain(sessions).min();
        soonest.unwrap_or(VirtualTime::NEVER).min(self.raft.timer)
    }
}
