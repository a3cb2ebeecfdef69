//! A Chubby cell, and how it is set.

use std::time::Duration;

use picklock_chubby::Settings as ReplicaSettings;
use picklock_clients::ServiceKind;

use super::TriggerKind;
use super::key::Holds;
use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow {
    has_roles: true,
    has_quorum: true,
    never_through: &[(
        "taken-away",
        "only a release and the end of a session free a lock",
    )],
    never: &[
        (
            TriggerKind::Queued,
            "the master keeps the queue of a lock in its memory",
        ),
        (
            TriggerKind::Proposed,
            "what the master writes is agreed on at once",
        ),
        (
            TriggerKind::Streamed,
            "a write is agreed on before it is done",
        ),
        (TriggerKind::Applied, "the replicas have one database"),
        (TriggerKind::Told, "there are no channels"),
        (
            TriggerKind::Disconnected,
            "a session stands on no connection",
        ),
        (
            TriggerKind::Reconnected,
            "a session stands on no connection",
        ),
    ],
    ..ServiceRow::plain(ServiceKind::Chubby)
};

settings! {
    /// A Chubby cell, its sessions, and its clients. Defaults are those of the paper, where it says one.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Chubby {
        replicas: u8 = "replicas" {
            holds: Holds::OneOrList(&Holds::OneOf(&[1, 3, 5, 7])),
            default: 5,
            of: Topology,
            written: Always,
            means: "Replicas of the cell: 1, 3, 5, or 7.",
        }

        session_lease: Duration = "session-lease" {
            default: Duration::from_secs(12),
            of: Servers,
            written: Always,
            means: "By how much an answer to a KeepAlive extends the lease of a session.",
        }

        lock_delay: Duration = "lock-delay" {
            default: Duration::from_secs(60),
            of: Clients,
            written: Always,
            means: "For how long no other client can claim a lock whose holder has failed, as clients ask for it: a \
                    minute at most.",
        }

        grace_period: Duration = "grace-period" {
            default: Duration::from_secs(45),
            of: Clients,
            written: Always,
            means: "How long a client whose lease has ended by its own clock looks for a master before it gives its \
                    session up.",
        }

        master_lease: Duration = "master-lease" {
            default: Duration::from_secs(3),
            of: Servers,
            written: Always,
            means: "For how long replicas promise a master to elect no other.",
        }

        election_time: Duration = "election-time" {
            default: Duration::from_secs(4),
            of: Servers,
            written: Always,
            means: "How long an election takes at least when the lease of the master has ended; half as long again at \
                    most.",
        }
    }
}

impl Chubby {
    /// The settings of its replicas.
    pub(crate) fn of_replicas(&self) -> ReplicaSettings {
        ReplicaSettings {
            replicas: self.replicas,
            session_lease: self.session_lease,
            master_lease: self.master_lease,
            election_time: self.election_time,
        }
    }

    /// Until the lease of the master has ended, and a majority has promised another one its own, perhaps at the second
    /// try.
    fn election(&self) -> Duration {
        self.master_lease + (self.master_lease + self.election_time * 3 / 2) * 2
    }
}

impl ServiceSettings for Chubby {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    fn servers(&self) -> u8 {
        self.replicas
    }

    fn set_servers(&mut self, voters: u8) {
        self.replicas = voters;
    }

    fn has_links(&self) -> bool {
        self.replicas > 1
    }

    fn session_tick(&self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }

    fn elects(&self) -> bool {
        true
    }

    fn failover(&self) -> Option<Duration> {
        (self.replicas > 1).then(|| self.election())
    }

    fn failover_keys(&self) -> &'static [&'static str] {
        &["master-lease", "election-time"]
    }

    fn lease(&self) -> Duration {
        self.session_lease
    }

    /// A new master gives every session its whole lease, and a lock is not free before its delay is over.
    fn lease_at_most(&self) -> Duration {
        self.session_lease * 2 + self.election() + self.lock_delay + Duration::from_secs(2)
    }

    /// A new master serves nothing but KeepAlives before the sessions of the dead have ended.
    fn recovery(&self) -> Duration {
        self.election() + self.session_lease
    }

    fn tolerated_delay(&self) -> Duration {
        self.session_lease / 4
    }
}
