//! The client library: it finds the master, keeps the session alive, and repeats calls (sections 2.8 and 2.9).

mod calls;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{
    ChubbyError, ChubbyResult, ClientMessage, HandleData, HandleId, Request, Response, ServerBody,
    ServerMessage, SessionState,
};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use calls::Call;
use session::Session;

/// How long it waits before it tries another replica.
const RETRY: Duration = Duration::from_millis(200);
/// How long it waits for the answer of a replica that it does not know to be the master; each time in vain is twice as
/// long as the one before.
const ANSWER: Duration = Duration::from_secs(2);

/// How a client is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// How many replicas the cell has.
    pub replicas: u8,
    /// The one that it asks first.
    pub first: ServerId,
    /// How long it tries to find a master when the local lease has ended (section 2.8).
    pub grace_period: Duration,
}

/// What happens to a client.
#[derive(Clone, Debug)]
pub enum Input {
    /// What it has dialled has this number.
    Dialled(ConnectionId),
    /// A connection is open.
    Opened(ConnectionId),
    /// A connection is gone, or was refused.
    Broken(ConnectionId),
    /// A message of a replica.
    Received(ConnectionId, ServerMessage),
    /// A call of this number by a handle.
    Call(u32, HandleId, Request),
    /// The caller of this number is gone.
    GiveUp(u32),
    /// A handle is closed.
    Close(HandleId),
    /// Calls of a handle are to fail.
    Poison(HandleId),
    /// It is time to look at the clock.
    Wake,
}

/// What a client wants done, or has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// It wants a connection to a replica.
    Dial(ServerId),
    /// A message goes out.
    Send(ConnectionId, ClientMessage),
    /// It closes a connection.
    HangUp(ConnectionId),
    /// A call has come to this.
    Answered(u32, ChubbyResult<Response>),
    /// Its session is in another state.
    Session(SessionState),
}

/// A client.
pub struct Client {
    settings: ClientSettings,
    /// The replica that it asks, by this connection if it has one, and whether that is open.
    replica: ServerId,
    connection: Option<ConnectionId>,
    is_open: bool,
    /// Whether it has answered a KeepAlive, and so is the master.
    is_master: bool,
    /// When it asks for a connection, if it has none; and until when it waits for an answer, if it is in doubt.
    dials_at: VirtualTime,
    patience: Duration,
    session: Session,
    calls: BTreeMap<u32, Call>,
    /// Handles of the session that are open, or are about to be.
    handles: BTreeMap<HandleId, Option<HandleData>>,
    poisoned: BTreeSet<HandleId>,
    numbers: u32,
}

impl Client {
    /// A client that has no session before it makes a call.
    pub fn new(settings: ClientSettings) -> Self {
        Self {
            replica: settings.first,
            settings,
            connection: None,
            is_open: false,
            is_master: false,
            dials_at: VirtualTime::ZERO,
            patience: ANSWER,
            session: Session::default(),
            calls: BTreeMap::new(),
            handles: BTreeMap::new(),
            poisoned: BTreeSet::new(),
            numbers: 0,
        }
    }

    /// A new number of a call, or of a handle.
    pub fn new_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// The connection that it has, or is making.
    pub fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// Whether calls wait because the session may be over.
    pub fn session_state(&self) -> SessionState {
        self.session.state
    }

    /// How many calls have no answer; those that wait for a lock at the master do not count.
    pub fn under_way(&self) -> usize {
        let waits =
            |call: &Call| call.is_sent && call.answer.is_none() && call.request.waits_for_turn();
        self.calls.values().filter(|call| !waits(call)).count()
    }

    fn received(&mut self, now: VirtualTime, message: ServerMessage, out: &mut Vec<Output>) {
        match message.body {
            ServerBody::NotMaster(master) => self.ask_another(now, master.map(ServerId), out),
            ServerBody::WrongEpoch(epoch) => {
                if self.session.epoch < epoch {
                    self.session.epoch = epoch;
                    self.session.asked = None;
                    self.repeat_calls();
                }
            }
            ServerBody::NoSession => self.expire(out),
            ServerBody::KeptAlive { .. } => {
                if self.session.extend(now, &message) {
                    self.is_master = true;
                    self.patience = ANSWER;
                    self.is_safe(out);
                }
            }
            ServerBody::Answer(answer) => self.answered(message.call, answer, out),
        }
    }

