//! Who owns a lock: a function over what its service has committed.

use std::rc::Rc;

use crate::clients::consul::KvPair;
use crate::clients::redis::{Bytes, Value};
use crate::clients::{ServiceKind, StateKind};
use crate::counted_permits::ReadPermits;
use crate::keys::Keys;
use crate::row_hold::{Columns, RowHold};

/// Reads a key of Consul's store.
pub type ReadPair<'a> = &'a dyn Fn(&str) -> Option<KvPair>;

/// Who owns a lock by the state of its service, and what the lock can be held as.
#[derive(Clone, Copy, Debug)]
pub struct OwnershipRule {
    /// What the lock can be held as.
    pub kind: LockKind,
    /// The function, by the state that it reads.
    pub owners: Owners,
    /// How the service counts its permits, if it does.
    pub permits: Option<ReadPermits>,
}

/// A function from what a service has committed to those who own a lock, by the state that it reads.
#[derive(Clone, Copy, Debug)]
pub enum Owners {
    /// The children of the lock's node (ZooKeeper), which queue.
    OfQueue(Queue),
    /// A node (ZooKeeper): its creator owns the lock as long as it exists.
    OfNode,
    /// The data of a node (ZooKeeper): the last writer owns the lock if the data says that it is held.
    OfData(fn(data: &[u8]) -> bool),
    /// The keys of the lock (Redis, and servers that grant leases): the contenders whose holds they have, each as long
    /// as its hold is there. It is asked when the key of the lock's name has changed. Where several servers vote, more
    /// than half of them must have a hold.
    OfKeys(fn(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>)),
    /// A counter of free permits (Redis), which says nothing of their owners; `None` if it is not there. A contender
    /// that counts it down owns a permit until it counts it up. What one server loses of another's counter are the
    /// permits that were given last.
    OfCounter(fn(keys: &dyn Keys, lock: &str) -> Option<i64>),
    /// The locks that sessions hold (SQL, Chubby): the contender whose session has the lock of the lock's name, be it
    /// an advisory lock, a user lock, that of a row in a transaction, or that of a file.
    OfSession,
    /// The row of the lock's name, as it is committed (SQL); `None` of a row that says that no contender has the lock.
    OfRow(fn(row: &dyn Columns) -> Option<RowHold>),
    /// The keys of the lock (Consul), as they are committed: the sessions that hold it, or other names of its holders.
    OfHeldKeys(fn(key: ReadPair<'_>, lock: &str) -> Vec<Rc<str>>),
}

/// How the children of the lock's node queue, and which of them own the lock.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The place of a child of this name; `None` of a child that does not queue.
    pub place: fn(name: &str) -> Option<Place>,
    /// How many of the first own the lock, of which this is the mode that each asks for, in their order. The number is
    /// that of permits; no more of the queue is read than is asked for.
    pub owners: fn(modes: &mut dyn Iterator<Item = Mode>, permits: usize) -> usize,
    /// Whether the children are leases, which are counted: contenders that count them may wait for another node
    /// meanwhile, as of a mutex around the count.
    pub counts_leases: bool,
}

/// The place of a child in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By the number at the end of its name.
    Sequential(Mode),
    /// By when it was created.
    Arrived(Mode),
    /// By its number, of a child that announces a contender which waits to join the queue: it owns nothing, and no
    /// child waits for it.
    Announced(Mode),
}

impl Place {
    /// By its number, of a reader, or else of a writer.
    pub fn of_reader_if(is_reader: bool) -> Self {
        Self::Sequential(match is_reader {
            true => Mode::Shared,
            false => Mode::Exclusive,
        })
    }

    /// The mode that it asks for.
    pub fn mode(self) -> Mode {
        match self {
            Self::Sequential(mode) | Self::Arrived(mode) | Self::Announced(mode) => mode,
        }
    }
}

/// In which mode a contender asks for a lock, or holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Alone: a mutex, a write lock, or a permit that is no other contender's.
    Exclusive,
    /// Together with others that share it: a read lock.
    Shared,
}

/// A hold that a key's value has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHold {
    /// What tells it from other holds: a token, or a name of a thread.
    pub identity: Bytes,
    /// As what.
    pub mode: Mode,
    /// How many entries it counts.
    pub entries: u64,
    /// When it ends by itself, by the wall clock of the contender that wrote it, in milliseconds, if not with its key.
    pub expires: Option<i64>,
    /// From when on another contender may take it away, by the wall clock of the server, in milliseconds, if it is
    /// there for longer.
    pub takeable: Option<i64>,
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
    /// By the contender that has set it, while all others wait: a barrier that stands until it is removed.
    Barrier,
    /// By all together: a double barrier, which all enter when the last has come, and all leave when the last is done.
    DoubleBarrier,
    /// By each participant until it counts down, while all others wait for zero: a count-down latch.
    CountDownLatch,
}

