//! The lease server, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;

use super::service_row::ServiceRow;
use super::service_settings::{ServiceSettings, Setting, SettingMut};

const ROW: ServiceRow = ServiceRow {
    most_locks: Some(1),
    ..ServiceRow::plain(ServiceKind::LeaseServer)
};

/// A lock server with leases of its own, and how its clients are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseServer {
    /// How long a lock is held before it goes by itself.
    pub lease: Duration,
    /// How long a client waits for an answer.
    pub timeout: Duration,
}

impl Default for LeaseServer {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            timeout: Duration::from_millis(500),
        }
    }
}

impl ServiceSettings for LeaseServer {
    fn settings(&mut self) -> Vec<Setting<'_>> {
        let Self { lease, timeout } = self;
        [("lease", lease), ("timeout", timeout)]
            .map(|(key, value)| Setting {
                key,
                value: SettingMut::Duration(value),
            })
            .into()
    }

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
