//! Who believes that it holds the lock, and since when it could have known that it does not.
//!
//! A belief ends when its contender ends it. If the contender could have known earlier, the history says so when the
//! belief ends: what a process could know follows from what was delivered to it, and from its own clock while it ran.

use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Held;
use picklock_algorithms::clients::zookeeper::{EventType, Request, SessionState, ZkError};
use picklock_checker::{ContenderId, EventKind, Knowledge, VirtualTime};

use super::{LOCK, World};
use crate::event::ClientId;
use crate::plan::Service;
use crate::process::{ProcessId, ProcessState};
use crate::zookeeper::messages::{ConnectionId, ServerId, ServerMessage, Xid};

/// Who believes, and who is about to learn better.
#[derive(Default)]
pub(crate) struct Beliefs {
    /// Contenders that believe that they hold the lock.
    held: Vec<Belief>,
    /// Requests about a node that is gone, of contenders that believe in it.
    looks: Vec<(ConnectionId, Xid)>,
}

/// A contender's belief that it holds the lock.
struct Belief {
    process: ProcessId,
    /// The path of its node, or the name of its key.
    place: Rc<str>,
    /// Until when the hold is valid, by the contender's own clock.
    valid_until: Option<VirtualTime>,
    /// Since when its client has had no connection, by its own clock.
    disconnected: Option<VirtualTime>,
    /// Since when its process has run without a pause.
    runs_since: VirtualTime,
    /// Its node is gone, and its event thread has not come to say so.
    gone_untold: bool,
    /// Servers that have refused to extend or find its key, because the key is not its own; a bit for each.
    refused_by: u32,
    /// Since when it could have known of its loss, and how.
    known: Option<(VirtualTime, Knowledge)>,
    /// It could know when it began.
    over_at_once: bool,
}

/// How long a contender that could know of its loss may take to act on it: a tenth of its session or lease, which is
/// often enough for one who looks by a timer of its own, and the time for a look.
pub(super) fn reaction(service: &Service, latency: Duration) -> Duration {
    let lease = match service {
        Service::ZooKeeper(ensemble) => ensemble.granted_timeout(),
        Service::Redis(deployment) => deployment.lease,
    };
    lease / 10 + latency * 4
}

impl World {
    /// How long a contender that could know of its loss may take to act on it.
    pub fn reaction(&self) -> Duration {
        reaction(&self.plan.service, self.plan.network.client_latency.1)
    }

    /// `acquire` returns the lock to a contender.
    pub fn belief_begins(&mut self, process: ProcessId, held: &Held) {
        let valid_until = held.valid_until.map(|it| VirtualTime::ZERO + it);
        let over_at_once = valid_until.is_some_and(|it| it <= self.local_now(process));
        self.beliefs.held.push(Belief {
            process,
            place: Rc::clone(&held.place),
            valid_until,
            disconnected: None,
            runs_since: self.now,
            gone_untold: false,
            refused_by: 0,
            known: over_at_once.then_some((self.now, Knowledge::ValidityOver)),
            over_at_once,
        });
        if self.redis.is_there() {
            return;
        }
        self.look_at_session(process);
    }

    /// A contender is about to end its belief, or dies.
    pub fn belief_ends(&mut self, process: ProcessId) {
        let Some(found) = self.belief_of(process) else {
            return;
        };
        if self.processes[process.0 as usize].state == ProcessState::Running {
            self.look_at_own_clock(process);
        }
        let belief = self.beliefs.held.swap_remove(found);
        if let Some((since, how)) = belief.known
            && (since < self.now || belief.over_at_once)
        {
            self.record(EventKind::CouldHaveKnown {
                by: ContenderId(process.0),
                lock: LOCK,
                since,
                how,
            });
        }
    }

    /// The run ends, and with it all beliefs that are left.
    pub(super) fn beliefs_end(&mut self) {
        let mut left: Vec<ProcessId> = self.beliefs.held.iter().map(|it| it.process).collect();
        left.sort_unstable();
        for process in left {
            self.belief_ends(process);
        }
    }

    #[inline]
    fn belief_of(&self, process: ProcessId) -> Option<usize> {
        self.beliefs
            .held
            .iter()
            .position(|it| it.process == process)
    }

    /// Whether a contender believes in a lock that is not its own any more.
    #[inline]
    pub(super) fn believes_in_vain(&self, process: ProcessId) -> bool {
        self.belief_of(process).is_some() && !self.ownership.is_owned_by(ContenderId(process.0))
    }

    /// Something tells a contender of its loss.
    fn could_know_from_now(&mut self, process: ProcessId, how: Knowledge) {
        if let Some(found) = self.belief_of(process) {
            self.beliefs.held[found]
                .known
                .get_or_insert((self.now, how));
        }
    }

    /// A process goes on after a pause.
    pub(super) fn runs_again(&mut self, process: ProcessId) {
        if let Some(found) = self.belief_of(process) {
            self.beliefs.held[found].runs_since = self.now;
        }
    }

