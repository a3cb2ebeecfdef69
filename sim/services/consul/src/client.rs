//! A client and the agent of its machine, which has connections to servers and passes calls on.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::consul::{
    ClientMessage, ConsulError, ConsulResult, Request, Response, ServerMessage,
};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::settings::{ClientSettings, JITTER_FRACTION, RPC_HOLD_TIMEOUT, WAIT_TIME};

/// How long the agent waits for a server to take its connection.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// A client and its agent.
pub struct Client {
    settings: ClientSettings,
    /// The place of the server that is tried next.
    turn: usize,
    /// The connections that are open.
    open: BTreeMap<ConnectionId, ServerId>,
    /// The one that new calls take.
    current: Option<ConnectionId>,
    /// The server that is asked for a connection, until when, and how many were asked before.
    dialling: Option<(ServerId, VirtualTime, usize)>,
    calls: BTreeMap<u32, Call>,
    numbers: u32,
}

struct Call {
    request: Request,
    /// By which it was sent.
    connection: Option<ConnectionId>,
    deadline: VirtualTime,
    /// Until when it may be asked once more.
    again_until: VirtualTime,
}

/// What happens to a client.
pub enum Input {
    /// A caller makes a call. Calls are numbered from one on.
    Call(Request),
    /// A connection to a server is open.
    Opened(ConnectionId, ServerId),
    /// A server takes no connection.
    Refused(ServerId),
    /// A connection is gone.
    Broken(ConnectionId),
    /// An answer has come.
    Received(ConnectionId, ServerMessage),
    /// It is time to look at the clock.
    Wake,
}

/// What a client wants done.
pub enum Output {
    /// It wants a connection to a server.
    Connect(ServerId),
    /// A call goes out.
    Send(ConnectionId, ClientMessage),
    /// A connection is not needed.
    HangUp(ConnectionId),
    /// The call of this number is answered, or will not be.
    Answered(u32, ConsulResult<Response>),
}

impl Client {
    /// A client.
    pub fn new(settings: ClientSettings) -> Self {
        Self {
            settings,
            turn: 0,
            open: BTreeMap::new(),
            current: None,
            dialling: None,
            calls: BTreeMap::new(),
            numbers: 0,
        }
    }

    /// How many calls have no answer yet, blocking queries aside: these wait for a change.
    pub fn calls_under_way(&self) -> usize {
        let calls = self.calls.values();
        calls.filter(|call| !call.request.is_blocking()).count()
    }

    /// The connection that new calls take.
    pub fn connection(&self) -> Option<ConnectionId> {
        self.current
    }

    /// The call of this number, if it has no answer yet.
    pub fn call(&self, number: u32) -> Option<&Request> {
        self.calls.get(&number).map(|call| &call.request)
    }

    fn begin(&mut self, now: VirtualTime, request: Request) {
        self.numbers += 1;
        let wait = request.query().filter(|query| query.wait_index > 0);
        let wait = wait.map_or(Duration::ZERO, |query| {
            let wait = query.wait_time.unwrap_or(WAIT_TIME[0]).min(WAIT_TIME[1]);
            wait + wait / JITTER_FRACTION + RPC_HOLD_TIMEOUT
        });
        let call = Call {
            request,
            connection: None,
            deadline: now + self.settings.rpc_client_timeout + wait,
            again_until: now + RPC_HOLD_TIMEOUT,
        };
        self.calls.insert(self.numbers, call);
    }

    /// Sends what was not sent, or asks a server for a connection.
    fn send(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let mut unsent = self.calls.iter_mut();
        let mut unsent = unsent
            .by_ref()
            .filter(|(_, call)| call.connection.is_none());
        let Some(connection) = self.current else {
            if unsent.next().is_some() && self.dialling.is_none() {
                self.dial(now, 0, out);
            }
            return;
        };
        for (number, call) in unsent {
            call.connection = Some(connection);
            let (number, request) = (*number, call.request.clone());
            out.push(Output::Send(connection, ClientMessage { number, request }));
        }
    }

    fn dial(&mut self, now: VirtualTime, before: usize, out: &mut Vec<Output>) {
        let servers = &self.settings.servers;
        let server = servers[self.turn % servers.len()];
        self.turn += 1;
        self.dialling = Some((server, now + DIAL_TIMEOUT, before));
        out.push(Output::Connect(server));
    }

    /// A server has not taken the connection: the next is tried, and once all were, calls fail.
    fn refused(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let Some((_, _, before)) = self.dialling.take() else {
            return;
        };
        if before + 1 < self.settings.servers.len() {
            return self.dial(now, before + 1, out);
        }
        self.fail(ConsulError::NoServers, out, |call| {
            call.connection.is_none()
        });
    }

    /// Ends these calls with an error.
    fn fail(&mut self, error: ConsulError, out: &mut Vec<Output>, which: impl Fn(&Call) -> bool) {
        self.calls.retain(|number, call| {
            let fails = which(call);
            if fails {
                out.push(Output::Answered(*number, Err(error)));
            }
            !fails
        });
    }

    /// A connection is gone: reads are asked again for a while, and of writes is not known whether they were done.
    fn broken(&mut self, now: VirtualTime, connection: ConnectionId, out: &mut Vec<Output>) {
        self.open.remove(&connection);
        self.current.take_if(|current| *current == connection);
        for call in self.calls.values_mut() {
            let is_read = call.request.query().is_some();
            let again = is_read && (call.request.is_blocking() || now < call.again_until);
            call.connection.take_if(|by| *by == connection && again);
        }
        self.fail(ConsulError::Eof, out, |call| {
            call.connection == Some(connection)
        });
    }

    /// Calls without an answer are given up; new ones go to another server.
    fn due(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.dialling.is_some_and(|(_, until, _)| until <= now) {
            self.refused(now, out);
        }
        let is_late = |call: &Call| call.deadline <= now;
        let current = self.current;
        let mut calls = self.calls.values();
        if calls.any(|call| is_late(call) && call.connection == current) {
            self.current = None;
        }
        self.fail(ConsulError::DeadlineReached, out, is_late);
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
        match input {
            Input::Call(request) => self.begin(now, request),
            Input::Opened(connection, server) => {
                self.dialling.take_if(|(dialled, ..)| *dialled == server);
                if self.current.is_some() {
                    out.push(Output::HangUp(connection));
                } else {
                    self.open.insert(connection, server);
                    self.current = Some(connection);
                }
            }
            Input::Refused(server) => {
                if self.dialling.is_some_and(|(dialled, ..)| dialled == server) {
                    self.refused(now, out);
                }
            }
            Input::Broken(connection) => self.broken(now, connection, out),
            Input::Received(connection, message) => {
                let is_its = |call: &Call| call.connection == Some(connection);
                if self.calls.get(&message.number).is_some_and(is_its) {
                    self.calls.remove(&message.number);
                    out.push(Output::Answered(message.number, message.result));
                }
            }
            Input::Wake => {}
        }
        self.due(now, out);
        self.send(now, out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let dialling = self.dialling.map(|(_, until, _)| until);
        let calls = self.calls.values().map(|call| call.deadline);
        let soonest = calls.chain(dialling).min();
        soonest.unwrap_or(VirtualTime::NEVER)
    }
}

#[cfg(test)]
mod tests;