impl LockKind {
    /// Why it cannot be said what one lock costs that goes from one holder to the next, if it does not.
    pub fn never_handed_over(self) -> Option<&'static str> {
        match self {
            Self::Mutex | Self::ReadWrite | Self::Semaphore | Self::Election | Self::Barrier => {
                None
            }
            Self::MultiLock => Some("a multi-lock, which costs what its locks cost"),
            Self::DoubleBarrier => Some("a double barrier, at which no process waits for a holder"),
            Self::CountDownLatch => Some("a count-down latch, which opens once"),
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
            Self::CountDownLatch => "count-down-latch",
        }
    }
}

impl OwnershipRule {
    /// The children of the lock's node queue in sequence order, and the first owns the lock.
    pub const LOWEST_CHILD: Self = Self::of_queue(LockKind::Mutex, every_child, first);
    /// The same, of each of several locks that are acquired by one call.
    pub const LOWEST_CHILD_OF_EACH: Self = Self::of_queue(LockKind::MultiLock, every_child, first);
    /// The same, of an election: the children of its node queue in sequence order, and the first leads.
    pub const LOWEST_CHILD_LEADS: Self = Self::of_queue(LockKind::Election, every_child, first);
    /// Each child of the lock's node is a lease, and owns a permit.
    pub const EVERY_LEASE: Self = Self::of_leases(
        LockKind::Semaphore,
        |_| Some(Place::Arrived(Mode::Exclusive)),
        |leases, _| leases.count(),
    );
    /// A child of the lock's node is a barrier that stands, and its creator has set it: all others wait.
    pub const BARRIER: Self = Self::of(LockKind::Barrier, Owners::OfNode);
    /// The node exists, and its creator owns the lock.
    pub const NODE: Self = Self::of(LockKind::Mutex, Owners::OfNode);
    /// The node's data is not empty, and its last writer owns the lock.
    pub const DATA: Self = Self::of(LockKind::Mutex, Owners::OfData(|data| !data.is_empty()));
    /// The key exists on more than half of the servers that take writes, and its writer owns the lock: its value, or
    /// the first field of its hash, tells one hold from the next.
    pub const KEY: Self = Self::of_keys(LockKind::Mutex, value_or_first_field);
    /// The same, of each of several locks that are acquired by one call.
    pub const KEY_OF_EACH: Self = Self::of_keys(LockKind::MultiLock, value_or_first_field);

    /// A session has the lock of the lock's name.
    pub const SESSION: Self = Self::of(LockKind::Mutex, Owners::OfSession);

    /// The row of the lock's name says who has the lock.
    pub const fn of_row(hold: fn(&dyn Columns) -> Option<RowHold>) -> Self {
        Self::of(LockKind::Mutex, Owners::OfRow(hold))
    }

    const fn of(kind: LockKind, owners: Owners) -> Self {
        Self {
            kind,
            owners,
            permits: None,
        }
    }

    /// Children with these places queue, and so many of the first own the lock.
    pub const fn of_queue(
        kind: LockKind,
        place: fn(&str) -> Option<Place>,
        owners: fn(&mut dyn Iterator<Item = Mode>, usize) -> usize,
    ) -> Self {
        let queue = Queue {
            place,
            owners,
            counts_leases: false,
        };
        Self::of(kind, Owners::OfQueue(queue))
    }

    /// The same, of leases that are counted.
    pub const fn of_leases(
        kind: LockKind,
        place: fn(&str) -> Option<Place>,
        owners: fn(&mut dyn Iterator<Item = Mode>, usize) -> usize,
    ) -> Self {
        let queue = Queue {
            place,
            owners,
            counts_leases: true,
        };
        Self::of(kind, Owners::OfQueue(queue))
    }

    /// Children queue in sequence order. A reader owns the lock if no writer is ahead of it, and a writer if it is the
    /// first.
    pub const fn readers_and_writers(place: fn(&str) -> Option<Place>) -> Self {
        Self::of_queue(LockKind::ReadWrite, place, |modes, _| {
            let readers = modes.take_while(|mode| *mode == Mode::Shared);
            readers.count().max(1)
        })
    }

    /// Children are parties of a double barrier, and none of them owns it.
    pub const fn parties(place: fn(&str) -> Option<Place>) -> Self {
        Self::of_queue(LockKind::DoubleBarrier, place, |_, _| 0)
    }

    /// The keys of the lock have these holds.
    pub const fn of_keys(kind: LockKind, holds: fn(&dyn Keys, &str, &mut Vec<KeyHold>)) -> Self {
        Self::of(kind, Owners::OfKeys(holds))
    }

