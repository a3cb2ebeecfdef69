//! Messages between a client and a server.

use super::{Dialect, ErrorCode, Statement, Value};

/// The process of a session at the server (PostgreSQL), or the id of the connection (MySQL): the number of the
/// connection.
pub type BackendPid = u32;

/// What a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMessage {
    /// Its number: a client counts on each connection from one. The answer has it, too.
    pub number: u32,
    /// Which SQL a trace shows.
    pub dialect: Dialect,
    /// What it asks.
    pub body: ClientBody,
}

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientBody {
    /// A statement. A session executes one after the other.
    Query(Statement),
    /// Ends the statement that another session executes (`CancelRequest`); there is no answer.
    Cancel(BackendPid),
    /// Ends the session (`Terminate`, or `COM_QUIT`); there is no answer.
    Terminate,
}

/// The answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// The number of the message that it answers; 0 of an error that answers none.
    pub number: u32,
    /// What came of it.
    pub result: Result<QueryResult, ErrorCode>,
    /// Warnings.
    pub notices: Vec<Notice>,
    /// Where the session is now.
    pub status: TransactionStatus,
}

/// Where a session is (`ReadyForQuery`, or the status flags of MySQL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// Outside of a transaction.
    Idle,
    /// In a transaction.
    InTransaction,
    /// In a transaction that has failed and must be rolled back (PostgreSQL).
    Failed,
}

/// What a statement has done, by name (`CommandComplete`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandTag {
    /// `BEGIN`
    Begin,
    /// `COMMIT`
    Commit,
    /// `ROLLBACK`: also what `COMMIT` of a failed transaction answers.
    Rollback,
    /// `SAVEPOINT`
    Savepoint,
    /// `RELEASE`
    Release,
    /// `SELECT`, and how many rows.
    Select,
    /// `INSERT 0`, and how many rows.
    Insert,
    /// `UPDATE`, and how many rows.
    Update,
    /// `DELETE`, and how many rows.
    Delete,
    /// `LOCK TABLE`
    LockTable,
    /// `SET`
    Set,
    /// `SHOW`
    Show,
    /// `RESET`
    Reset,
    /// `DISCARD ALL`
    DiscardAll,
    /// `PREPARE TRANSACTION`
    PrepareTransaction,
    /// `COMMIT PREPARED`
    CommitPrepared,
    /// `ROLLBACK PREPARED`
    RollbackPrepared,
    /// MySQL's answer to `KILL`.
    Kill,
}

/// What a statement has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryResult {
    /// What was done.
    pub tag: CommandTag,
    /// Of how many rows: those that are answered, or those that were changed. MySQL counts 2 for a row that
    /// `ON DUPLICATE KEY UPDATE` has changed, and none for one that was not changed.
    pub count: u64,
    /// The rows that are answered.
    pub rows: Vec<Vec<Value>>,
}

/// A warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An unlock of an exclusive lock that the session does not hold.
    NotOwnerExclusive,
    /// An unlock of a shared lock that the session does not hold.
    NotOwnerShared,
    /// `COMMIT` or `ROLLBACK` outside of a transaction.
    NoTransaction,
    /// `BEGIN` in a transaction.
    TransactionInProgress,
    /// `SET LOCAL` outside of a transaction.
    SetLocalOutsideTransaction,
    /// The commit did not wait for the standby to the end: it is committed here, and may be lost.
    CommittedLocally,
    /// An argument of `GET_LOCK` is out of range.
    IncorrectArgument,
    /// A row was left out because its key is there (MySQL).
    DuplicateEntry,
}

impl Notice {
    /// What it says.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NotOwnerExclusive => "you don't own a lock of type ExclusiveLock",
            Self::NotOwnerShared => "you don't own a lock of type ShareLock",
            Self::NoTransaction => "there is no transaction in progress",
            Self::TransactionInProgress => "there is already a transaction in progress",
            Self::SetLocalOutsideTransaction => "SET LOCAL can only be used in transaction blocks",
            Self::CommittedLocally => {
                "canceling wait for synchronous replication due to user request"
            }
            Self::IncorrectArgument => "Incorrect value for argument",
            Self::DuplicateEntry => "Duplicate entry for key 'PRIMARY'",
        }
    }
}
