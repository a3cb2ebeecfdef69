//! The master of a cell: what it keeps in memory, and what it does with it.

mod calls;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{
    ChubbyResult, ClientBody, ClientMessage, Epoch, HandleData, LockMode, Response, Sequencer,
    ServerBody, ServerMessage, SessionId,
};
use picklock_machines::ConnectionId;

use crate::database::Cell;
use crate::io::{Departure, Output};
use crate::lock::HandleKey;
use crate::settings::{SWEEP, Settings};
use sessions::Session;

/// A master.
pub(crate) struct Master {
    epoch: Epoch,
    settings: Settings,
    cell: Cell,
    sessions: BTreeMap<SessionId, Session>,
    handles: BTreeMap<HandleKey, OpenHandle>,
    /// Handles that were closed in this epoch: a packet that is late does not make them again (section 2.9, step 8).
    closed: BTreeSet<HandleKey>,
    /// Calls that wait for a lock, in their order.
    waiters: Vec<Waiter>,
    /// Calls that wait until every session knows of this master, if some do not yet (section 2.9, step 6).
    deferred: Option<Vec<(ConnectionId, ClientMessage)>>,
    /// When ephemeral files go that no client has opened since (section 2.9, step 9).
    sweeps_at: VirtualTime,
    looked_at: VirtualTime,
}

/// What a master knows of an open handle.
struct OpenHandle {
    data: HandleData,
    sequencer: Option<Sequencer>,
}

/// Where an answer goes: the connection, and the number of the call.
type Caller = (ConnectionId, u32);

struct Waiter {
    caller: Caller,
    handle: HandleKey,
    name: Rc<str>,
    mode: LockMode,
}

fn reply((connection, call): Caller, body: ServerBody) -> Output {
    Output::ToClient(connection, ServerMessage { call, body })
}

fn answer(caller: Caller, answer: ChubbyResult<Response>) -> Output {
    reply(caller, ServerBody::Answer(answer))
}

impl Master {
    /// A new master builds what it keeps from the database: sessions with leases as long as the former one may have
    /// given them (section 2.9, step 3). The first master of all finds none.
    pub fn new(epoch: Epoch, cell: Cell, settings: Settings, now: VirtualTime) -> Self {
        let until = now + settings.session_lease;
        let known = cell.0.borrow().sessions.clone();
        let sessions = known.into_iter().map(|id| (id, Session::found(until)));
        let sessions: BTreeMap<_, _> = sessions.collect();
        Self {
            epoch,
            settings,
            cell,
            deferred: (!sessions.is_empty()).then(Vec::new),
            sessions,
            handles: BTreeMap::new(),
            closed: BTreeSet::new(),
            waiters: Vec::new(),
            sweeps_at: now + SWEEP,
            looked_at: now,
        }
    }

    /// Looks at the clock.
    pub fn tick(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        self.looked_at = now;
        self.look_at_leases(now, out);
        self.take_back_calls(now, out);
        self.pass_on(now, out);
        if self.sweeps_at <= now {
            self.sweeps_at = VirtualTime::NEVER;
            self.sweep();
        }
    }

    /// When it has to look at the clock.
    pub fn next_wake(&self) -> VirtualTime {
        let leases = self.sessions.values();
        let leases = leases.map(|session| session.next_look(&self.settings));
        let database = self.cell.0.borrow();
        let waited_for = self.waiters.iter();
        let files = waited_for.filter_map(|waiter| database.files.get(&waiter.name));
        let delays = files.map(|file| file.lock.delayed_until());
        // A delay that is over keeps no waiter: the lock is held.
        let delays = delays.filter(|until| *until > self.looked_at);
        let sweep = match database.files.values().any(|file| file.is_ephemeral) {
            true => self.sweeps_at,
            false => VirtualTime::NEVER,
        };
        leases.chain(delays).fold(sweep, VirtualTime::min)
    }

