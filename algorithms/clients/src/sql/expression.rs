//! Values and expressions.

use std::rc::Rc;
use std::time::Duration;

/// A value of a column, or of an expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// `NULL`
    Null,
    /// A truth value. MySQL answers 1 and 0 instead.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A string.
    Text(Rc<str>),
    /// A time, in microseconds since the Unix epoch.
    Timestamp(i64),
    /// A stretch of time, in microseconds.
    Interval(i64),
}

/// A clock of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// `now()`: when the transaction began (PostgreSQL), or when the statement did (MySQL).
    Now,
    /// `clock_timestamp()`, or `SYSDATE()`: it moves while a statement waits.
    Moving,
}

/// What joins two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`, also of a time and an interval.
    Plus,
    /// `-`, also of a time and an interval.
    Minus,
    /// `/`, of whole numbers.
    Divide,
    /// `||`
    Concat,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A literal.
    Value(Value),
    /// A column of the row at hand.
    Column(&'static str),
    /// A column of the row that was to be inserted: `excluded.owner`, or `VALUES(owner)`.
    Excluded(&'static str),
    /// `count(*)`: the only item of its list.
    Count,
    /// A clock.
    Clock(Clock),
    /// Two expressions and what joins them.
    Binary(Box<Expr>, Operator, Box<Expr>),
    /// `IS NULL`
    IsNull(Box<Expr>),
    /// A function that does something, or asks for a lock.
    Function(Function),
}

/// The key of an advisory lock: the two forms are two spaces of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdvisoryKey {
    /// One number of 64 bits.
    One(Box<Expr>),
    /// Two numbers of 32 bits.
    Two(Box<Expr>, Box<Expr>),
}

/// Which of the functions `pg_[try_]advisory_[xact_]lock[_shared]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdvisoryLock {
    /// `try`: answers whether it has the lock, and never waits.
    pub tries: bool,
    /// `xact`: until the transaction ends; else until it is unlocked, or the session ends.
    pub xact: bool,
    /// `shared`
    pub shared: bool,
}

/// A function that does something, or asks for a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// `pg_advisory_lock` and its kin.
    AdvisoryLock(AdvisoryLock, AdvisoryKey),
    /// `pg_advisory_unlock`, or `pg_advisory_unlock_shared`: whether it was held.
    AdvisoryUnlock {
        /// Of the shared lock.
        shared: bool,
        /// Its key.
        key: AdvisoryKey,
    },
    /// `pg_advisory_unlock_all`
    AdvisoryUnlockAll,
    /// `GET_LOCK(name, seconds)`: 1 got, 0 timed out, `NULL` if there was an error.
    GetLock(Box<Expr>, Option<i64>),
    /// `RELEASE_LOCK(name)`: 1 released, 0 held by another session, `NULL` if none holds it.
    ReleaseLock(Box<Expr>),
    /// `RELEASE_ALL_LOCKS()`: how many takes were released.
    ReleaseAllLocks,
    /// `IS_FREE_LOCK(name)`
    IsFreeLock(Box<Expr>),
    /// `IS_USED_LOCK(name)`: the connection that holds it, or `NULL`.
    IsUsedLock(Box<Expr>),
    /// `pg_cancel_backend(pid)`: ends the statement that a session executes.
    CancelBackend(u32),
    /// `pg_terminate_backend(pid)`: ends a session.
    TerminateBackend(u32),
    /// `pg_sleep`, or `SLEEP`.
    Sleep(Duration),
}
