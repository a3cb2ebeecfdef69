//! How a server is configured, and what its database holds.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::sql::{Dialect, IsolationLevel, Setting, SettingValue, Value};
use picklock_machines::ServerId;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, and what is in them if nothing is given.
    pub columns: Vec<(&'static str, Value)>,
    /// Whether its first column is its primary key.
    pub has_key: bool,
    /// The column that refers to the key of another table, and that table.
    pub references: Option<(&'static str, &'static str)>,
    /// The rows that it has at first.
    pub rows: Vec<Rc<[Value]>>,
}

impl Table {
    /// A table of which the first column is the key, without rows.
    pub fn of(name: &'static str, columns: &[(&'static str, Value)]) -> Self {
        Self {
            name,
            columns: columns.to_vec(),
            has_key: true,
            references: None,
            rows: Vec::new(),
        }
    }

    /// With this row.
    #[must_use]
    pub fn with_row(mut self, row: impl IntoIterator<Item = Value>) -> Self {
        self.rows.push(row.into_iter().collect());
        self
    }

    /// A row of which nothing is given.
    pub(crate) fn defaults(&self) -> Vec<Value> {
        let defaults = self.columns.iter().map(|(_, default)| default.clone());
        defaults.collect()
    }

    /// The place of a column.
    pub(crate) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| *name == column)
    }
}

/// The settings of a session: stretches of time, and truth values as zero and one microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    values: [u64; Setting::ALL.len()],
}

impl SessionSettings {
    /// What they are unless something else is said.
    fn of(dialect: Dialect) -> Self {
        let mut settings = Self {
            values: [0; Setting::ALL.len()],
        };
        settings.set(Setting::DeadlockTimeout, Duration::from_secs(1));
        settings.set(Setting::InnodbLockWaitTimeout, Duration::from_secs(50));
        let idle = match dialect {
            Dialect::Postgres => Duration::ZERO,
            Dialect::MySql => Duration::from_secs(28_800),
        };
        settings.set(Setting::WaitTimeout, idle);
        settings.switch(Setting::SynchronousCommit, true);
        settings.switch(Setting::Autocommit, true);
        settings
    }

    /// A stretch of time.
    pub fn time(&self, setting: Setting) -> Duration {
        Duration::from_micros(self.values[setting as usize])
    }

    /// Whether it is on.
    pub fn is_on(&self, setting: Setting) -> bool {
        self.values[setting as usize] > 0
    }

    /// Sets a stretch of time.
    pub fn set(&mut self, setting: Setting, time: Duration) {
        self.values[setting as usize] = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    }

    /// Switches it on or off.
    pub fn switch(&mut self, setting: Setting, on: bool) {
        self.values[setting as usize] = u64::from(on);
    }

    /// Sets it to what a statement says.
    pub(crate) fn assign(&mut self, setting: Setting, value: SettingValue) {
        match value {
            SettingValue::Time(time) => self.set(setting, time),
            SettingValue::On(on) => self.switch(setting, on),
        }
    }
}

/// How a server is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What it is: PostgreSQL 15, or MariaDB 10.11.
    pub dialect: Dialect,
    /// The isolation level of transactions that do not say theirs.
    pub isolation: IsolationLevel,
    /// What a session begins with.
    pub session: SessionSettings,
    /// How many sessions there can be.
    pub max_connections: usize,
    /// After how long without an answer the kernel gives up a client that it cannot reach: the sum of the three
    /// settings of TCP's keepalive.
    pub keepalive: Duration,
    /// How long a flush of the log takes.
    pub flush: Duration,
    /// How long after a commit that did not wait for the disk it is there all the same (`wal_writer_delay`).
    pub writer_delay: Duration,
    /// The standbys of a primary.
    pub standbys: Vec<ServerId>,
    /// The standby that a commit waits for.
    pub synchronous_standby: Option<ServerId>,
    /// `innodb_rollback_on_timeout`
    pub rollback_on_timeout: bool,
    /// Rows that were found count as changed, as JDBC asks of MySQL (`CLIENT_FOUND_ROWS`).
    pub found_rows: bool,
    /// The tables.
    pub tables: Vec<Table>,
}

impl Settings {
    /// A server of which nothing else is said.
    pub fn of(dialect: Dialect, tables: Vec<Table>) -> Self {
        Self {
            dialect,
            isolation: match dialect {
                Dialect::Postgres => IsolationLevel::ReadCommitted,
                Dialect::MySql => IsolationLevel::RepeatableRead,
            },
            session: SessionSettings::of(dialect),
            max_connections: 100,
            keepalive: Duration::from_secs(7_200 + 9 * 75),
            flush: Duration::ZERO,
            writer_delay: Duration::from_millis(200),
            standbys: Vec::new(),
            synchronous_standby: None,
            rollback_on_timeout: false,
            found_rows: false,
            tables,
        }
    }
}
