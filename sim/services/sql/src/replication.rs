//! What servers say to each other.

use std::rc::Rc;

/// A message between servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// A standby has flushed so many records of the log; it asks for what comes after them.
    Flushed(usize),
    /// Records of the log, from this place on.
    Wal(usize, Rc<[()]>),
}
