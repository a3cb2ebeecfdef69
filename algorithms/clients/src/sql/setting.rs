//! The settings of a session that matter to locks.

use std::time::Duration;

macro_rules! settings {
    ($($(#[$meaning:meta])+ $setting:ident $name:literal,)+) => {
        /// A setting of a session.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Setting {
            $($(#[$meaning])+ $setting,)+
        }

        impl Setting {
            /// Every setting.
            pub const ALL: &'static [Self] = &[$(Self::$setting),+];

            /// Its name at the server.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$setting => $name,)+
                }
            }
        }
    };
}

settings! {
    /// How long a statement may wait for one lock; zero: for ever.
    LockTimeout "lock_timeout",
    /// How long a statement may take, waits included; zero: for ever.
    StatementTimeout "statement_timeout",
    /// How long a session may be idle in a transaction; zero: for ever.
    IdleInTransactionSessionTimeout "idle_in_transaction_session_timeout",
    /// How long a session may be idle outside of a transaction; zero: for ever.
    IdleSessionTimeout "idle_session_timeout",
    /// After how long a waiter looks for a deadlock.
    DeadlockTimeout "deadlock_timeout",
    /// How often a busy backend looks whether its client is there; zero: never.
    ClientConnectionCheckInterval "client_connection_check_interval",
    /// Whether a commit waits for the disk, and for the standby if there is a synchronous one.
    SynchronousCommit "synchronous_commit",
    /// How long a statement may wait for a row (MySQL).
    InnodbLockWaitTimeout "innodb_lock_wait_timeout",
    /// How long a session may be idle (MySQL).
    WaitTimeout "wait_timeout",
    /// How long a session may be idle in a transaction (MariaDB); zero: for ever.
    IdleTransactionTimeout "idle_transaction_timeout",
    /// How long a statement may take (MariaDB); zero: for ever.
    MaxStatementTime "max_statement_time",
    /// Whether each statement outside of a transaction is one (MySQL).
    Autocommit "autocommit",
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A stretch of time.
    Time(Duration),
    /// On or off.
    On(bool),
}
