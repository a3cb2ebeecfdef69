//! A SQL database, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;

use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::setting_type::words;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow::plain(ServiceKind::Sql);

/// What stands for a timeout that is off: longer than any run.
const NEVER: Duration = Duration::from_secs(24 * 3_600);

settings! {
    /// A SQL database, and how its clients are set. Defaults are those of the servers.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Sql {
        profile: Profile = "profile" {
            default: Profile::Postgres,
            of: Servers,
            written: Always,
            means: "Which database: `\"postgres\"` (PostgreSQL 15) or `\"mysql\"` (InnoDB, as MariaDB 10.11 answers).",
        }

        lease: Duration = "lease" {
            default: Duration::from_secs(10),
            of: Servers,
            written: Always,
            means: "For how long a row that expires is held without a renewal (`lockAtMostFor` of ShedLock).",
        }
    }
}

/// A line of databases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// PostgreSQL.
    #[default]
    Postgres,
    /// MySQL.
    MySql,
}

words! {
    Profile: "database",
}

impl Profile {
    /// Every profile, with its name in scenario files.
    pub const ALL: [(&'static str, Self); 2] =
        [("postgres", Self::Postgres), ("mysql", Self::MySql)];
}

impl ServiceSettings for Sql {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    fn servers(&self) -> u8 {
        1
    }

    fn set_servers(&mut self, _voters: u8) {}

    fn lease(&self) -> Duration {
        self.lease
    }

    fn tolerated_delay(&self) -> Duration {
        self.lease / 4
    }
}
