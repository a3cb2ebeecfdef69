//! A client: it finds the server of a key by a hash, asks one thing at a time, and leaves out a server that has failed
//! several times in a row, if it is to (`MEMCACHED_BEHAVIOR_AUTO_EJECT_HOSTS` of libmemcached, `HashClient` of
//! pymemcache).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::completion::Completion;
use picklock_clients::memcached::{
    ClientMessage, Command, MemcachedError, MemcachedResult, Reply, ServerMessage,
};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::Distribution;

/// How a client is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// How many servers there are.
    pub servers: u8,
    /// How keys are distributed over them.
    pub distribution: Distribution,
    /// How long it waits for a connection and an answer together.
    pub timeout: Duration,
    /// After so many failures in a row a server is left out; `None`: never.
    pub failure_limit: Option<u32>,
    /// For how long it is.
    pub dead_timeout: Duration,
}

/// What a client knows of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    connection: Option<ConnectionId>,
    is_open: bool,
    failures: u32,
    /// Until when it is left out.
    dead_until: VirtualTime,
}

/// A command that is under way, or waits for its connection.
struct Asked {
    server: ServerId,
    message: ClientMessage,
    is_sent: bool,
    deadline: VirtualTime,
    caller: Completion<MemcachedResult<Reply>>,
}

/// A client.
pub struct Client {
    settings: ClientSettings,
    known: Vec<Known>,
    asked: Option<Asked>,
    sent: u32,
    answered: u32,
}

/// What happens to a client.
pub enum Input {
    /// A caller has a command.
    Call(Command, Completion<MemcachedResult<Reply>>),
    /// What was dialled at a server is this connection.
    Dialled(ServerId, ConnectionId),
    /// A connection is open.
    Opened(ConnectionId),
    /// There is no connection, or no longer.
    Broken(ConnectionId),
    /// An answer has come.
    Received(ConnectionId, ServerMessage),
    /// It is time to look at the clock.
    Wake,
}

/// What a client wants done.
pub enum Output {
    /// Dials a server.
    Dial(ServerId),
    /// Sends a command.
    Send(ConnectionId, ClientMessage),
    /// Closes a connection.
    HangUp(ConnectionId),
}

impl Client {
    /// One that has no connection.
    pub fn new(settings: ClientSettings) -> Self {
        Self {
            settings,
            known: vec![Known::default(); settings.servers.into()],
            asked: None,
            sent: 0,
            answered: 0,
        }
    }

    /// Its connections, and those that it is making.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.known.iter().filter_map(|known| known.connection)
    }

    /// Whether a command of this number was sent by a connection and has no answer yet.
    pub fn awaits(&self, connection: ConnectionId, number: u32) -> bool {
        self.asked.as_ref().is_some_and(|asked| {
            asked.message.number == number
                && self.known[usize::from(asked.server.0)].connection == Some(connection)
        })
    }

    /// Whether a caller waits for an answer.
    pub fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    /// How many of its commands have had no answer.
    pub fn unanswered(&self) -> u32 {
        self.sent - self.answered
    }

    /// The server of the last command that has no answer, or else of a key.
    pub fn server_of(&self, key: &str, now: VirtualTime) -> Option<ServerId> {
        let is_left = |(_, known): &(u8, &Known)| known.dead_until <= now;
        let left: Vec<ServerId> = (0..)
            .zip(&self.known)
            .filter(is_left)
            .map(|(place, _)| ServerId(place))
            .collect();
        self.settings.distribution.server_of(key, &left)
    }

    fn of(&mut self, connection: ConnectionId) -> Option<(ServerId, &mut Known)> {
        let mut known = (0..).map(ServerId).zip(&mut self.known);
        known.find(|(_, known)| known.connection == Some(connection))
    }

    fn call(
        &mut self,
        now: VirtualTime,
        (command, caller): (Command, Completion<MemcachedResult<Reply>>),
        out: &mut Vec<Output>,
    ) {
        if let Some(given_up) = self.asked.take().filter(|asked| asked.is_sent) {
            // What comes by that connection would be the answer to the command before.
            self.hang_up(given_up.server, out);
        }
        let key = command.key().map_or("", |key| &**key);
        let Some(server) = self.server_of(key, now) else {
            return caller.complete(Err(MemcachedError::NotConnected));
        };
        self.sent += 1;
        self.asked = Some(Asked {
            server,
            message: ClientMessage {
                number: self.sent,
                command,
            },
            is_sent: false,
            deadline: now + self.settings.timeout,
            caller,
        });
        match self.known[usize::from(server.0)].connection {
            Some(_) => self.send(out),
            None => out.push(Output::Dial(server)),
        }
    }

    /// Sends what waits for its connection, if that is open.
    fn send(&mut self, out: &mut Vec<Output>) {
        if let Some(asked) = self.asked.as_mut().filter(|asked| !asked.is_sent)
            && let known = &self.known[usize::from(asked.server.0)]
            && let Some(connection) = known.connection.filter(|_| known.is_open)
        {
            asked.is_sent = true;
            out.push(Output::Send(connection, asked.message.clone()));
        }
    }

    fn hang_up(&mut self, server: ServerId, out: &mut Vec<Output>) {
        let known = &mut self.known[usize::from(server.0)];
        known.is_open = false;
        out.extend(known.connection.take().map(Output::HangUp));
    }

    /// A server has failed, and with it what it was asked.
    fn failed(&mut self, now: VirtualTime, server: ServerId, error: MemcachedError) {
        let known = &mut self.known[usize::from(server.0)];
        known.failures += 1;
        if { self.settings.failure_limit }.is_some_and(|limit| known.failures >= limit) {
            known.failures = 0;
            known.dead_until = now + self.settings.dead_timeout;
        }
        if let Some(asked) = self.asked.take_if(|asked| asked.server == server) {
            asked.caller.complete(Err(match asked.is_sent {
                true => error,
                false => MemcachedError::NotConnected,
            }));
        }
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
            Input::Call(command, caller) => self.call(now, (command, caller), out),
            Input::Dialled(server, connection) => {
                self.known[usize::from(server.0)].connection = Some(connection);
            }
            Input::Opened(connection) => {
                if let Some((_, known)) = self.of(connection) {
                    known.is_open = true;
                    self.send(out);
                }
            }
            Input::Broken(connection) => {
                if let Some((server, known)) = self.of(connection) {
                    (known.connection, known.is_open) = (None, false);
                    // A connection that was idle is dialled again when it is needed.
                    if { self.asked.as_ref() }.is_some_and(|asked| asked.server == server) {
                        self.failed(now, server, MemcachedError::ConnectionLoss);
                    }
                }
            }
            Input::Received(connection, message) => {
                if self.awaits(connection, message.number)
                    && let Some(asked) = self.asked.take()
                {
                    self.answered += 1;
                    self.known[usize::from(asked.server.0)].failures = 0;
                    asked.caller.complete(Ok(message.reply));
                }
            }
            Input::Wake => {
                if let Some(asked) = self.asked.as_ref().filter(|asked| asked.deadline <= now) {
                    let server = asked.server;
                    self.hang_up(server, out);
                    self.failed(now, server, MemcachedError::TimedOut);
                }
            }
        }
        Alarm::MayBeEarlier
    }

    /// When the answer is waited for no longer.
    fn next_wake(&self) -> VirtualTime {
        let asked = self.asked.as_ref();
        asked.map_or(VirtualTime::NEVER, |asked| asked.deadline)
    }
}
