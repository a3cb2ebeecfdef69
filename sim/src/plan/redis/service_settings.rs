//! A deployment's answers to the questions that every service answers ([`ServiceSettings`]).

use std::time::Duration;

use picklock_clients::{RequestKind, ServiceKind};

use super::{Deployment, Fsync, Persistence};
use crate::plan::TriggerKind;
use crate::plan::fault::FaultKind;
use crate::plan::names::ServerName;
use crate::plan::service_row::{SESSIONS, ServiceRow};
use crate::plan::service_settings::ServiceSettings;
use crate::plan::workload::Share;

const ROW: ServiceRow = ServiceRow {
    replicates_asynchronously: true,
    unshared: |share| match share {
        Share::Session => Some([
            "Redis has no sessions",
            "tasks share a client and its connections: share = \"connection\"",
        ]),
        Share::Nothing | Share::Connection | Share::Lock => None,
    },
    never: &[
        (TriggerKind::Queued, "no contender queues at a key"),
        (
            TriggerKind::Proposed,
            "no server asks others before it does something",
        ),
        (TriggerKind::SessionExpired, SESSIONS),
        (TriggerKind::Disconnected, SESSIONS),
        (TriggerKind::Reconnected, SESSIONS),
        (TriggerKind::SessionLost, SESSIONS),
    ],
    ..ServiceRow::plain(ServiceKind::Redis)
};

impl ServiceSettings for Deployment {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    /// The log is on the disk a second later.
    fn wait_at_server(&self, requests: &[RequestKind]) -> Duration {
        let waits = requests.contains(&RequestKind::WaitAof);
        Duration::from_secs(u64::from(waits))
    }

    fn variant(&self) -> Option<(&'static str, &'static str)> {
        Some(("version", self.version.name()))
    }

    fn servers(&self) -> u8 {
        match &self.cluster {
            Some(cluster) => cluster.nodes(),
            None => self.servers + self.replicas,
        }
    }

    fn voters(&self) -> u8 {
        self.servers
    }

    fn set_servers(&mut self, voters: u8) {
        self.servers = voters;
    }

    fn failover_keys(&self) -> &'static [&'static str] {
        &["down-after", "node-timeout"]
    }

    fn lease_mut(&mut self) -> Option<&mut Duration> {
        Some(&mut self.lease)
    }

    fn sentinels(&self) -> u8 {
        self.sentinels.as_ref().map_or(0, |group| group.number)
    }

    fn has_links(&self) -> bool {
        self.is_replicated() || self.cluster.is_some()
    }

    fn decides_alone(&self) -> bool {
        self.machines() > 1
    }

    fn asks_majority(&self) -> bool {
        self.servers > 1 && !self.is_replicated() && self.cluster.is_none()
    }

    fn first_primary(&self) -> u8 {
        Self::first_primary(self)
    }

    fn first_replicas(&self) -> Vec<u8> {
        Self::first_replicas(self)
    }

    fn is_primary_at_first(&self, place: u32) -> bool {
        match &self.cluster {
            Some(cluster) => place < u32::from(cluster.primaries),
            None => place == 0 || self.replicas == 0,
        }
    }

    fn slot_owners(&self) -> Option<u8> {
        let cluster = self.cluster.as_ref();
        cluster.map(|cluster| cluster.primaries)
    }

    fn elects(&self) -> bool {
        self.cluster.is_some()
    }

    fn failover(&self) -> Option<Duration> {
        match (&self.sentinels, &self.cluster) {
            (Some(sentinels), _) => Some(sentinels.down_after + Duration::from_millis(2_400)),
            (None, Some(cluster)) => Some(cluster.node_timeout * 2 + Duration::from_secs(1)),
            (None, None) => None,
        }
    }

    /// The death of a server may be that of the lock, a primary that stands still is replaced and does not know it, a
    /// late answer is believed, and a loss of power takes more where something is written.
    fn turns(&self, kind: FaultKind) -> usize {
        match kind {
            FaultKind::Pause => 4,
            FaultKind::HangServer if self.has_links() => 2,
            FaultKind::PowerLoss if self.tolerates_disk_errors() => 2,
            FaultKind::CrashServer
            | FaultKind::Promote
            | FaultKind::BlackHole
            | FaultKind::Crash
            | FaultKind::LoseReply
            | FaultKind::DelayReply => 2,
            _ => 1,
        }
    }

    fn can_serve_without(&self, dead: &[ServerName], waits: bool, is_promoted: bool) -> bool {
        if let Some(cluster) = &self.cluster {
            let copies = cluster.replicas - u8::from(waits).min(cluster.replicas);
            return dead.len() <= usize::from(copies.min(1));
        }
        if self.replicas == 0 {
            return dead.len() * 2 < usize::from(self.servers);
        }
        let heard = self.min_replicas_to_write.max(waits.into());
        let enough = dead.len() + usize::from(heard) <= usize::from(self.replicas);
        let is_replaced = self.sentinels.is_some() || is_promoted;
        enough && (is_replaced || !dead.contains(&ServerName::Number(0)))
    }

    fn lease(&self) -> Duration {
        self.lease
    }

    fn recovery(&self) -> Duration {
        match (&self.sentinels, &self.cluster) {
            // Down, an election that fails, and one that does not.
            (Some(sentinels), _) => sentinels.down_after * 2 + sentinels.failover_timeout * 4,
            // Votes are waited for twice as long as for a node, and the next election comes after twice that.
            (None, Some(cluster)) => cluster.node_timeout * 12 + Duration::from_secs(12),
            (None, None) => Duration::ZERO,
        }
    }

    fn timeout_of_each_server(&self) -> Duration {
        if self.servers > 1 {
            self.timeout
        } else {
            Duration::ZERO
        }
    }

    fn tolerated_delay(&self) -> Duration {
        self.timeout.min(self.connect_timeout) / 2
    }

    fn has_names(&self) -> bool {
        true
    }

    fn has_event_thread(&self) -> bool {
        true
    }

    fn answer_timeouts(&self) -> Vec<(&'static str, Duration)> {
        let (timeout, connect_timeout) = (self.timeout, self.connect_timeout);
        vec![("timeout", timeout), ("connect-timeout", connect_timeout)]
    }

    fn tolerates_disk_errors(&self) -> bool {
        !matches!(
            self.persistence,
            Persistence::None | Persistence::Log(Fsync::Always)
        )
    }

    fn other_machine(&self) -> &'static str {
        "sentinel"
    }
}