    /// A message of a client.
    pub fn receive(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        message: ClientMessage,
        out: &mut Vec<Output>,
    ) {
        let caller = (connection, message.call);
        match message.body {
            // Step 1: calls of clients of a former master have no effect.
            ClientBody::KeepAlive(_) | ClientBody::Call(..) if message.epoch != self.epoch => {
                out.push(reply(caller, ServerBody::WrongEpoch(self.epoch)));
            }
            ClientBody::KeepAlive(_) | ClientBody::Call(..)
                if !self.sessions.contains_key(&message.session) =>
            {
                out.push(reply(caller, ServerBody::NoSession));
            }
            ClientBody::KeepAlive(knows) => {
                self.keep_alive(now, (caller, message.session), knows, out);
                self.take_back_calls(now, out);
            }
            // Step 4: there is nothing but KeepAlives until all sessions know of this master.
            ClientBody::CreateSession | ClientBody::Call(..) if self.deferred.is_some() => {
                let deferred = self.deferred.get_or_insert_default();
                deferred.push((connection, message));
            }
            ClientBody::CreateSession => self.create_session(now, caller, out),
            ClientBody::Call(data, request) => {
                let handle = (message.session, data.id);
                self.call(now, caller, (handle, data), request, out);
            }
        }
    }

    /// Steps 6 and 7: when every session has acknowledged the fail-over, or has ended, all calls are served.
    fn take_back_calls(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.sessions.values().all(Session::knows_master)
            && let Some(deferred) = self.deferred.take()
        {
            for (connection, message) in deferred {
                self.receive(now, connection, message, out);
            }
        }
    }

    /// A connection is gone, and nothing can be answered by it.
    pub fn client_gone(&mut self, connection: ConnectionId) {
        self.waiters.retain(|waiter| waiter.caller.0 != connection);
        for session in self.sessions.values_mut() {
            session.connection_gone(connection);
        }
        if let Some(deferred) = &mut self.deferred {
            deferred.retain(|(of, _)| *of != connection);
        }
    }

    /// It is the master no longer: clients that wait for an answer ask another replica.
    pub fn turn_away(self, out: &mut Vec<Output>) {
        let held = self.sessions.into_values();
        let held = held.filter_map(Session::into_caller);
        let waiting = self.waiters.into_iter().map(|waiter| waiter.caller);
        let deferred = self.deferred.unwrap_or_default().into_iter();
        let deferred = deferred.map(|(connection, message)| (connection, message.call));
        let callers = held.chain(waiting).chain(deferred);
        out.extend(callers.map(|caller| reply(caller, ServerBody::NotMaster(None))));
    }

    /// Gives locks to their waiters, in order, where they are free and no lock-delay holds them.
    fn pass_on(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let mut kept: Vec<Waiter> = Vec::new();
        for waiter in std::mem::take(&mut self.waiters) {
            let is_behind = kept.iter().any(|other| other.name == waiter.name);
            if !is_behind && self.claim(now, waiter.handle, waiter.mode, out) {
                out.push(Output::Done(waiter.caller.0, waiter.caller.1));
                out.push(answer(waiter.caller, Ok(Response::Done(true))));
            } else {
                kept.push(waiter);
            }
        }
        self.waiters = kept;
    }

    /// Takes a lock for a handle, if it can be claimed.
    fn claim(
        &self,
        now: VirtualTime,
        handle: HandleKey,
        mode: LockMode,
        out: &mut Vec<Output>,
    ) -> bool {
        let Some(open) = self.handles.get(&handle) else {
            return false;
        };
        let mut database = self.cell.0.borrow_mut();
        let Some(file) = database.files.get_mut(&open.data.name) else {
            return false;
        };
        if !file.lock.can_be_claimed(mode, now) {
            return false;
        }
        file.lock.claim(handle, mode, open.data.options.lock_delay);
        let name = Rc::clone(&open.data.name);
        out.push(Output::Acquired(name, handle.0, handle.1, mode));
        true
    }

    /// A handle gives back the lock of a file. Answers whether it had it.
    fn release(
        &mut self,
        now: VirtualTime,
        (name, handle): (&Rc<str>, HandleKey),
        departure: Departure,
        out: &mut Vec<Output>,
    ) -> bool {
        let failed_at = (departure == Departure::Failed).then_some(now);
        let mut database = self.cell.0.borrow_mut();
        let file = database.files.get_mut(name);
        let released = file.is_some_and(|file| file.lock.release(handle, failed_at));
        if released {
            let name = Rc::clone(name);
            out.push(Output::Released(name, handle.0, handle.1, departure));
        }
        released
    }

    /// Ephemeral files go that no client has open (section 2.3). A new master waits a minute before it looks.
    fn sweep(&mut self) {
        if self.sweeps_at != VirtualTime::NEVER {
            return;
        }
        let handles = &self.handles;
        let is_open = |name: &Rc<str>| handles.values().any(|open| open.data.name == *name);
        let files = &mut self.cell.0.borrow_mut().files;
        files.retain(|name, file| !file.is_ephemeral || is_open(name));
    }
}
