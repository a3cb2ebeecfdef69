//! Who owns a lock by the state of the service, and what it can be held as.

use crate::clients::ServiceKind;

/// How to read from the service who owns the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnershipRule {
    /// The children of the lock's node queue in sequence order, and the first owns the lock.
    LowestChild,
    /// The same, of each of several locks that are acquired by one call.
    LowestChildOfEach,
    /// The same, of an election: the children of its node queue in sequence order, and the first leads.
    LowestChildLeads,
    /// The children of the lock's node queue in sequence order. A reader owns the lock if no writer is ahead of it, and
    /// a writer if nobody is.
    ReadersAndWriters {
        /// What the name of a reader's child has in it, and a writer's has not.
        reader: &'static str,
        /// What the name of a child has in it that announces a reader or a writer who waits to join the queue: it owns
        /// nothing, and nobody in the queue waits for it. `None`: all join at once.
        announced: Option<&'static str>,
    },
    /// The children of the lock's node, or of one below it, are leases, and queue in sequence order. The first, as many
    /// as there are permits, own one each.
    LowestLeases {
        /// The name of the node below it; empty if there is none.
        parent: &'static str,
        /// How many permits there are.
        permits: Permits,
    },
    /// Each child of the lock's node is a lease, and owns a permit.
    EveryLease,
    /// The children of the lock's node are parties of a double barrier, and nobody owns it.
    Parties {
        /// The child that is no party, but says that all have come.
        ready: &'static str,
    },
    /// A child of the lock's node is a barrier that stands, and who made it has set it: whoever comes meanwhile waits.
    Barrier,
    /// The node exists, and who made it owns the lock.
    Node,
    /// The node's data is not empty, and who wrote it last owns the lock.
    Data,
    /// The key exists on more than half of the servers that take writes, and who set it owns the lock.
    Key,
}

/// How many may hold a lock at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permits {
    /// One, whatever a scenario says: it is a mutex.
    One,
    /// As many as the scenario says.
    OfWorkload,
}

/// What a lock can be held as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKind {
    /// By one at a time.
    Mutex,
    /// Several by one at a time, all of them or none.
    MultiLock,
    /// By one writer, or by any number of readers.
    ReadWrite,
    /// By as many at a time as there are permits.
    Semaphore,
    /// By one leader at a time, for a term.
    Election,
    /// By the one who has set it, while all others wait: a barrier that stands until it is removed.
    Barrier,
    /// By all together: a double barrier, which all enter when the last has come, and all leave when the last is done.
    DoubleBarrier,
}

impl LockKind {
    /// Why it cannot be said what one lock costs that goes from one holder to the next, if it does not.
    pub fn never_handed_over(self) -> Option<&'static str> {
        match self {
            Self::Mutex | Self::ReadWrite | Self::Semaphore | Self::Election | Self::Barrier => {
                None
            }
            Self::MultiLock => Some("a multi-lock, which costs what its locks cost"),
            Self::DoubleBarrier => Some("a double barrier, at which nobody waits for a holder"),
        }
    }

    /// Its name, as in `read-write`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::MultiLock => "multi-lock",
            Self::ReadWrite => "read-write",
            Self::Semaphore => "semaphore",
            Self::Election => "election",
            Self::Barrier => "barrier",
            Self::DoubleBarrier => "double-barrier",
        }
    }
}

impl OwnershipRule {
    /// Whether it is read off the children of the lock's node.
    pub fn has_queue(self) -> bool {
        match self {
            Self::LowestChild
            | Self::LowestChildOfEach
            | Self::LowestChildLeads
            | Self::ReadersAndWriters { .. }
            | Self::LowestLeases { .. }
            | Self::EveryLease
            | Self::Parties { .. } => true,
            Self::Barrier | Self::Node | Self::Data | Self::Key => false,
        }
    }

    /// Whether an owner can be read from the state of this service.
    pub fn can_be_read_from(self, service: ServiceKind) -> bool {
        match self {
            Self::LowestChild
            | Self::LowestChildOfEach
            | Self::LowestChildLeads
            | Self::ReadersAndWriters { .. }
            | Self::LowestLeases { .. }
            | Self::EveryLease
            | Self::Parties { .. }
            | Self::Barrier
            | Self::Node
            | Self::Data => service == ServiceKind::ZooKeeper,
            Self::Key => service != ServiceKind::ZooKeeper,
        }
    }

    /// Whether an invariant says anything of a lock with this rule. No contender has a barrier to itself, and who is
    /// through is there with others; all or none is said of several locks; and an order, of a queue that the service
    /// keeps. Those who have a permit are inside together: neither of their tokens is the later one. What is granted
    /// once cannot be entered again: who leads leads already, and a permit is another one each time.
    pub fn is_judged_by(self, invariant: &str) -> bool {
        let says_nothing: &[&str] = match self.kind() {
            LockKind::Barrier | LockKind::DoubleBarrier => {
                return ["progress", "barrier"].contains(&invariant);
            }
            LockKind::Mutex | LockKind::ReadWrite => &["barrier", "all-or-none"],
            LockKind::MultiLock => &["barrier", "reentrancy"],
            LockKind::Election => &["barrier", "all-or-none", "reentrancy"],
            LockKind::Semaphore => &["barrier", "all-or-none", "reentrancy", "fencing-monotonic"],
        };
        !says_nothing.contains(&invariant) && (invariant != "fifo" || self.has_queue())
    }

    /// What a lock with this rule can be held as.
    pub fn kind(self) -> LockKind {
        match self {
            Self::LowestChild
            | Self::LowestLeases {
                permits: Permits::One,
                ..
            }
            | Self::Node
            | Self::Data
            | Self::Key => LockKind::Mutex,
            Self::LowestChildOfEach => LockKind::MultiLock,
            Self::ReadersAndWriters { .. } => LockKind::ReadWrite,
            Self::LowestLeases {
                permits: Permits::OfWorkload,
                ..
            }
            | Self::EveryLease => LockKind::Semaphore,
            Self::LowestChildLeads => LockKind::Election,
            Self::Barrier => LockKind::Barrier,
            Self::Parties { .. } => LockKind::DoubleBarrier,
        }
    }
}
