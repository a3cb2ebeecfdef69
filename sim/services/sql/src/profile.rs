//! In what PostgreSQL and InnoDB differ, as data.

use picklock_clients::sql::{Dialect, ErrorCode as Code, Setting};

/// What a server answers and does in its own way.
#[derive(Debug)]
pub struct Profile {
    /// The key is there.
    pub unique_violation: Code,
    /// A row is locked, and the statement does not wait.
    pub not_available: Code,
    /// A lock was not to be had in time.
    pub lock_timeout: Code,
    /// The statement takes too long.
    pub statement_timeout: Code,
    /// The statement was cancelled.
    pub canceled: Code,
    /// It is in a circle of waits.
    pub deadlock: Code,
    /// There is no such table.
    pub no_table: Code,
    /// There is no such column.
    pub no_column: Code,
    /// There is no such savepoint.
    pub no_savepoint: Code,
    /// A row refers to one that is not there.
    pub no_parent: Code,
    /// A standby takes no writes.
    pub read_only: Code,
    /// There are too many sessions.
    pub too_many: Code,
    /// How long a statement may wait for one lock.
    pub lock_timeout_setting: Setting,
    /// How long a statement may take.
    pub statement_timeout_setting: Setting,
    /// How long a session may be idle in a transaction, and what it is told.
    pub idle_in_transaction: (Setting, Code),
    /// The same, outside of one.
    pub idle: (Setting, Code),
    /// An error ends the transaction. Else it undoes the statement, and all locks stay.
    pub error_aborts_transaction: bool,
    /// Rows are locked by their keys, in the table of locks. Else by marks in their versions.
    pub locks_records: bool,
    /// A circle of waits is found when it closes. Else by each waiter once, after a while.
    pub looks_for_deadlocks_at_once: bool,
    /// `now()` is the start of the statement, and not of the transaction.
    pub now_is_of_statement: bool,
    /// An `UPDATE` that changes nothing of a row leaves it, and does not count it.
    pub skips_unchanged: bool,
    /// Truth values are answered as numbers.
    pub truth_is_number: bool,
    /// A commit is seen, and its locks are free, before it is on the disk.
    pub releases_before_flush: bool,
    /// A transaction that has only locked rows is flushed, too.
    pub flushes_locks: bool,
    /// A session that ends for an idle timeout or an operator says why.
    pub says_why_it_ends: bool,
}

static POSTGRES: Profile = Profile {
    unique_violation: Code::UniqueViolation,
    not_available: Code::LockNotAvailable,
    lock_timeout: Code::LockTimeout,
    statement_timeout: Code::StatementTimeout,
    canceled: Code::QueryCanceled,
    deadlock: Code::DeadlockDetected,
    no_table: Code::UndefinedTable,
    no_column: Code::UndefinedColumn,
    no_savepoint: Code::InvalidSavepoint,
    no_parent: Code::ForeignKeyViolation,
    read_only: Code::ReadOnlySqlTransaction,
    too_many: Code::TooManyConnections,
    lock_timeout_setting: Setting::LockTimeout,
    statement_timeout_setting: Setting::StatementTimeout,
    idle_in_transaction: (
        Setting::IdleInTransactionSessionTimeout,
        Code::IdleInTransactionSessionTimeout,
    ),
    idle: (Setting::IdleSessionTimeout, Code::IdleSessionTimeout),
    error_aborts_transaction: true,
    locks_records: false,
    looks_for_deadlocks_at_once: false,
    now_is_of_statement: false,
    skips_unchanged: false,
    truth_is_number: false,
    releases_before_flush: false,
    flushes_locks: true,
    says_why_it_ends: true,
};

static INNODB: Profile = Profile {
    unique_violation: Code::DupEntry,
    not_available: Code::LockWaitTimeout,
    lock_timeout: Code::LockWaitTimeout,
    statement_timeout: Code::StatementTimeoutMySql,
    canceled: Code::QueryInterrupted,
    deadlock: Code::LockDeadlock,
    no_table: Code::NoSuchTable,
    no_column: Code::BadField,
    no_savepoint: Code::SavepointDoesNotExist,
    no_parent: Code::NoReferencedRow,
    read_only: Code::OptionPreventsStatement,
    too_many: Code::TooManyConnectionsMySql,
    lock_timeout_setting: Setting::InnodbLockWaitTimeout,
    statement_timeout_setting: Setting::MaxStatementTime,
    idle_in_transaction: (Setting::IdleTransactionTimeout, Code::ConnectionKilled),
    idle: (Setting::WaitTimeout, Code::ConnectionKilled),
    error_aborts_transaction: false,
    locks_records: true,
    looks_for_deadlocks_at_once: true,
    now_is_of_statement: true,
    skips_unchanged: true,
    truth_is_number: true,
    releases_before_flush: true,
    flushes_locks: false,
    says_why_it_ends: false,
};

impl Profile {
    /// That of a dialect.
    pub const fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Postgres => &POSTGRES,
            Dialect::MySql => &INNODB,
        }
    }
}
