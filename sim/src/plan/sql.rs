//! A SQL database, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;
use picklock_clients::sql::{Dialect, IsolationLevel, Setting};
use picklock_sql::client::ClientSettings;
use picklock_sql::{Settings as ServerSettings, Table};

use super::key::Holds;
use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::setting_type::words;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow::plain(ServiceKind::Sql);

settings! {
    /// A SQL database, and how its clients are set. Defaults are those of the servers and of the driver of PostgreSQL
    /// for Java.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Sql {
        database: Dialect = "database" {
            default: Dialect::Postgres,
            of: Topology,
            written: Always,
            means: "Which one: `\"postgres\"` (PostgreSQL 15), or `\"mysql\"` (InnoDB, as MariaDB 10.11 answers).",
        }

        lease: Duration = "lease" {
            default: Duration::from_secs(10),
            of: Servers,
            written: Always,
            means: "How long a row that expires is held if it is not renewed (`lockAtMostFor`).",
        }

        idle_in_transaction_session_timeout: Option<Duration> = "idle-in-transaction-session-timeout" {
            default: None,
            without: "sessions may be idle in a transaction for ever",
            of: Servers,
            written: Always,
            means: "How long a session may be idle in a transaction (`idle_in_transaction_session_timeout`, or \
                    `idle_transaction_timeout` of MariaDB).",
        }

        idle_session_timeout: Option<Duration> = "idle-session-timeout" {
            default: None,
            without: "as the server has it: for ever, or eight hours (MySQL)",
            of: Servers,
            written: Always,
            means: "How long a session may be idle outside of a transaction (`idle_session_timeout`), or at all \
                    (`wait_timeout` of MySQL).",
        }

        lock_timeout: Option<Duration> = "lock-timeout" {
            default: None,
            without: "as the server has it: for ever, or 50 s for a row of InnoDB",
            of: Servers,
            written: Always,
            means: "How long a statement may wait for a lock (`lock_timeout`, or `innodb_lock_wait_timeout`).",
        }

        statement_timeout: Option<Duration> = "statement-timeout" {
            default: None,
            without: "for ever",
            of: Servers,
            written: Always,
            means: "How long a statement may take, waits included (`statement_timeout`, or `max_statement_time` of \
                    MariaDB).",
        }

        deadlock_timeout: Duration = "deadlock-timeout" {
            default: Duration::from_secs(1),
            of: Servers,
            written: IfAnother,
            means: "How long a statement waits until it looks for a deadlock (PostgreSQL; InnoDB looks at once).",
        }

        client_connection_check_interval: Option<Duration> = "client-connection-check-interval" {
            default: None,
            without: "never",
            of: Servers,
            written: Always,
            means: "How often a backend that is busy, or waits, looks whether its client is there (PostgreSQL).",
        }

        isolation: IsolationLevel = "isolation" {
            default: IsolationLevel::ReadCommitted,
            of: Servers,
            written: IfAnother,
            means: "Of transactions that do not say theirs: `\"read-committed\"`, `\"repeatable-read\"`, or \
                    `\"serializable\"` (`default_transaction_isolation`).",
        }

        max_connections: u32 = "max-connections" {
            holds: Holds::Whole(1, 10_000),
            default: 100,
            of: Servers,
            written: IfAnother,
            means: "How many sessions there can be (`max_connections`).",
        }

        connect_timeout: Duration = "connect-timeout" {
            default: Duration::from_secs(10),
            of: Clients,
            written: IfAnother,
            means: "How long a client waits for a server to take its connection (`connectTimeout`).",
        }

        socket_timeout: Option<Duration> = "socket-timeout" {
            default: None,
            without: "for ever",
            of: Clients,
            written: Always,
            means: "How long a client waits for the answer to a statement before it closes the connection \
                    (`socketTimeout`).",
        }
    }
}

words! {
    Dialect: "database",
    IsolationLevel: "isolation level",
}

impl Sql {
    /// The settings of its servers, with these tables.
    pub(crate) fn of_servers(&self, tables: Vec<Table>) -> ServerSettings {
        let mut settings = ServerSettings::of(self.database, tables);
        let [in_transaction, idle, lock, statement] = match self.database {
            Dialect::Postgres => [
                Setting::IdleInTransactionSessionTimeout,
                Setting::IdleSessionTimeout,
                Setting::LockTimeout,
                Setting::StatementTimeout,
            ],
            Dialect::MySql => [
                Setting::IdleTransactionTimeout,
                Setting::WaitTimeout,
                Setting::InnodbLockWaitTimeout,
                Setting::MaxStatementTime,
            ],
        };
        for (setting, time) in [
            (in_transaction, self.idle_in_transaction_session_timeout),
            (idle, self.idle_session_timeout),
            (lock, self.lock_timeout),
            (statement, self.statement_timeout),
            (Setting::DeadlockTimeout, Some(self.deadlock_timeout)),
            (
                Setting::ClientConnectionCheckInterval,
                self.client_connection_check_interval,
            ),
        ] {
            if let Some(time) = time {
                settings.session.set(setting, time);
            }
        }
        settings.max_connections = self.max_connections as usize;
        // The default of the plan is that of PostgreSQL.
        if self.isolation != IsolationLevel::ReadCommitted {
            settings.isolation = self.isolation;
        }
        settings
    }

    /// The settings of its clients.
    pub(crate) fn of_clients(&self) -> ClientSettings {
        ClientSettings {
            dialect: self.database,
            servers: self.servers(),
            connect_timeout: self.connect_timeout,
            socket_timeout: self.socket_timeout,
        }
    }
}

impl ServiceSettings for Sql {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    fn servers(&self) -> u8 {
        1
    }

    fn set_servers(&mut self, _voters: u8) {}

    fn variant(&self) -> Option<(&'static str, &'static str)> {
        let of = |(name, dialect)| (dialect == self.database).then_some(("database", name));
        Dialect::ALL.into_iter().find_map(of)
    }

    fn lease(&self) -> Duration {
        self.lease
    }

    fn tolerated_delay(&self) -> Duration {
        self.lease / 4
    }
}
