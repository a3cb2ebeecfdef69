//! An etcd cluster, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;
use picklock_etcd::{Settings as MemberSettings, Version as MemberVersion, min_ttl};

use super::TriggerKind;
use super::key::Holds;
use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::setting_type::words;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow {
    has_roles: true,
    has_quorum: true,
    never: &[
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
            "a session is a lease, and stands on no connection",
        ),
        (
            TriggerKind::Reconnected,
            "a session is a lease, and stands on no connection",
        ),
    ],
    ..ServiceRow::plain(ServiceKind::Etcd)
};

/// How often the leader looks which leases have ended.
const SCAN: Duration = Duration::from_millis(500);

settings! {
    /// An etcd cluster and its settings. Defaults are those of etcd, but for the time to live of sessions, of which
    /// the client's default is a minute.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Etcd {
        servers: u8 = "servers" {
            holds: Holds::OneOrList(&Holds::OneOf(&[1, 3, 5, 7])),
            default: 3,
            of: Topology,
            written: Always,
            means: "Members: 1, 3, 5, or 7.",
        }

        session_ttl: Duration = "session-ttl" {
            default: Duration::from_secs(10),
            of: Servers,
            written: Always,
            means: "The time to live of the leases that clients ask for, in whole seconds; members raise it to what \
                    an election needs (3/2 of `election-timeout`, rounded up).",
        }

        heartbeat_interval: Duration = "heartbeat-interval" {
            default: Duration::from_millis(100),
            of: Servers,
            written: Always,
            means: "How often the leader says that it is there (`--heartbeat-interval`).",
        }

        election_timeout: Duration = "election-timeout" {
            default: Duration::from_secs(1),
            of: Servers,
            written: Always,
            means: "How long a member hears nothing of a leader before it wants to be one (`--election-timeout`).",
        }

        call_timeout: Duration = "call-timeout" {
            default: Duration::from_secs(5),
            of: Clients,
            written: Always,
            means: "How long a client waits for the answer to a call before it gives it up; a call that waits for a \
                    lock at a member waits for as long as it takes.",
        }

        version: Version = "version" {
            default: Version::default(),
            of: Servers,
            written: Always,
            means: "Of members: `\"3.4\"` (3.4.23), `\"3.5\"` (3.5.12), or `\"3.6\"`; what differs stands in \
                    `docs/etcd.md`.",
        }
    }
}

/// A line of versions of etcd, by one of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// 3.4.23: a waiter does not look at its own key, and a deposed leader believes that it leads.
    V3_4,
    /// 3.5.12: a waiter does; a deposed leader believes so still.
    V3_5,
    /// 3.6: a leader whose loop has not ticked asks a quorum.
    #[default]
    V3_6,
}

words! {
    Version: "version of etcd",
}

impl Version {
    /// Every line, with its name in scenario files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("3.4", Self::V3_4),
        ("3.5", Self::V3_5),
        ("3.6", Self::V3_6),
    ];

    fn of_members(self) -> MemberVersion {
        match self {
            Self::V3_4 => MemberVersion::of(3, 4, 23),
            Self::V3_5 => MemberVersion::of(3, 5, 12),
            Self::V3_6 => MemberVersion::of(3, 6, 0),
        }
    }
}

impl Etcd {
    /// The settings of its members.
    pub(crate) fn of_members(&self) -> MemberSettings {
        MemberSettings {
            members: self.servers,
            heartbeat_interval: self.heartbeat_interval,
            election_timeout: self.election_timeout,
            version: self.version.of_members(),
        }
    }

    /// The time to live that a client asks for, in seconds.
    pub(crate) fn ttl_asked(&self) -> i64 {
        i64::try_from(self.session_ttl.as_secs()).unwrap_or(i64::MAX)
    }
}

impl ServiceSettings for Etcd {
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

    fn session_tick(&self) -> Option<Duration> {
        Some(SCAN)
    }

    fn elects(&self) -> bool {
        true
    }

    /// Until a follower misses it, and a majority has voted, perhaps a second time.
    fn failover(&self) -> Option<Duration> {
        (self.servers > 1).then(|| self.election_timeout * 4)
    }

    fn failover_keys(&self) -> &'static [&'static str] {
        &["heartbeat-interval", "election-timeout"]
    }

    fn lease(&self) -> Duration {
        let least = min_ttl(self.election_timeout, self.heartbeat_interval);
        let granted = self.ttl_asked().max(least);
        Duration::from_secs(granted.unsigned_abs())
    }

    /// A new leader gives every lease its whole time and an election timeout; a leader that has lost the answer to a
    /// revocation proposes it again three seconds later.
    fn lease_at_most(&self) -> Duration {
        self.lease() + self.election_timeout + SCAN + Duration::from_secs(4)
    }

    fn recovery(&self) -> Duration {
        self.failover().unwrap_or_default() + self.of_members().request_timeout()
    }

    fn answer_timeouts(&self) -> Vec<(&'static str, Duration)> {
        vec![("call-timeout", self.call_timeout)]
    }

    fn tolerated_delay(&self) -> Duration {
        self.lease() / 4
    }
}
