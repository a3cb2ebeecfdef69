//! What is compared: a service that can be connected to, asked, and stopped. One is real, the other is the model.

use std::time::Duration;

use picklock_clients::zookeeper::{SessionId, Zxid};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};

use crate::harness::error::VerifyError;

/// A connection of this side, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionHandle(pub usize);

/// A server of this side. The followers come first, in the order of their ids, then the one that led at first, and then
/// those that do not vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerIndex(pub usize);

/// The first message on a connection.
#[derive(Clone, Debug)]
pub struct ConnectRequest {
    /// The session to resume; zero for a new one.
    pub session: SessionId,
    /// Whether to give a password that is not the session's.
    pub wrong_password: bool,
    /// The timeout that is asked for.
    pub timeout: Duration,
    /// The newest zxid that the client claims to have seen.
    pub last_zxid: Zxid,
    /// Whether the client puts up with a server that answers reads alone.
    pub read_only: bool,
}

/// What came over a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A message.
    Message(ServerMessage),
    /// Its end.
    Closed,
    /// Nothing, for as long as one was willing to wait.
    Nothing,
}

/// One of the two that are compared.
pub trait EnsembleBackend {
    /// Opens a connection and sends its first message. That nobody listens shows when it is read.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn connect(
        &mut self,
        place: ServerIndex,
        request: &ConnectRequest,
    ) -> Result<ConnectionHandle, VerifyError>;

    /// Sends. That the connection is gone shows when it is read.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn send(&mut self, link: ConnectionHandle, message: &ClientMessage) -> Result<(), VerifyError>;

    /// What comes next over a connection, within this time.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn receive(
        &mut self,
        link: ConnectionHandle,
        timeout: Duration,
    ) -> Result<Incoming, VerifyError>;

    /// The client closes a connection and says nothing.
    fn cut(&mut self, link: ConnectionHandle);

    /// Lets time pass.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn pass(&mut self, time: Duration) -> Result<(), VerifyError>;

    /// The time that has passed so far.
    fn elapsed(&self) -> Duration;

    /// Kills a server.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn kill(&mut self, place: ServerIndex) -> Result<(), VerifyError>;

    /// Starts a server again, and waits for nothing.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn start(&mut self, place: ServerIndex) -> Result<(), VerifyError>;

    /// Who leads now, if somebody does and is ready to serve.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn leader(&mut self) -> Result<Option<ServerIndex>, VerifyError>;

    /// Whether a server answers reads alone now, for want of a leader.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool, VerifyError>;

    /// Whether a server that has a leader accepts clients now.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], if the comparison cannot go on.
    fn serves(&mut self, place: ServerIndex) -> Result<bool, VerifyError>;

    /// How long one may wait for an answer.
    fn timeout(&self) -> Duration;

    /// How many answers came late, after the server was given something else to do.
    fn late_answers(&self) -> u64 {
        0
    }

    /// What it means that no answer came in time.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Late`], if it means that the comparison cannot go on.
    fn silent(&mut self, link: ConnectionHandle, asked: &str) -> Result<(), VerifyError>;
}
