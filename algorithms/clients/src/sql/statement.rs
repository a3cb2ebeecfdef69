//! Statements.

use std::rc::Rc;

use super::{Expr, Setting, SettingValue};

/// How far a transaction is kept apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IsolationLevel {
    /// Each statement sees what was committed when it began. PostgreSQL's default.
    ReadCommitted,
    /// All statements see what was committed when the first began. MySQL's default.
    RepeatableRead,
    /// As if transactions ran one after the other.
    Serializable,
}

impl IsolationLevel {
    /// All, with their names in scenario files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("read-committed", Self::ReadCommitted),
        ("repeatable-read", Self::RepeatableRead),
        ("serializable", Self::Serializable),
    ];
}

/// The name of a prepared transaction.
pub type Gid = Rc<str>;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `BEGIN`, perhaps with an isolation level of its own.
    Begin(Option<IsolationLevel>),
    /// `COMMIT`
    Commit,
    /// `ROLLBACK`
    Rollback,
    /// `SAVEPOINT`
    Savepoint(&'static str),
    /// `ROLLBACK TO SAVEPOINT`
    RollbackTo(&'static str),
    /// `RELEASE SAVEPOINT`
    Release(&'static str),
    /// `SELECT`, with tables or without.
    Select(Select),
    /// `INSERT`
    Insert(Insert),
    /// `UPDATE`
    Update(Update),
    /// `DELETE`
    Delete(Delete),
    /// `LOCK TABLE .. IN .. MODE`, of PostgreSQL.
    LockTable(&'static str, TableLockMode),
    /// `SET`, or `SET LOCAL` if it is for this transaction.
    Set {
        /// Which.
        setting: Setting,
        /// To what.
        value: SettingValue,
        /// Only for this transaction.
        local: bool,
    },
    /// `SHOW`
    Show(Setting),
    /// `RESET ALL`
    ResetAll,
    /// `DISCARD ALL`
    DiscardAll,
    /// `SET SESSION .. ISOLATION LEVEL`: of the transactions to come.
    SetIsolation(IsolationLevel),
    /// `PREPARE TRANSACTION`
    PrepareTransaction(Gid),
    /// `COMMIT PREPARED`
    CommitPrepared(Gid),
    /// `ROLLBACK PREPARED`
    RollbackPrepared(Gid),
    /// `KILL`, or `KILL QUERY`, of MySQL.
    Kill {
        /// Only the statement that it executes.
        query: bool,
        /// Which connection.
        pid: u32,
    },
    /// Several statements in one message: one transaction, unless they say otherwise. The answer is that of the last.
    Batch(Vec<Statement>),
}

/// `SELECT`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// What is answered of each row.
    pub items: Vec<Expr>,
    /// The table; without one there is one row without columns.
    pub from: Option<&'static str>,
    /// What must be true of a row, all of it.
    pub filter: Vec<Expr>,
    /// In which order.
    pub order_by: Option<OrderBy>,
    /// At most how many rows.
    pub limit: Option<usize>,
    /// Whether rows are locked.
    pub locking: Option<RowLocking>,
}

/// `ORDER BY`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderBy {
    /// The column.
    pub column: &'static str,
    /// From the greatest on.
    pub descending: bool,
}

/// How strong a lock of a row is; each conflicts with what the one above it conflicts with, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowStrength {
    /// `FOR KEY SHARE`
    KeyShare,
    /// `FOR SHARE`
    Share,
    /// `FOR NO KEY UPDATE`
    NoKeyUpdate,
    /// `FOR UPDATE`
    Update,
}

/// What is done about a row that another transaction has locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait.
    #[default]
    Block,
    /// `NOWAIT`: an error.
    NoWait,
    /// `SKIP LOCKED`: leave it out.
    SkipLocked,
}

/// `FOR UPDATE` and its kin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLocking {
    /// How strong.
    pub strength: RowStrength,
    /// What is done about rows that are locked.
    pub wait: WaitPolicy,
}

/// `INSERT`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// Into which table.
    pub table: &'static str,
    /// The columns that are given; the others have their defaults.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
    /// What is done if the key is there.
    pub on_conflict: OnConflict,
    /// What is answered of each row that was inserted or changed.
    pub returning: Vec<Expr>,
}

/// What an `INSERT` does if the key is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Fails.
    #[default]
    Raise,
    /// `ON CONFLICT DO NOTHING`, or `INSERT IGNORE`.
    DoNothing,
    /// `ON CONFLICT DO UPDATE SET .. WHERE ..`, or `ON DUPLICATE KEY UPDATE`, which has no condition.
    DoUpdate {
        /// Columns and their new values.
        set: Vec<(&'static str, Expr)>,
        /// What must be true, all of it.
        filter: Vec<Expr>,
    },
}

/// `UPDATE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The table.
    pub table: &'static str,
    /// Columns and their new values.
    pub set: Vec<(&'static str, Expr)>,
    /// What must be true of a row, all of it.
    pub filter: Vec<Expr>,
    /// What is answered of each row that was changed.
    pub returning: Vec<Expr>,
}

/// `DELETE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// The table.
    pub table: &'static str,
    /// What must be true of a row, all of it.
    pub filter: Vec<Expr>,
    /// What is answered of each row that was deleted.
    pub returning: Vec<Expr>,
}

/// The modes of PostgreSQL's table locks, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableLockMode {
    /// What `SELECT` takes.
    AccessShare,
    /// What `SELECT .. FOR UPDATE` takes.
    RowShare,
    /// What `INSERT`, `UPDATE`, and `DELETE` take.
    RowExclusive,
    /// What `CREATE INDEX CONCURRENTLY` takes.
    ShareUpdateExclusive,
    /// What `CREATE INDEX` takes.
    Share,
    /// Like `Exclusive`, and lets rows be locked.
    ShareRowExclusive,
    /// Lets rows be read.
    Exclusive,
    /// Lets nothing be done.
    AccessExclusive,
}
