//! By what calls, streams, and what belongs to them are known on a member.

use picklock_machines::{ConnectionId, ServerId};

/// A lock or an election that runs on a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub(crate) u64);

/// A member's number for what it asks a lessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookupId(pub(crate) u64);

/// A stream of watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamId {
    /// Of a call of a client.
    Client(ConnectionId, u32),
    /// Of a lock or an election that runs on the member.
    Task(TaskId),
}

/// For which caller something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A call of a client.
    Client(ConnectionId, u32),
    /// A lock or an election that runs on this member.
    Task(TaskId),
    /// None hears the answer: a lease is over, or a call that was given up leaves a key.
    Unheard,
}

/// Who asks the lessor of this member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A call here.
    Local(LookupId),
    /// Another member.
    Peer(ServerId, LookupId),
}
