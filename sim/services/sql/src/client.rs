//! A client: the connections of a process, as a driver has them. Each is a session of a server, and executes one
//! statement at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::sql::{
    ClientBody, ClientMessage, Dialect, QueryResult, ServerMessage, SqlError, SqlResult, Statement,
};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

/// The number of a session, as its client counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u32);

/// How a client is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// What the servers are.
    pub dialect: Dialect,
    /// How many servers there are: they are tried in their order until one takes the connection.
    pub servers: u8,
    /// How long it waits for a server to take a connection.
    pub connect_timeout: Duration,
    /// How long it waits for an answer, and then closes the connection; `None`: for ever.
    pub socket_timeout: Option<Duration>,
}

/// What happens to a client.
#[derive(Clone, Debug)]
pub enum Input {
    /// A caller wants a session.
    Connect(SessionId),
    /// What was dialled for a session is this connection.
    Dialled(SessionId, ConnectionId),
    /// A caller wants a statement executed by a session.
    Execute(SessionId, Statement),
    /// A caller closes a session.
    Close(SessionId),
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
#[derive(Clone, Debug)]
pub enum Output {
    /// Dials a server for a session.
    Dial(SessionId, ServerId),
    /// Sends a message.
    Send(ConnectionId, ClientMessage),
    /// Closes a connection.
    HangUp(ConnectionId),
    /// The session is there, or will not be.
    Connected(SessionId, SqlResult<()>),
    /// What the statement of a session has come to.
    Answered(SessionId, SqlResult<QueryResult>),
    /// The session is gone.
    Gone(SessionId),
}

#[derive(Debug)]
struct Session {
    connection: Option<ConnectionId>,
    /// The server that it is at, or that is dialled.
    server: u8,
    is_open: bool,
    /// How many statements it has sent.
    sent: u32,
    /// A statement has no answer yet.
    is_asking: bool,
    /// The statement waits at the server for a lock.
    waits: bool,
    /// When what it waits for is given up.
    deadline: VirtualTime,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    settings: ClientSettings,
    sessions: BTreeMap<SessionId, Session>,
}

impl Client {
    /// One that has no session.
    pub fn new(settings: ClientSettings) -> Self {
        Self {
            settings,
            sessions: BTreeMap::new(),
        }
    }

    /// Its connections, and those that it is making.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.sessions
            .values()
            .filter_map(|session| session.connection)
    }

    /// How many sessions are not there yet, or have a statement that is under way and does not wait for a lock.
    pub fn under_way(&self) -> usize {
        let all = self.sessions.values();
        all.filter(|session| !session.is_open || session.is_asking && !session.waits)
            .count()
    }

    /// Whether a statement has no answer yet that this connection has carried.
    pub fn is_asking(&self, connection: ConnectionId) -> bool {
        let mut all = self.sessions.values();
        all.any(|session| session.connection == Some(connection) && session.is_asking)
    }

    /// The statement of this connection has come to wait for a lock, or is answered. Answers whether that is new.
    pub fn set_waits(&mut self, connection: ConnectionId, waits: bool) -> bool {
        let mut all = self.sessions.values_mut();
        let session =
            all.find(|session| session.connection == Some(connection) && session.is_asking);
        session.is_some_and(|session| std::mem::replace(&mut session.waits, waits) != waits)
    }

    fn of(&mut self, connection: ConnectionId) -> Option<(SessionId, &mut Session)> {
        let mut all = self.sessions.iter_mut();
        let found = all.find(|(_, session)| session.connection == Some(connection));
        found.map(|(id, session)| (*id, session))
    }

    /// Dials the next server for a session, or gives it up.
    fn next_server(&mut self, id: SessionId, now: VirtualTime, out: &mut Vec<Output>) {
        let (servers, timeout) = (self.settings.servers, self.settings.connect_timeout);
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        session.server += 1;
        session.connection = None;
        if session.server == servers {
            self.sessions.remove(&id);
            out.push(Output::Connected(id, Err(SqlError::NotConnected)));
            return;
        }
        session.deadline = now + timeout;
        out.push(Output::Dial(id, ServerId(session.server)));
    }

