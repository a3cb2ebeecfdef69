//! A ZooKeeper ensemble, and how it is set.

use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_clients::ServiceKind;

use super::TriggerKind;
use super::key::Holds;
use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::setting_type::{SettingType, words};
use super::settings::settings;
use super::workload::Share;
pub use picklock_zookeeper::client_profile::Library;
pub use picklock_zookeeper::settings::JUTE_MAX_BUFFER;
use picklock_zookeeper::settings::{OUTSTANDING_LIMIT, QuorumPeerConfig, REAP_INTERVAL, granted};
pub use picklock_zookeeper::version::Version;

const ROW: ServiceRow = ServiceRow {
    has_roles: true,
    has_quorum: true,
    unshared: |share| match share {
        Share::Connection => Some([
            "a connection of ZooKeeper is one of a session",
            "tasks share a handle and its session: share = \"session\"",
        ]),
        Share::Nothing | Share::Session | Share::Lock => None,
    },
    no_event_thread: [
        "the clients for Rust and Go have no event thread",
        "each watch has a channel of its own",
        "give [service.zookeeper] a `client` of `java` or `kazoo`",
    ],
    never: &[
        (
            TriggerKind::Streamed,
            "a write is `proposed` to the others before it is done",
        ),
        (TriggerKind::Told, "there are no channels"),
    ],
    ..ServiceRow::plain(ServiceKind::ZooKeeper)
};

settings! {
    /// A ZooKeeper ensemble and its settings. Defaults are those of ZooKeeper's sample configuration. At the start, the
    /// server with the highest number leads.
    #[derive(Clone, Debug, PartialEq)]
    Ensemble {
        servers: u8 = "servers" {
            holds: Holds::OneOrList(&Holds::OneOf(&[1, 3, 5, 7])),
            default: 3,
            of: Topology,
            written: Always,
            means: "Servers that vote: 1, 3, 5, or 7.",
        }

        observers: u8 = "observers" {
            holds: Holds::Whole(0, 5),
            default: 0,
            of: Topology,
            written: IfAnother,
            means: "Servers that follow and do not vote, besides: 0 to 5; for ensembles. Clients know of them as of \
                    the others.",
        }

        tick: Duration = "tick" {
            default: Duration::from_secs(2),
            of: Servers,
            written: Always,
            means: "The length of a tick.",
        }

        sync_limit: u32 = "sync-limit" {
            holds: Holds::Whole(1, 10_000),
            default: 5,
            of: Servers,
            written: Always,
            means: "Ticks without a word from the leader after which a follower gives up, and the other way round.",
        }

        init_limit: u32 = "init-limit" {
            holds: Holds::Whole(1, 10_000),
            default: 10,
            of: Servers,
            written: Always,
            means: "Ticks that a server has to find and join a leader.",
        }

        session_timeout: Duration = "session-timeout" {
            default: Duration::from_secs(6),
            of: Servers,
            written: Always,
            means: "What clients ask for: between 2 and 20 ticks, unless one of the next two keys says what is \
                    granted.",
        }

        min_session_timeout: Option<Duration> = "min-session-timeout" {
            default: None,
            without: "2 ticks",
            of: Servers,
            written: IfAnother,
            means: "The shortest session timeout that servers grant; both sides go by what is granted.",
        }

        max_session_timeout: Option<Duration> = "max-session-timeout" {
            default: None,
            without: "20 ticks",
            of: Servers,
            written: IfAnother,
            means: "The longest.",
        }

        fsync: Duration = "fsync" {
            holds: Holds::DurationOrZero,
            default: Duration::from_micros(500),
            of: Servers,
            written: Always,
            means: "How long a write to the log takes to be safe on disk.",
        }

        read_time: Duration = "read-time" {
            holds: Holds::DurationOrZero,
            default: Duration::from_micros(15),
            of: Servers,
            written: Always,
            means: "How long a server is busy with a read.",
        }

        write_time: Duration = "write-time" {
            holds: Holds::DurationOrZero,
            default: Duration::from_micros(30),
            of: Servers,
            written: Always,
            means: "How long the client's server is busy with a write.",
        }

        notification_time: Duration = "notification-time" {
            holds: Holds::DurationOrZero,
            default: Duration::from_micros(5),
            of: Servers,
            written: Always,
            means: "How long a server is busy with a notification.",
        }

        proposal_time: Duration = "proposal-time" {
            holds: Holds::DurationOrZero,
            default: Duration::ZERO,
            of: Servers,
            written: IfAnother,
            means: "How long the leader is busy with each proposal to each follower, and the follower with its \
                    answer; if it is not zero, what servers say to each other waits, as answers to clients do, until \
                    they are done with what came before.",
        }

        version: Version = "version" {
            default: Version::default(),
            of: Servers,
            written: Always,
            means: "Of servers and clients: `\"3.4\"`, `\"3.6\"`, `\"3.8\"`, `\"3.9\"`, or `\"3.10\"`; what differs \
                    stands in `docs/zookeeper.md`.",
        }

        request_timeout: Option<Duration> = "request-timeout" {
            default: None,
            without: "none",
            of: Clients,
            written: IfAnother,
            means: "How long a client waits for an answer before the request fails and the connection is given up.",
        }

        jute_max_buffer: u32 = "jute-max-buffer" {
            holds: Holds::Bytes,
            default: JUTE_MAX_BUFFER,
            of: Servers,
            written: IfAnother,
            means: "The longest message that servers, and Java's clients, read (`jute.maxbuffer`): bytes, or such as \
                    `\"4MiB\"`.",
        }

        read_only: bool = "read-only" {
            default: false,
            of: Servers,
            written: IfAnother,
            means: "`true`: servers that find no leader answer reads, and clients put up with that; for ensembles, \
                    and the client `\"java\"`.",
        }

        extended_types: bool = "extended-types" {
            default: false,
            of: Nodes,
            written: IfAnother,
            means: "`true`: servers make nodes with a time to live (`zookeeper.extendedTypesEnabled`); they refuse \
                    them otherwise, with `Unimplemented`.",
        }

        container_check_interval: Duration = "container-check-interval" {
            default: Duration::from_micros(REAP_INTERVAL),
            of: Nodes,
            written: IfAnother,
            means: "How often the leader looks for containers, and for nodes with a time to live, that are to go \
                    (`znode.container.checkIntervalMs`).",
        }

        lock_node: LockNode = "lock-node" {
            default: LockNode::default(),
            of: Nodes,
            written: IfAnother,
            means: "What the lock's own node is at the start: `\"persistent\"`; `\"container\"`, as Curator makes it, \
                    which goes some time after its last child; or `\"missing\"`, for algorithms that make it.",
        }

        library: Library = "client" {
            holds: Holds::OneOrList(&Library::HOLDS),
            default: Library::default(),
            of: Clients,
            written: Always,
            means: "The library of the clients: `\"java\"`, `\"kazoo\"`, `\"rust\"`, or `\"go\"` (`picklock list \
                    clients`), or a list of them of which each seed takes one; what differs stands in \
                    `docs/zookeeper.md`.",
        }
    }
}

