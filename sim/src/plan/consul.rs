//! Consul, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;
use picklock_consul::Settings as ServerSettings;

use super::TriggerKind;
use super::key::Holds;
use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow {
    has_roles: true,
    has_quorum: true,
    never: &[
        (
            TriggerKind::Queued,
            "the service keeps no queue of contenders",
        ),
        (
            TriggerKind::Streamed,
            "a write is agreed on before it is done",
        ),
        (TriggerKind::Told, "there are no channels"),
        (
            TriggerKind::Proposed,
            "a follower forwards what it is asked: wait for `sent` or `committed`",
        ),
        (
            TriggerKind::Disconnected,
            "a session stands on no connection",
        ),
        (
            TriggerKind::Reconnected,
            "a session stands on no connection",
        ),
        (
            TriggerKind::SessionLost,
            "no client is notified of the end of a session",
        ),
    ],
    ..ServiceRow::plain(ServiceKind::Consul)
};

settings! {
    /// Consul and its settings. Defaults are those of Consul and of its client for Go.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Consul {
        servers: u8 = "servers" {
            holds: Holds::OneOrList(&Holds::OneOf(&[1, 3, 5])),
            default: 3,
            of: Topology,
            written: Always,
            means: "Servers: 1, 3, or 5.",
        }

        session_ttl: Duration = "session-ttl" {
            default: Duration::from_secs(15),
            of: Servers,
            written: Always,
            means: "The time to live of sessions, 10 s at least; the leader ends a session after twice that time \
                    without a renewal.",
        }

        lock_delay: Duration = "lock-delay" {
            default: Duration::from_secs(15),
            of: Servers,
            written: Always,
            means: "For how long no session can acquire the keys of one that has ended (`LockDelay`).",
        }

        raft_multiplier: u32 = "raft-multiplier" {
            holds: Holds::Whole(1, 10),
            default: 5,
            of: Servers,
            written: Always,
            means: "What the time-outs of elections are multiplied by (`raft_multiplier`): a second, and half a second \
                    for a leader that hears no majority.",
        }

        rpc_client_timeout: Duration = "rpc-client-timeout" {
            default: Duration::from_secs(60),
            of: Clients,
            written: Always,
            means: "How long an agent waits for the answer to a call (`rpc_client_timeout`); to a blocking query, as \
                    long as that may wait, too.",
        }
    }
}

impl Consul {
    /// The settings of its servers.
    pub(crate) fn of_servers(&self) -> ServerSettings {
        ServerSettings {
            servers: self.servers,
            raft_multiplier: self.raft_multiplier,
        }
    }
}

impl ServiceSettings for Consul {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    fn servers(&self) -> u8 {
        self.servers
    }

    fn set_servers(&mut self, voters: u8) {
        self.servers = voters;
    }

    fn has_links(&self) -> bool {
        self.servers > 1
    }

    /// Each session has a timer of its own.
    fn session_tick(&self) -> Option<Duration> {
        Some(Duration::from_millis(1))
    }

    fn elects(&self) -> bool {
        true
    }

    /// Until a follower misses the leader, and a majority has voted, perhaps a second time.
    fn failover(&self) -> Option<Duration> {
        let timeout = Duration::from_secs(1) * self.raft_multiplier;
        (self.servers > 1).then(|| timeout * 4)
    }

    fn failover_keys(&self) -> &'static [&'static str] {
        &["raft-multiplier"]
    }

    fn lease(&self) -> Duration {
        self.session_ttl
    }

    /// A session lives twice its time to live.
    fn lease_at_most(&self) -> Duration {
        self.session_ttl * 2 + Duration::from_secs(1)
    }

    /// A call may wait for a leader, and for its answer; a contender that could not acquire a lock looks again after 5
    /// s when its lock-delay is over.
    fn recovery(&self) -> Duration {
        let call = self.rpc_client_timeout + Duration::from_secs(17);
        self.failover().unwrap_or_default() + call + self.lock_delay + Duration::from_secs(5)
    }

    fn answer_timeouts(&self) -> Vec<(&'static str, Duration)> {
        vec![("rpc-client-timeout", self.rpc_client_timeout)]
    }

    fn tolerated_delay(&self) -> Duration {
        self.lease() / 4
    }
}