    /// The same of a semaphore whose service counts its permits.
    #[must_use]
    pub const fn counting(self, permits: ReadPermits) -> Self {
        Self {
            permits: Some(permits),
            ..self
        }
    }

    /// A counter of free permits.
    pub const fn of_counter(free: fn(&dyn Keys, &str) -> Option<i64>) -> Self {
        Self::of(LockKind::Semaphore, Owners::OfCounter(free))
    }

    /// The keys of the lock (Consul) say which sessions hold it.
    pub const fn of_held_keys(
        kind: LockKind,
        holders: fn(ReadPair<'_>, &str) -> Vec<Rc<str>>,
    ) -> Self {
        Self::of(kind, Owners::OfHeldKeys(holders))
    }

    /// Whether it is read off the children of the lock's node.
    pub fn has_queue(self) -> bool {
        matches!(self.owners, Owners::OfQueue(_))
    }

    /// Whether an owner can be read from the state of this service.
    pub fn can_be_read_from(self, service: ServiceKind) -> bool {
        let kind = match self.owners {
            Owners::OfQueue(_) | Owners::OfNode | Owners::OfData(_) => StateKind::Nodes,
            Owners::OfKeys(_) => StateKind::Keys,
            Owners::OfCounter(_) => StateKind::Counters,
            Owners::OfSession => StateKind::SessionLocks,
            Owners::OfRow(_) => StateKind::Rows,
            Owners::OfHeldKeys(_) => StateKind::HeldKeys,
        };
        service.keeps().contains(&kind)
    }

    /// Whether an invariant says anything of a lock with this rule. No contender has a barrier to itself, and a party
    /// that is through is there with others; all or none is said of several locks; and an order, of a queue that the
    /// service keeps. Contenders that have a permit are inside together: neither of their tokens is the later one. What
    /// is granted once cannot be entered again: a leader leads already, and a permit is another one each time. Permits
    /// are conserved where the service counts them.
    pub fn is_judged_by(self, invariant: &str) -> bool {
        let says_nothing: &[&str] = match self.kind {
            LockKind::Barrier | LockKind::DoubleBarrier | LockKind::CountDownLatch => {
                return ["progress", "barrier"].contains(&invariant);
            }
            LockKind::Mutex | LockKind::ReadWrite => &["barrier", "all-or-none"],
            LockKind::MultiLock => &["barrier", "reentrancy"],
            LockKind::Election => &["barrier", "all-or-none", "reentrancy"],
            LockKind::Semaphore => &["barrier", "all-or-none", "reentrancy", "fencing-monotonic"],
        };
        !says_nothing.contains(&invariant)
            && (invariant != "fifo" || self.has_queue())
            && (invariant != "permits-conserved" || self.permits.is_some())
    }
}

impl Owners {
    /// The state that it reads, as in `the lock's key`.
    pub fn state(self) -> &'static str {
        match self {
            Self::OfQueue(_) => "the children of the lock's node",
            Self::OfNode => "the lock's node",
            Self::OfData(_) => "the data of the lock's node",
            Self::OfKeys(_) | Self::OfCounter(_) | Self::OfHeldKeys(_) => "the lock's key",
            Self::OfSession => "the session that has the lock",
            Self::OfRow(_) => "the lock's row",
        }
    }
}

impl KeyHold {
    /// A hold of one contender alone, entered once.
    pub fn exclusive(identity: Bytes) -> Self {
        Self {
            identity,
            mode: Mode::Exclusive,
            entries: 1,
            expires: None,
            takeable: None,
        }
    }
}

/// Every child queues in sequence order, for the lock alone.
pub fn every_child(_name: &str) -> Option<Place> {
    Some(Place::Sequential(Mode::Exclusive))
}

/// The first of a queue.
pub fn first(_modes: &mut dyn Iterator<Item = Mode>, _permits: usize) -> usize {
    1
}

/// As many of the first as there are permits.
pub fn as_many_as_permits(modes: &mut dyn Iterator<Item = Mode>, permits: usize) -> usize {
    modes.take(permits).count()
}

/// One hold: the value, or the first field of a hash, which counts entries.
pub fn value_or_first_field(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>) {
    let value = keys.read(lock);
    let (identity, entries) = match &value {
        Some(Value::Array(fields) | Value::Map(fields)) => (fields.first(), fields.get(1)),
        value => (value.as_ref(), None),
    };
    if let Some(Value::Bulk(identity)) = identity {
        holds.push(KeyHold {
            entries: entries.map_or(1, count),
            ..KeyHold::exclusive(Bytes::clone(identity))
        });
    }
}

/// A number that a field of a hash has; one if it has no number.
pub fn count(value: &Value) -> u64 {
    match value {
        Value::Integer(count) => u64::try_from(*count).unwrap_or(0),
        Value::Bulk(digits) => {
            let digits = std::str::from_utf8(digits).ok();
            digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