    /// A process runs, and may look at its clock: what is over by it could be known since then, but not before the end
    /// of the last pause.
    pub(super) fn look_at_own_clock(&mut self, process: ProcessId) {
        let Some(found) = self.belief_of(process) else {
            return;
        };
        let timeout = self.session_timeout_of(process);
        let clock = &self.processes[process.0 as usize];
        let belief = &mut self.beliefs.held[found];
        let session = belief.disconnected.zip(timeout);
        let times_out = session.map(|(since, timeout)| since + timeout);
        for (over, how) in [
            (belief.valid_until, Knowledge::ValidityOver),
            (times_out, Knowledge::SessionTimedOut),
        ] {
            let Some(over) = over.map(|over| clock.world_time(over).max(belief.runs_since)) else {
                continue;
            };
            if over <= self.now && belief.known.is_none_or(|(since, _)| over < since) {
                belief.known = Some((over, how));
            }
        }
    }

    fn session_timeout_of(&self, process: ProcessId) -> Option<Duration> {
        let client = self.contenders[process.0 as usize].client?;
        Some(self.clients[client.0 as usize].machine.timeout())
    }

    /// The state of a contender's session has changed, or its event thread goes on and can say so.
    pub(super) fn look_at_session(&mut self, process: ProcessId) {
        let client = (self.contenders.get(process.0 as usize)).and_then(|it| it.client);
        let (Some(found), Some(client)) = (self.belief_of(process), client) else {
            return;
        };
        let machine = &self.clients[client.0 as usize].machine;
        if machine.events_are_blocked() {
            return;
        }
        let state = machine.state();
        let now = self.local_now(process);
        let belief = &mut self.beliefs.held[found];
        match state {
            SessionState::Connected => belief.disconnected = None,
            SessionState::Connecting | SessionState::ConnectedReadOnly => {
                belief.disconnected.get_or_insert(now);
            }
            SessionState::Closed => self.could_know_from_now(process, Knowledge::SessionLost),
        }
    }

    /// A contender's event thread goes on after a callback that did not return.
    pub(super) fn event_thread_goes_on(&mut self, process: ProcessId) {
        self.look_at_session(process);
        if let Some(found) = self.belief_of(process)
            && std::mem::take(&mut self.beliefs.held[found].gone_untold)
        {
            self.could_know_from_now(process, Knowledge::NodeGone);
        }
    }

    /// A contender asks an ensemble for something: if it is about a node of its own that is gone, the answer will say
    /// so.
    #[inline]
    pub(super) fn follow_look(
        &mut self,
        process: ProcessId,
        connection: ConnectionId,
        (xid, request): (Xid, &Request),
    ) {
        if self.believes_in_vain(process)
            && let Some(found) = self.belief_of(process)
            && node_of(request) == Some(&*self.beliefs.held[found].place)
        {
            self.beliefs.looks.push((connection, xid));
        }
    }

    /// A message of an ensemble has been delivered to the client of a contender that believes in vain.
    #[cold]
    pub(super) fn loss_delivered(
        &mut self,
        client: ClientId,
        connection: ConnectionId,
        message: &ServerMessage,
    ) {
        let process = self.clients[client.0 as usize].process;
        match message {
            ServerMessage::Reply { xid, reply, .. } => {
                let asked = (connection, *xid);
                let look = self.beliefs.looks.iter().position(|look| *look == asked);
                if look.map(|it| self.beliefs.looks.swap_remove(it)).is_some()
                    && reply.as_ref().err() == Some(&ZkError::NoNode)
                {
                    self.could_know_from_now(process, Knowledge::NodeGone);
                }
            }
            ServerMessage::Notification { kind, path } if *kind == EventType::NodeDeleted => {
                let own = self.belief_of(process);
                let own = own.filter(|found| self.beliefs.held[*found].place == *path);
                let blocked = self.clients[client.0 as usize].machine.events_are_blocked();
                match own {
                    Some(found) if blocked => self.beliefs.held[found].gone_untold = true,
                    Some(_) => self.could_know_from_now(process, Knowledge::NodeGone),
                    None => {}
                }
            }
            ServerMessage::Notification { .. }
            | ServerMessage::Connected { .. }
            | ServerMessage::Expired
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong
            | ServerMessage::WatchesSet { .. } => {}
        }
    }

    /// A server of Redis has answered a contender that its key is not its own. Of several servers, so many must have
    /// that no majority is left.
    pub(super) fn refused(&mut self, process: ProcessId, server: ServerId, needed: u32) {
        let Some(found) = self.belief_of(process) else {
            return;
        };
        let belief = &mut self.beliefs.held[found];
        belief.refused_by |= 1_u32.checked_shl(server.0.into()).unwrap_or(0);
        if belief.refused_by.count_ones() >= needed {
            self.could_know_from_now(process, Knowledge::Refused);
        }
    }
}

/// The one node that a request is about, if it says whether that is there.
fn node_of(request: &Request) -> Option<&str> {
    match request {
        Request::Delete { path, .. }
        | Request::Exists { path, .. }
        | Request::GetData { path, .. }
        | Request::SetData { path, .. }
        | Request::GetAcl { path }
        | Request::SetAcl { path, .. } => Some(path),
        Request::Create(_)
        | Request::GetChildren { .. }
        | Request::Sync { .. }
        | Request::Multi(_)
        | Request::MultiRead(_)
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::GetEphemerals { .. } => None,
    }
}
