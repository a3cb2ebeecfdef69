//! Sessions of a master, and how it keeps their leases (section 2.8).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{Epoch, ServerBody, SessionId};
use picklock_machines::ConnectionId;

use super::{Caller, Master, reply};
use crate::io::{Departure, Output};
use crate::settings::Settings;

/// A session.
pub(super) struct Session {
    lease_until: VirtualTime,
    /// The KeepAlive that the master holds back, and since when.
    held: Option<(Caller, VirtualTime)>,
    /// By which connection the last KeepAlive came.
    connection: Option<ConnectionId>,
    knows_master: bool,
}

impl Session {
    /// One of the database, which has not heard of the master.
    pub fn found(lease_until: VirtualTime) -> Self {
        Self {
            lease_until,
            held: None,
            connection: None,
            knows_master: false,
        }
    }

    pub fn knows_master(&self) -> bool {
        self.knows_master
    }

    pub fn connection_gone(&mut self, connection: ConnectionId) {
        self.held.take_if(|((of, _), _)| *of == connection);
    }

    pub fn into_caller(self) -> Option<Caller> {
        self.held.map(|(caller, _)| caller)
    }

    /// When its lease ends, or the KeepAlive that is held back has to be answered before that.
    pub fn next_look(&self, settings: &Settings) -> VirtualTime {
        match self.held {
            Some(_) => {
                let before = self.lease_until.since_start();
                VirtualTime::ZERO + before.saturating_sub(settings.margin())
            }
            None => self.lease_until,
        }
    }
}

impl Master {
    pub(super) fn create_session(
        &mut self,
        now: VirtualTime,
        caller: Caller,
        out: &mut Vec<Output>,
    ) {
        let session = self.cell.0.borrow_mut().new_session();
        let mut created = Session::found(now);
        created.knows_master = true;
        created.connection = Some(caller.0);
        self.sessions.insert(session, created);
        out.push(Output::SessionBegan(caller.0, session));
        out.push(Output::Done(caller.0, caller.1));
        self.extend(now, (caller, session), Duration::ZERO, out);
    }

    /// A KeepAlive is held back until the lease is nearly over. The first one by a connection is answered at once, as
    /// is that of a client that has to hear of a fail-over.
    pub(super) fn keep_alive(
        &mut self,
        now: VirtualTime,
        (caller, id): (Caller, SessionId),
        knows: Epoch,
        out: &mut Vec<Output>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        session.knows_master |= knows == self.epoch;
        session.held = Some((caller, now));
        let is_first = session.connection.replace(caller.0) != Some(caller.0);
        if is_first || !session.knows_master || session.next_look(&self.settings) <= now {
            session.held = None;
            self.extend(now, (caller, id), Duration::ZERO, out);
        }
    }

    /// Extends a lease, and answers: the end of a lease only moves forward.
    fn extend(
        &mut self,
        now: VirtualTime,
        (caller, id): (Caller, SessionId),
        held: Duration,
        out: &mut Vec<Output>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        session.lease_until = session.lease_until.max(now + self.settings.session_lease);
        let kept = ServerBody::KeptAlive {
            session: id,
            epoch: self.epoch,
            lease: self.settings.session_lease,
            held,
            failed_over: !session.knows_master,
        };
        out.push(reply(caller, kept));
    }

    /// Answers KeepAlives whose leases are nearly over, and ends sessions whose leases are over.
    pub(super) fn look_at_leases(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let settings = &self.settings;
        let sessions = self.sessions.iter();
        let due = sessions.filter(|(_, session)| session.next_look(settings) <= now);
        let due: Vec<SessionId> = due.map(|(id, _)| *id).collect();
        for id in due {
            let session = self.sessions.get_mut(&id);
            match session.and_then(|session| session.held.take()) {
                Some((caller, since)) => self.extend(now, (caller, id), now.since(since), out),
                None => self.expire(now, id, out),
            }
        }
    }

    /// A session is over: its handles are invalid, and its locks are free after their delay.
    fn expire(&mut self, now: VirtualTime, id: SessionId, out: &mut Vec<Output>) {
        self.sessions.remove(&id);
        self.handles.retain(|(session, _), _| *session != id);
        self.closed.retain(|(session, _)| *session != id);
        self.waiters.retain(|waiter| waiter.handle.0 != id);
        let mut database = self.cell.0.borrow_mut();
        database.sessions.remove(&id);
        let files = database.files.iter();
        let held = files.flat_map(|(name, file)| file.lock.handles().map(|by| (name.clone(), by)));
        let held: Vec<_> = held.filter(|(_, (session, _))| *session == id).collect();
        drop(database);
        for (name, handle) in held {
            self.release(now, (&name, handle), Departure::Failed, out);
        }
        self.sweep();
        out.push(Output::SessionExpired(id));
    }
}