    /// A session is gone, and the statement that it has not answered with it.
    fn gone(&mut self, id: SessionId, why: SqlError, out: &mut Vec<Output>) {
        if let Some(session) = self.sessions.remove(&id) {
            if session.is_asking {
                out.push(Output::Answered(id, Err(why)));
            }
            out.push(Output::Gone(id));
        }
    }

    fn execute(
        &mut self,
        id: SessionId,
        statement: Statement,
        now: VirtualTime,
        out: &mut Vec<Output>,
    ) {
        let ClientSettings {
            dialect,
            socket_timeout,
            ..
        } = self.settings;
        let session = self.sessions.get_mut(&id);
        let Some((session, connection)) =
            session.and_then(|session| session.connection.map(|connection| (session, connection)))
        else {
            out.push(Output::Answered(id, Err(SqlError::NotConnected)));
            return;
        };
        session.sent += 1;
        session.is_asking = true;
        session.waits = false;
        session.deadline = socket_timeout.map_or(VirtualTime::NEVER, |timeout| now + timeout);
        let message = ClientMessage {
            number: session.sent,
            dialect,
            body: ClientBody::Query(statement),
        };
        out.push(Output::Send(connection, message));
    }

    fn received(
        &mut self,
        connection: ConnectionId,
        message: ServerMessage,
        out: &mut Vec<Output>,
    ) {
        let Some((id, session)) = self.of(connection) else {
            return;
        };
        if session.is_asking && [session.sent, 0].contains(&message.number) {
            session.is_asking = false;
            session.waits = false;
            session.deadline = VirtualTime::NEVER;
            out.push(Output::Answered(
                id,
                message.result.map_err(SqlError::Server),
            ));
        }
    }

    /// Gives up what has taken too long.
    fn give_up(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let all = self.sessions.iter();
        let due = all.filter(|(_, session)| session.deadline <= now);
        let due: Vec<(SessionId, bool, Option<ConnectionId>)> = due
            .map(|(id, session)| (*id, session.is_open, session.connection))
            .collect();
        for (id, is_open, connection) in due {
            out.extend(connection.map(Output::HangUp));
            match is_open {
                true => self.gone(id, SqlError::TimedOut, out),
                false => self.next_server(id, now, out),
            }
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
            Input::Connect(id) => {
                let session = Session {
                    connection: None,
                    server: 0,
                    is_open: false,
                    sent: 0,
                    is_asking: false,
                    waits: false,
                    deadline: now + self.settings.connect_timeout,
                };
                self.sessions.insert(id, session);
                out.push(Output::Dial(id, ServerId(0)));
            }
            Input::Dialled(id, connection) => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.connection = Some(connection);
                }
            }
            Input::Execute(id, statement) => self.execute(id, statement, now, out),
            Input::Close(id) => {
                if let Some(session) = self.sessions.remove(&id) {
                    out.extend(session.connection.map(Output::HangUp));
                }
            }
            Input::Opened(connection) => {
                if let Some((id, session)) = self.of(connection) {
                    session.is_open = true;
                    session.deadline = VirtualTime::NEVER;
                    out.push(Output::Connected(id, Ok(())));
                }
            }
            Input::Broken(connection) => {
                if let Some((id, session)) = self.of(connection) {
                    match session.is_open {
                        true => self.gone(id, SqlError::ConnectionLoss, out),
                        false => self.next_server(id, now, out),
                    }
                }
            }
            Input::Received(connection, message) => self.received(connection, message, out),
            Input::Wake => self.give_up(now, out),
        }
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let deadlines = self.sessions.values().map(|session| session.deadline);
        deadlines.min().unwrap_or(VirtualTime::NEVER)
    }
}

#[cfg(test)]
mod tests;