    /// The local lease is good again.
    fn is_safe(&mut self, out: &mut Vec<Output>) {
        if self.session.state != SessionState::Safe {
            self.session.state = SessionState::Safe;
            out.push(Output::Session(SessionState::Safe));
            self.give_answers(out);
        }
    }

    /// The session is over: its handles are invalid, and its calls fail.
    fn expire(&mut self, out: &mut Vec<Output>) {
        self.session = self.session.expired();
        self.handles.clear();
        self.poisoned.clear();
        out.push(Output::Session(SessionState::Expired));
        let error = Err(ChubbyError::SessionExpired);
        let calls = std::mem::take(&mut self.calls).into_keys();
        out.extend(calls.map(|number| Output::Answered(number, error.clone())));
    }

    /// It has no connection any more.
    fn disconnected(&mut self) {
        self.connection = None;
        self.is_open = false;
        self.is_master = false;
        self.session.asked = None;
        self.repeat_calls();
    }

    /// It asks this replica, or the next one if none is named.
    fn ask_another(&mut self, now: VirtualTime, master: Option<ServerId>, out: &mut Vec<Output>) {
        if let Some(connection) = self.connection {
            out.push(Output::HangUp(connection));
        }
        self.disconnected();
        let next = ServerId((self.replica.0 + 1) % self.settings.replicas);
        self.dials_at = match master {
            Some(_) => now,
            None => now + RETRY,
        };
        self.replica = master.unwrap_or(next);
    }

    /// Looks at the clock.
    fn tick(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.session.is_in_jeopardy(now) {
            self.session.state = SessionState::Jeopardy;
            out.push(Output::Session(SessionState::Jeopardy));
            // The master may be gone, and nothing has said so.
            self.ask_another(now, None, out);
            self.dials_at = now;
        }
        let grace = self.session.lease_until + self.settings.grace_period;
        if self.session.state == SessionState::Jeopardy && grace <= now {
            self.expire(out);
        }
        if self.doubts_until() <= now {
            self.patience *= 2;
            self.ask_another(now, None, out);
        }
    }

    /// Until when it waits for a replica that may not be the master, or may not hear it.
    fn doubts_until(&self) -> VirtualTime {
        match (self.connection, self.is_master) {
            (Some(_), false) => self.dials_at + self.patience,
            _ => VirtualTime::NEVER,
        }
    }

    /// Sends what can be sent.
    fn send(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if !self.session.is_wanted {
            return;
        }
        if self.connection.is_none() && self.dials_at <= now {
            self.dials_at = now;
            out.push(Output::Dial(self.replica));
        }
        let Some(connection) = self.connection.filter(|_| self.is_open) else {
            return;
        };
        if self.session.asked.is_none() {
            let number = self.new_number();
            out.push(Output::Send(connection, self.session.ask(number, now)));
        }
        if !self.is_master || self.session.state != SessionState::Safe {
            return;
        }
        self.send_calls(connection, out);
    }
}

impl Machine for Client {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        _chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let now = now.monotonic;
        self.tick(now, out);
        match input {
            Input::Dialled(connection) => self.connection = Some(connection),
            Input::Opened(connection) => self.is_open = self.connection == Some(connection),
            Input::Broken(connection) => {
                if self.connection == Some(connection) {
                    self.connection = None;
                    self.ask_another(now, None, out);
                }
            }
            Input::Received(connection, message) => {
                if self.connection == Some(connection) {
                    self.received(now, message, out);
                }
            }
            Input::Call(number, handle, request) => self.on_call(number, handle, request, out),
            Input::GiveUp(number) => {
                self.calls.remove(&number);
            }
            Input::Close(handle) => self.close(handle),
            Input::Poison(handle) => self.poison(handle, out),
            Input::Wake => {}
        }
        self.send(now, out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let dials = match self.session.is_wanted && self.connection.is_none() {
            true => self.dials_at,
            false => VirtualTime::NEVER,
        };
        let session = self.session.next_look(self.settings.grace_period);
        dials.min(session).min(self.doubts_until())
    }
}
