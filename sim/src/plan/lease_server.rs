//! The lease server, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;

use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow {
    most_locks: Some(1),
    ..ServiceRow::plain(ServiceKind::LeaseServer)
};

settings! {
    /// A lock server with leases of its own, and how its clients are set.
    #[derive(Clone, Debug, PartialEq, Eq)]
    LeaseServer {
        lease: Duration = "lease" {
            default: Duration::from_secs(10),
            of: Servers,
            written: Always,
            means: "How long a lock is held before it goes by itself.",
        }

        timeout: Duration = "timeout" {
            default: Duration::from_millis(500),
            of: Clients,
            written: Always,
            means: "How long a client waits for an answer.",
        }
    }
}

impl ServiceSettings for LeaseServer {
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
        self.timeout / 2
    }

    fn answer_timeouts(&self) -> Vec<(&'static str, Duration)> {
        vec![("timeout", self.timeout)]
    }
}
