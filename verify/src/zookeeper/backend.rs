//! What is compared: an ensemble that can be connected to, asked, and stopped. One is real, the other is the model.

use std::time::Duration;

use picklock_clients::zookeeper::{SessionId, Zxid};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};

use crate::harness::clock::Clock;
use crate::harness::error::Result;

/// A connection of this backend, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handle(pub usize);

/// A server of this backend. The followers come first, in the order of their ids, then the one that led at first, and
/// then those that do not vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServerIndex(pub usize);

/// The first message on a connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectRequest {
    /// The session to resume; zero for a new one.
    pub(crate) session: SessionId,
    /// Whether to give a password that is not the session's.
    pub(crate) wrong_password: bool,
    /// The timeout that is asked for.
    pub(crate) timeout: Duration,
    /// The newest zxid that the client claims to have seen.
    pub(crate) last_zxid: Zxid,
    /// Whether the client puts up with a server that answers reads alone.
    pub(crate) read_only: bool,
}

impl ConnectRequest {
    /// Asks for a new session.
    pub(crate) fn new_session(timeout: Duration) -> Self {
        Self {
            session: SessionId(0),
            wrong_password: false,
            timeout,
            last_zxid: Zxid(0),
            read_only: false,
        }
    }
}

/// What came over a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A message.
    Message(ServerMessage),
    /// Its end.
    Closed,
    /// Nothing, for as long as one was willing to wait.
    Nothing,
}

/// One of the two ensembles that are compared.
pub(crate) trait EnsembleBackend: Clock {
    /// Opens a connection and sends its first message. That the port is closed shows when it is read.
    fn connect(&mut self, place: ServerIndex, request: &ConnectRequest) -> Result<Handle>;

    /// Sends. That the connection is gone shows when it is read.
    fn send(&mut self, link: Handle, message: &ClientMessage) -> Result<()>;

    /// What comes next over a connection, within this time.
    fn receive(&mut self, link: Handle, timeout: Duration) -> Result<Incoming>;

    /// The client closes a connection and says nothing.
    fn cut(&mut self, link: Handle);

    /// Kills a server.
    fn kill(&mut self, place: ServerIndex) -> Result<()>;

    /// Starts a server again, and waits for nothing.
    fn start(&mut self, place: ServerIndex) -> Result<()>;

    /// The present leader, if there is one that is ready to serve.
    fn leader(&mut self) -> Result<Option<ServerIndex>>;

    /// Whether a server answers reads alone now, for want of a leader.
    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool>;

    /// Whether a server that has a leader accepts clients now.
    fn serves(&mut self, place: ServerIndex) -> Result<bool>;

    /// How long one may wait for an answer.
    fn timeout(&self) -> Duration;

    /// How many answers came late, after the server was given something else to do.
    fn late_answers(&self) -> u64 {
        0
    }

    /// What it means that no answer came in time.
    fn silent(&mut self, link: Handle, asked: &str) -> Result<()>;
}
