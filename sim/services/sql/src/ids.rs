//! By what sessions, transactions, rows, and locks are known.

use std::rc::Rc;

use picklock_clients::sql::Value;
use picklock_machines::ConnectionId;

/// What holds locks, or waits for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A session.
    Session(ConnectionId),
    /// A prepared transaction, which has none.
    Prepared(u32),
}

/// A transaction, or what one has done since a savepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xid(pub u64);

/// A version of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TupleId(pub u64);

/// The values of a row.
pub type Row = Rc<[Value]>;

/// Which commits are seen: the first so many.
pub type Snapshot = u64;

/// The key of an advisory lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advisory {
    /// One number of 64 bits.
    One(i64),
    /// Two numbers of 32 bits.
    Two(i32, i32),
}