/// What the lock's own node is at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockNode {
    /// It stays, as a persistent node.
    #[default]
    Persistent,
    /// It is a container, as a client of Curator would have made it: it goes when its last child has gone.
    Container,
    /// It does not exist.
    Missing,
}

words! {
    Version: "version of ZooKeeper",
    Library: "client library",
    LockNode: "kind of node",
}

impl LockNode {
    /// Every kind, with its name in scenario files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("persistent", Self::Persistent),
        ("container", Self::Container),
        ("missing", Self::Missing),
    ];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl Ensemble {
    /// How many servers there are, with those that do not vote.
    pub fn machines(&self) -> u8 {
        self.servers + self.observers
    }

    /// The shortest and the longest session timeout that servers grant.
    pub fn granted_timeouts(&self) -> (Duration, Duration) {
        let least = self.min_session_timeout.unwrap_or(self.tick * 2);
        let most = self.max_session_timeout.unwrap_or(self.tick * 20);
        (least, most)
    }

    /// The session timeout that clients are granted, and that both sides go by.
    pub fn granted_timeout(&self) -> Duration {
        granted(self.session_timeout, self.granted_timeouts())
    }
}

impl ServiceSettings for Ensemble {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    fn servers(&self) -> u8 {
        self.servers
    }

    fn set_servers(&mut self, voters: u8) {
        self.servers = voters;
        if voters == 1 {
            self.observers = 0; // A server that stands alone has no other to tell.
        }
    }

    fn observers(&self) -> u8 {
        self.observers
    }

    fn has_links(&self) -> bool {
        self.servers > 1
    }

    fn session_tick(&self) -> Option<Duration> {
        Some(self.tick)
    }

    fn elects(&self) -> bool {
        true
    }

    fn lacks_lock_node(&self) -> bool {
        self.lock_node == LockNode::Missing
    }

    fn reads_without_leader(&self) -> bool {
        self.read_only
    }

    /// Until the followers miss it, and have voted.
    fn failover(&self) -> Option<Duration> {
        let missed = self.tick * self.sync_limit;
        (self.servers > 1).then(|| missed + Duration::from_secs(2))
    }

    fn lease(&self) -> Duration {
        self.granted_timeout()
    }

    /// A session's timeout, rounded up to a tick, and half a tick more for a touch that a follower carries to the
    /// leader, and one more tick as grace; all of it from the beginning of a new leader on, if there is one meanwhile,
    /// as the run itself says.
    fn lease_at_most(&self) -> Duration {
        self.granted_timeout() + self.tick * 5 / 2
    }

    /// A leader is found, and clients that sleep between two rounds of the servers wake up.
    fn recovery(&self) -> Duration {
        self.tick * self.init_limit + self.library.longest_pause()
    }

    /// What is left of a session when a client has tried all servers but one.
    fn tolerated_delay(&self) -> Duration {
        self.granted_timeout() / 3 / u32::from(self.servers).max(1)
    }

    fn has_names(&self) -> bool {
        true
    }

    fn has_event_thread(&self) -> bool {
        self.library.has_event_thread()
    }

    fn has_request_timeout(&self) -> bool {
        self.request_timeout.is_some()
    }
}

impl From<&Ensemble> for QuorumPeerConfig {
    fn from(plan: &Ensemble) -> Self {
        let (least, most) = plan.granted_timeouts();
        Self {
            servers: plan.servers,
            observers: plan.observers,
            tick: whole_micros(plan.tick),
            least_timeout: whole_micros(least),
            most_timeout: whole_micros(most),
            sync_limit: plan.sync_limit,
            init_limit: plan.init_limit,
            extended_types: plan.extended_types,
            reap_interval: whole_micros(plan.container_check_interval),
            fsync: whole_micros(plan.fsync),
            version: plan.version,
            read_only: plan.read_only,
            enforce_quota: false,
            outstanding_limit: OUTSTANDING_LIMIT,
            jute_max_buffer: plan.jute_max_buffer,
        }
    }
}
