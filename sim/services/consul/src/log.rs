//! The log: what its entries do.

use std::fmt;

use picklock_clients::consul::{Request, SessionEntry, SessionId};
use picklock_machines::ConnectionId;

/// A call of a client: its connection, and its number there.
pub type CallId = (ConnectionId, u32);

/// What an entry of the log does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Nothing: the first of a leader.
    Noop,
    /// Creates a session, of which the leader has made the id.
    CreateSession(SessionId, SessionEntry),
    /// What a client has asked for, or the end of a session.
    Request(Request),
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(crate) term: u64,
    /// What it does.
    pub command: Command,
    /// The call that it is of, if it is of one: for observers of a run, as servers make nothing of it.
    pub call: Option<CallId>,
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noop => out.write_str("no-op"),
            Self::CreateSession(session, _) => write!(out, "create session {session}"),
            Self::Request(request) => request.fmt(out),
        }
    }
}
