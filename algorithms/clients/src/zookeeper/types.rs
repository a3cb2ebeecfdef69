//! The words of ZooKeeper's protocol.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

/// The path of a znode, shared.
pub type Path = Rc<str>;
/// A data version.
pub type Version = i32;

/// A transaction id: the leader's epoch in the high 32 bits, a counter in the low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid(pub u64);

impl Zxid {
    /// The zxid of this counter in this epoch.
    pub fn new(epoch: u32, counter: u32) -> Self {
        Self(u64::from(epoch) << 32 | u64::from(counter))
    }

    /// The epoch of the leader that gave it.
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Its number within the epoch.
    pub fn counter(self) -> u32 {
        self.0 as u32
    }
}

/// As ZooKeeper prints it, in hexadecimal.
impl fmt::Display for Zxid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "0x{:x}", self.0)
    }
}

/// The id of a session; zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// As ZooKeeper prints it, in hexadecimal.
impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "0x{:x}", self.0)
    }
}

/// What kind of node `create` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Stays until it is deleted; a number is added to its name.
    PersistentSequential,
    /// Is deleted when the session that made it ends.
    Ephemeral,
    /// Is deleted when the session that made it ends; a number is added to its name.
    EphemeralSequential,
    /// Is deleted some time after its last child has gone.
    Container,
    /// Is deleted when it has had no children and no change for so long.
    PersistentWithTtl(Duration),
    /// The same; a number is added to its name.
    PersistentSequentialWithTtl(Duration),
}

impl CreateMode {
    /// Whether the node goes with its session.
    pub fn is_ephemeral(self) -> bool {
        matches!(self, Self::Ephemeral | Self::EphemeralSequential)
    }

    /// Whether a number is added to the name.
    pub fn is_sequential(self) -> bool {
        matches!(
            self,
            Self::PersistentSequential
                | Self::EphemeralSequential
                | Self::PersistentSequentialWithTtl(_)
        )
    }

    /// How long the node may be without children and changes, if that ends it.
    pub fn ttl(self) -> Option<Duration> {
        match self {
            Self::PersistentWithTtl(ttl) | Self::PersistentSequentialWithTtl(ttl) => Some(ttl),
            Self::Persistent
            | Self::PersistentSequential
            | Self::Ephemeral
            | Self::EphemeralSequential
            | Self::Container => None,
        }
    }
}

/// The metadata of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The transaction that made the node.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// The transaction that last made or deleted a child.
    pub pzxid: Zxid,
    /// When it was made, by the leader's wall clock, in milliseconds since the Unix epoch.
    pub ctime: i64,
    /// When its data was last set, likewise.
    pub mtime: i64,
    /// How often its data was set.
    pub version: Version,
    /// Twice the children ever made, less the children there are: what ZooKeeper shows as `cversion`.
    pub cversion: Version,
    /// How often its ACL was set.
    pub aversion: Version,
    /// The session that it goes with; zero for a node that is not ephemeral.
    pub ephemeral_owner: SessionId,
    /// The length of its data in bytes.
    pub data_length: i32,
    /// How many children it has.
    pub num_children: i32,
}

/// The state of a session as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Looking for a server.
    Connecting,
    /// Connected.
    Connected,
    /// Connected to a server that has no leader: it answers reads, with what it had, and refuses everything else.
    ConnectedReadOnly,
    /// Closed or expired, for good.
    Closed,
}
