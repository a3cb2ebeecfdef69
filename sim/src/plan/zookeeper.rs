//! A ZooKeeper ensemble, and how it is set.

use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_clients::ServiceKind;

use super::TriggerKind;
use super::service_row::ServiceRow;
use super::service_settings::{ServiceSettings, SettingsGroup};
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

/// A ZooKeeper ensemble and its settings. Defaults are those of ZooKeeper's sample configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// Servers that vote: 1, 3, 5, or 7. At the start, the one with the highest number leads.
    pub servers: u8,
    /// Observers: servers that follow and do not vote. They take an ensemble, and their numbers come after those of the
    /// servers that vote.
    pub observers: u8,
    /// Length of a tick.
    pub tick: Duration,
    /// Ticks without a word from the leader after which a follower gives up, and the other way round.
    pub sync_limit: u32,
    /// Ticks that a server has to find and join a leader.
    pub init_limit: u32,
    /// The session timeout that clients ask for.
    pub session_timeout: Duration,
    /// The shortest that servers grant (`minSessionTimeout`); two ticks if nothing is said.
    pub min_session_timeout: Option<Duration>,
    /// The longest that servers grant (`maxSessionTimeout`); twenty ticks if nothing is said.
    pub max_session_timeout: Option<Duration>,
    /// How long a log write takes to be safe on disk.
    pub fsync: Duration,
    /// Time that a server is busy with a read.
    pub read_time: Duration,
    /// Time that the server that a client is connected to is busy with a write.
    pub write_time: Duration,
    /// Time that a server is busy with sending a notification.
    pub notification_time: Duration,
    /// Time that the leader is busy with each proposal to each follower, and the follower with its answer. None, unless
    /// it is said: then writes wait for each other on their way, and not only their answers.
    pub proposal_time: Duration,
    /// Which version its servers and clients are of.
    pub version: Version,
    /// Which library its clients use.
    pub library: Library,
    /// How long a client waits for an answer before it gives up the connection. `None`: for as long as it lasts.
    pub request_timeout: Option<Duration>,
    /// Whether servers that find no leader answer reads, and clients put up with that.
    pub read_only: bool,
    /// The longest message that servers and Java's clients read, in bytes (`jute.maxbuffer`).
    pub jute_max_buffer: u32,
    /// Whether servers make nodes with a time to live (`zookeeper.extendedTypesEnabled`).
    pub extended_types: bool,
    /// How often the leader looks for containers and nodes with a time to live that are to go
    /// (`znode.container.checkIntervalMs`).
    pub container_check_interval: Duration,
    /// What the lock's own node is at the start, below which recipes queue up.
    pub lock_node: LockNode,
}

/// What the lock's own node is at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockNode {
    /// It stays, as if somebody had made it for good.
    #[default]
    Persistent,
    /// It is a container, as a client of Curator would have made it: it goes when its last child has gone.
    Container,
    /// Nobody has made it.
    Missing,
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

    fn set_observers(&mut self, observers: u8) {
        self.observers = observers;
    }

    fn reset(&mut self, but: Option<SettingsGroup>) {
        let usual = Self {
            servers: self.servers,
            observers: self.observers,
            ..Self::default()
        };
        *self = match but {
            Some(SettingsGroup::Clients) => Self {
                library: self.library,
                request_timeout: self.request_timeout,
                ..usual
            },
            Some(SettingsGroup::Nodes) => Self {
                extended_types: self.extended_types,
                container_check_interval: self.container_check_interval,
                lock_node: self.lock_node,
                ..usual
            },
            None => usual,
        };
    }

    fn set_library(&mut self, library: Library) {
        self.library = library;
    }

    fn reset_library(&mut self) -> Option<&'static str> {
        let is_another = self.library != Library::default();
        self.library = Library::default();
        is_another.then_some("the client for Java")
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

impl Default for Ensemble {
    fn default() -> Self {
        Self {
            servers: 3,
            observers: 0,
            tick: Duration::from_secs(2),
            sync_limit: 5,
            init_limit: 10,
            session_timeout: Duration::from_secs(6),
            min_session_timeout: None,
            max_session_timeout: None,
            fsync: Duration::from_micros(500),
            read_time: Duration::from_micros(15),
            write_time: Duration::from_micros(30),
            notification_time: Duration::from_micros(5),
            proposal_time: Duration::ZERO,
            version: Version::default(),
            library: Library::default(),
            request_timeout: None,
            read_only: false,
            jute_max_buffer: JUTE_MAX_BUFFER,
            extended_types: false,
            container_check_interval: Duration::from_micros(REAP_INTERVAL),
            lock_node: LockNode::default(),
        }
    }
}
