//! memcached and Tair as state machines: a server, which keeps items until they expire, are deleted, or have to make
//! room, and a client, which finds the server of a key by a hash.

pub mod client;
mod clock;
mod distribution;
mod server;
mod store;
mod tair;

use std::rc::Rc;

use picklock_clients::memcached::{ClientMessage, ServerMessage};
use picklock_machines::ConnectionId;

pub use distribution::Distribution;
pub use server::{Server, Settings};

/// What happens to a server.
#[derive(Clone, Debug)]
pub enum Input {
    /// A command has come by a connection.
    Command(ConnectionId, ClientMessage),
    /// It has to make room, and takes the item of this key.
    Evict(Rc<str>),
    /// Its process has begun again, with nothing.
    Restart,
    /// It is time to look at the clock.
    Wake,
}

/// What a server wants done, or has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// An answer goes out.
    Reply(ConnectionId, ServerMessage),
    /// The item of a key has changed.
    Changed(Rc<str>, Change),
}

/// What has become of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The command of this connection has stored it, or has set when it expires: it may have expired by that.
    Written(ConnectionId),
    /// The command of this connection has deleted it.
    Deleted(ConnectionId),
    /// Its time was over, which was found out now.
    Expired,
    /// It had to make room.
    Evicted,
}
