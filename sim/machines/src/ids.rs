//! Numbers by which machines know each other.

/// A server, from zero. Its name is `server-1` for zero; in an ensemble, its ZooKeeper id is one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u8);

/// A connection between one client and one server. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);
