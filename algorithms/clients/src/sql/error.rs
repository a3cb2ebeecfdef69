//! What a server refuses with, and how a statement can fail.

use thiserror::Error;

/// What a statement comes to.
pub type SqlResult<T> = Result<T, SqlError>;

/// How much an error ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The statement, and in PostgreSQL the transaction.
    Error,
    /// The session.
    Fatal,
}

macro_rules! codes {
    ($($code:ident $severity:ident $name:literal $message:literal;)+) => {
        /// An error of a server: PostgreSQL's have a `SQLSTATE` as their code, MySQL's a number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $name, "`: ", $message)] $code,)+
        }

        impl ErrorCode {
            /// Its code: five letters of PostgreSQL, or the number of MySQL.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// What it says.
            pub const fn message(self) -> &'static str {
                match self {
                    $(Self::$code => $message,)+
                }
            }

            /// How much it ends.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$code => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    UniqueViolation Error "23505" "duplicate key value violates unique constraint";
    LockNotAvailable Error "55P03" "could not obtain lock on row in relation";
    LockTimeout Error "55P03" "canceling statement due to lock timeout";
    QueryCanceled Error "57014" "canceling statement due to user request";
    StatementTimeout Error "57014" "canceling statement due to statement timeout";
    DeadlockDetected Error "40P01" "deadlock detected";
    SerializationFailure Error "40001" "could not serialize access due to concurrent update";
    ReadWriteDependencies Error "40001"
        "could not serialize access due to read/write dependencies among transactions";
    ReadOnlySqlTransaction Error "25006" "cannot execute the statement in a read-only transaction";
    InFailedSqlTransaction Error "25P02"
        "current transaction is aborted, commands ignored until end of transaction block";
    NoActiveSqlTransaction Error "25P01" "this can only be used in transaction blocks";
    ActiveSqlTransaction Error "25001" "this cannot run inside a transaction block";
    InvalidSavepoint Error "3B001" "savepoint does not exist";
    FeatureNotSupported Error "0A000"
        "cannot PREPARE while holding both session-level and transaction-level locks on the same object";
    DuplicateObject Error "42710" "transaction identifier is already in use";
    UndefinedObject Error "42704" "prepared transaction does not exist";
    UndefinedTable Error "42P01" "relation does not exist";
    UndefinedColumn Error "42703" "column does not exist";
    UndefinedFunction Error "42883" "function does not exist";
    ForeignKeyViolation Error "23503" "insert or update on table violates foreign key constraint";
    DivisionByZero Error "22012" "division by zero";
    IdleInTransactionSessionTimeout Fatal "25P03" "terminating connection due to idle-in-transaction timeout";
    IdleSessionTimeout Fatal "57P05" "terminating connection due to idle-session timeout";
    AdminShutdown Fatal "57P01" "terminating connection due to administrator command";
    CannotConnectNow Fatal "57P03" "the database system is starting up";
    TooManyConnections Fatal "53300" "sorry, too many clients already";
    DupEntry Error "1062" "Duplicate entry for key 'PRIMARY'";
    LockWaitTimeout Error "1205" "Lock wait timeout exceeded; try restarting transaction";
    LockDeadlock Error "1213" "Deadlock found when trying to get lock; try restarting transaction";
    UserLockDeadlock Error "1213" "Deadlock found when trying to get lock; try restarting transaction";
    QueryInterrupted Error "1317" "Query execution was interrupted";
    StatementTimeoutMySql Error "1969" "Query execution was interrupted (max_statement_time exceeded)";
    NoReferencedRow Error "1452" "Cannot add or update a child row: a foreign key constraint fails";
    OptionPreventsStatement Error "1290"
        "The MariaDB server is running with the --read-only option so it cannot execute this statement";
    NoSuchTable Error "1146" "Table doesn't exist";
    BadField Error "1054" "Unknown column";
    SavepointDoesNotExist Error "1305" "SAVEPOINT does not exist";
    NoSuchThread Error "1094" "Unknown thread id";
    SyntaxError Error "1064" "You have an error in your SQL syntax";
    TooManyConnectionsMySql Fatal "1040" "Too many connections";
    ConnectionKilled Fatal "1927" "Connection was killed";
}

/// How a statement can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SqlError {
    /// There was no connection to send it on. Nothing has happened.
    #[error("no connection")]
    NotConnected,
    /// The connection broke before the answer came. It may have been executed, and committed.
    #[error("the connection was lost; the statement may have been executed")]
    ConnectionLoss,
    /// No answer came in time. It may have been executed, or may still be.
    #[error("no answer in time; the statement may have been executed, or may still be")]
    TimedOut,
    /// The server said no.
    #[error("{}: {}", .0.code(), .0.message())]
    Server(ErrorCode),
    /// The server answered something that no such statement is answered by.
    #[error("an answer of the wrong kind")]
    Unexpected,
}

impl SqlError {
    /// Whether the statement has certainly changed no row, nor ever will. A lock of a session that it has taken
    /// before it failed it may hold all the same.
    pub fn definite(self) -> bool {
        match self {
            Self::NotConnected => true,
            Self::Server(code) => {
                !matches!(code, ErrorCode::AdminShutdown | ErrorCode::ConnectionKilled)
            }
            Self::ConnectionLoss | Self::TimedOut | Self::Unexpected => false,
        }
    }

    /// What the server said, if it did.
    pub fn code(self) -> Option<ErrorCode> {
        match self {
            Self::Server(code) => Some(code),
            _ => None,
        }
    }
}

impl ErrorCode {
    /// Whether the key is there already.
    pub fn is_unique_violation(self) -> bool {
        matches!(self, Self::UniqueViolation | Self::DupEntry)
    }

    /// Whether a lock was not to be had: at once, or in time.
    pub fn is_lock_not_available(self) -> bool {
        matches!(
            self,
            Self::LockNotAvailable | Self::LockTimeout | Self::LockWaitTimeout
        )
    }

    /// Whether the whole transaction may be tried again: a deadlock, or a snapshot that is too old.
    pub fn is_serialization_failure(self) -> bool {
        let failures = [
            Self::DeadlockDetected,
            Self::SerializationFailure,
            Self::ReadWriteDependencies,
            Self::LockDeadlock,
            Self::UserLockDeadlock,
        ];
        failures.contains(&self)
    }
}
