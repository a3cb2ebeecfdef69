//! What happens to a replica, and what it wants done.

use std::fmt;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{
    ClientMessage, Epoch, HandleId, LockMode, ServerMessage, SessionId,
};
use picklock_machines::{ConnectionId, ServerId};

/// What happens to a replica.
#[derive(Clone, Debug)]
pub enum Input {
    /// A message of a client.
    Client(ConnectionId, ClientMessage),
    /// A connection of a client is gone.
    ClientGone(ConnectionId),
    /// A message of another replica.
    Peer(ServerId, PeerMessage),
    /// Its process has begun again. What it has promised is on its disk.
    Restart,
    /// It is time to look at the clock.
    Wake,
}

/// What replicas say to each other: what is left of Paxos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// Elect me, or let me go on, in this epoch; asked at this time.
    Propose(Epoch, VirtualTime),
    /// I elect no other for the time of a master's lease; in answer to what was asked at this time.
    Promise(Epoch, VirtualTime),
    /// I have promised something in this epoch, which is no older than yours.
    Refuse(Epoch),
}

impl fmt::Display for PeerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// What a replica wants done, or has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message goes to a client.
    ToClient(ConnectionId, ServerMessage),
    /// A message goes to another replica.
    ToPeer(ServerId, PeerMessage),
    /// It is the master from now on.
    BecameMaster(Epoch),
    /// It is the master no longer.
    SteppedDown,
    /// A session has begun.
    SessionBegan(ConnectionId, SessionId),
    /// A session has ended.
    SessionExpired(SessionId),
    /// The call of this number has been carried out.
    Done(ConnectionId, u32),
    /// A handle holds the lock of a file.
    Acquired(Rc<str>, SessionId, HandleId, LockMode),
    /// A handle holds it no longer.
    Released(Rc<str>, SessionId, HandleId, Departure),
}

/// Why a handle does not hold a lock any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Its client has released the lock, or closed the handle: the lock is free at once.
    Released,
    /// Its session has ended: the lock is free after the lock-delay.
    Failed,
    /// The file was deleted by this connection.
    Deleted(ConnectionId),
}
