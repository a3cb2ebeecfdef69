//! Recipes over SQL databases.

pub mod for_update;
mod leased_row;
pub mod liquibase_lock;
pub mod mysql_get_lock;
pub mod pg_advisory_lock;
pub mod pg_advisory_lock_pooled;
pub mod pg_try_advisory_lock;
mod session;
pub mod shedlock_jdbc;
pub mod shedlock_jdbc_6;
pub mod spring_jdbc_lock_registry;
pub mod unique_key;
pub mod unique_key_app_clock;
pub mod unique_key_expiring;

use std::rc::Rc;
use std::time::Duration;

use crate::clients::sql::{DataSource, ErrorCode, SqlError, Value};
use crate::clients::{Env, ServiceKind};
use crate::family::Family;
use crate::hazard::hazards;
use crate::{BuildOver, Lock, LockError};

/// Every algorithm over a SQL database.
pub(crate) const FAMILY: Family = Family {
    recipes: &[
        pg_advisory_lock::RECIPE,
        pg_try_advisory_lock::RECIPE,
        mysql_get_lock::RECIPE,
        for_update::RECIPE,
        unique_key_expiring::RECIPE,
        shedlock_jdbc::RECIPE,
        spring_jdbc_lock_registry::RECIPE,
        unique_key::RECIPE,
        unique_key_app_clock::RECIPE,
        shedlock_jdbc_6::RECIPE,
        liquibase_lock::RECIPE,
        pg_advisory_lock_pooled::RECIPE,
    ],
    hazards: HAZARDS,
};

hazards! {
    "sql/late-answer": ["shedlock-jdbc", "shedlock-jdbc-6", "spring-jdbc-lock-registry"]
        breaks [MutualExclusion] under [Delay];
    "sql/late-answer-partition": ["shedlock-jdbc", "shedlock-jdbc-6", "spring-jdbc-lock-registry"]
        breaks [MutualExclusion] under [Partition];
    "sql/late-answer-pause": ["shedlock-jdbc", "shedlock-jdbc-6", "spring-jdbc-lock-registry"]
        breaks [MutualExclusion] under [Pause];
    "sql/application-clock": ["spring-jdbc-lock-registry"]
        breaks [MutualExclusion, OwnReleaseOnly] under [Clock];
}

/// A lock: the name by which sessions and rows know it, and the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlLock {
    /// Its name.
    pub name: Rc<str>,
    /// Its number, from one on: the key of its advisory lock, and of its row where rows have numbers.
    pub id: i64,
    /// For how long a row is held that expires.
    pub lease: Duration,
}

/// A table that a recipe stands on. Its first column is its key, the name or the number of a lock.
#[derive(Debug)]
pub struct LockTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [&'static str],
    /// The row that a lock has before any contender comes; empty if it has none.
    pub row: fn(&SqlLock) -> Vec<Value>,
}

/// What builds a lock over connections to a database.
pub struct OverSql {
    /// The databases that have what the lock asks for, as scenario files name them; `None`: all.
    pub databases: Option<&'static [&'static str]>,
    /// The table that it stands on.
    pub table: Option<&'static LockTable>,
    /// Builds it.
    pub build: &'static (dyn Fn(DataSource, Env, SqlLock) -> Box<dyn Lock> + Sync),
}

impl BuildOver for OverSql {
    fn service(&self) -> ServiceKind {
        ServiceKind::Sql
    }

    fn variants(&self) -> Option<&'static [&'static str]> {
        self.databases
    }
}

/// Those that have advisory locks.
const POSTGRES: Option<&[&str]> = Some(&["postgres"]);
/// Those that have locks with names.
const MYSQL: Option<&[&str]> = Some(&["mysql"]);

/// How long a contender waits that asks again and again.
const POLL: Duration = Duration::from_millis(100);

/// A row that is not there.
fn no_row(_: &SqlLock) -> Vec<Value> {
    Vec::new()
}

/// The error that a caller of a lock sees.
fn seen(error: SqlError) -> LockError {
    match error {
        SqlError::NotConnected => LockError::Disconnected,
        SqlError::ConnectionLoss => LockError::ConnectionLoss,
        SqlError::TimedOut | SqlError::Unexpected => LockError::TimedOut,
        SqlError::Server(ErrorCode::AdminShutdown | ErrorCode::ConnectionKilled) => {
            LockError::ConnectionLoss
        }
        SqlError::Server(code) if code.is_lock_not_available() => LockError::AcquireTimeout,
        SqlError::Server(_) => LockError::Refused,
    }
}
