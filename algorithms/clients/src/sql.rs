//! What clients of a SQL server say to it, and what it answers: PostgreSQL, and MySQL or MariaDB with InnoDB.
//!
//! Statements are typed; they become SQL where a trace shows them or a real server is asked. There is no parser.

mod builders;
mod connection;
mod display;
mod error;
mod expression;
mod kind;
mod message;
mod message_text;
mod setting;
mod statement;

pub use builders::{clock, clock_timestamp, col, excluded, interval, now, text};
pub use connection::{Connection, ConnectionListener, DataSource, Transport};
pub use display::Sql;
pub use error::{ErrorCode, Severity, SqlError, SqlResult};
pub use expression::{AdvisoryKey, AdvisoryLock, Clock, Expr, Function, Operator, Value};
pub use message::{
    BackendPid, ClientBody, ClientMessage, CommandTag, Notice, QueryResult, ServerMessage,
    TransactionStatus,
};
pub use setting::{Setting, SettingValue};
pub use statement::{
    Delete, Gid, Insert, IsolationLevel, OnConflict, OrderBy, RowLocking, RowStrength, Select,
    Statement, TableLockMode, Update, WaitPolicy,
};

/// Which SQL a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// PostgreSQL's.
    Postgres,
    /// MySQL's and MariaDB's.
    MySql,
}

impl Dialect {
    /// Both, with the names of their databases in scenario files.
    pub const ALL: [(&'static str, Self); 2] =
        [("postgres", Self::Postgres), ("mysql", Self::MySql)];
}
