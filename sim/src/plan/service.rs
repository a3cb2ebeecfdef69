//! The services, and how they are set.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_checker::time::whole_micros;
use picklock_redis::first_owner;
pub use picklock_redis::{Fsync, Persistence};

pub use crate::redis::client::{Connections, ReadFrom};
use crate::zookeeper::client_profile::Library;
use crate::zookeeper::settings::{OUTSTANDING_LIMIT, QuorumPeerConfig, REAP_INTERVAL, granted};
use crate::zookeeper::version::Version;

/// The key of the lock in Redis.
pub(crate) const LOCK_KEY: &str = "lock:a";

/// The service that the algorithm stands on.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// A ZooKeeper ensemble.
    ZooKeeper(Ensemble),
    /// Redis.
    Redis(Deployment),
}

impl Service {
    /// Which it is.
    pub fn kind(&self) -> ServiceKind {
        match self {
            Self::ZooKeeper(_) => ServiceKind::ZooKeeper,
            Self::Redis(_) => ServiceKind::Redis,
        }
    }

    /// How many servers there are, without observers.
    pub fn servers(&self) -> u8 {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.servers,
            Self::Redis(deployment) => match &deployment.cluster {
                Some(cluster) => cluster.nodes(),
                None => deployment.servers + deployment.replicas,
            },
        }
    }

    /// How many observers there are.
    pub fn observers(&self) -> u8 {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.observers,
            Self::Redis(_) => 0,
        }
    }

    /// How many Sentinels there are.
    pub fn sentinels(&self) -> u8 {
        match self {
            Self::ZooKeeper(_) => 0,
            Self::Redis(deployment) => deployment.sentinels.as_ref().map_or(0, |it| it.number),
        }
    }

    /// How many machines there are that messages travel between: servers, observers, and Sentinels.
    pub(crate) fn machines(&self) -> u8 {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.machines(),
            Self::Redis(_) => self.servers() + self.sentinels(),
        }
    }

    /// Whether servers talk to each other.
    pub fn has_links(&self) -> bool {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.servers > 1,
            Self::Redis(deployment) => deployment.is_replicated() || deployment.cluster.is_some(),
        }
    }

    /// The cluster, if there is one.
    pub fn cluster(&self) -> Option<&Cluster> {
        match self {
            Self::ZooKeeper(_) => None,
            Self::Redis(deployment) => deployment.cluster.as_ref(),
        }
    }

    /// How long the lock outlives the last sign of life of who holds it: the session timeout, or the lease.
    pub fn lease(&self) -> Duration {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.granted_timeout(),
            Self::Redis(deployment) => deployment.lease,
        }
    }

    /// Whether its servers write to disks, and go on if they cannot: one that must write before it answers ends.
    pub fn writes_and_goes_on(&self) -> bool {
        match self {
            Self::ZooKeeper(_) => false,
            Self::Redis(deployment) => !matches!(
                deployment.persistence,
                Persistence::None | Persistence::Log(Fsync::Always)
            ),
        }
    }

    /// Whether a callback that does not return holds up anything in its clients.
    pub fn has_event_thread(&self) -> bool {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.library.has_event_thread(),
            Self::Redis(_) => false,
        }
    }

    /// Whether its clients give up a request that is not answered.
    pub fn gives_up_waiting(&self) -> bool {
        match self {
            Self::ZooKeeper(ensemble) => ensemble.request_timeout.is_some(),
            Self::Redis(_) => true,
        }
    }
}

/// Redis, and how its clients are set.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Servers that know nothing of each other: one, or several for locks that need a majority of them.
    pub servers: u8,
    /// Replicas of the only server. With several servers there are none.
    pub replicas: u8,
    /// Sentinels, if there are any: they choose the primary, and tell clients who it is.
    pub sentinels: Option<Sentinels>,
    /// The cluster that the servers are, if they are one; then there are none besides.
    pub cluster: Option<Cluster>,
    /// What servers keep on their disks.
    pub persistence: Persistence,
    /// How long a server reads what it has on its disk when it is started again.
    pub load_time: Duration,
    /// Whether a replica that does not hear its primary serves what it has.
    pub serve_stale_data: bool,
    /// How many replicas must have told a primary of themselves lately, for it to take writes.
    pub min_replicas_to_write: u8,
    /// How long ago that may be.
    pub min_replicas_max_lag: Duration,
    /// How long a lock is held before it goes by itself.
    pub lease: Duration,
    /// How long a client waits for an answer.
    pub timeout: Duration,
    /// How long a client waits for a connection.
    pub connect_timeout: Duration,
    /// How often a client sends a command again whose answer was lost, without telling the recipe.
    pub retries: u32,
    /// How long a client waits before it connects again.
    pub retry_pause: Duration,
    /// Whom clients read from, if there are replicas.
    pub read_from: ReadFrom,
    /// How the tasks of a contender share its connections.
    pub connections: Connections,
    /// Time that a server is busy with a command.
    pub command_time: Duration,
}

impl Default for Deployment {
    fn default() -> Self {
        Self {
            servers: 1,
            replicas: 0,
            sentinels: None,
            cluster: None,
            persistence: Persistence::None,
            load_time: Duration::ZERO,
            serve_stale_data: true,
            min_replicas_to_write: 0,
            min_replicas_max_lag: Duration::from_secs(10),
            lease: Duration::from_secs(10),
            timeout: Duration::from_millis(500),
            connect_timeout: Duration::from_secs(1),
            retries: 0,
            retry_pause: Duration::from_millis(100),
            read_from: ReadFrom::Primary,
            connections: Connections::Multiplexed,
            command_time: Duration::from_micros(5),
        }
    }
}

impl Deployment {
    /// Whether some servers have what others have.
    pub fn is_replicated(&self) -> bool {
        let in_cluster = self.cluster.as_ref().map_or(0, |cluster| cluster.replicas);
        self.replicas + in_cluster > 0
    }

    /// The place of the server that has the lock's key at first, if it is not on several.
    pub fn first_primary(&self) -> u8 {
        let cluster = self.cluster.as_ref();
        cluster.map_or(0, |cluster| {
            first_owner(LOCK_KEY.as_bytes(), cluster.primaries)
        })
    }

    /// The places of that server's replicas.
    pub fn first_replicas(&self) -> Vec<u8> {
        match &self.cluster {
            Some(cluster) => (1..=cluster.replicas)
                .map(|nth| self.first_primary() + nth * cluster.primaries)
                .collect(),
            None => (1..=self.replicas).collect(),
        }
    }
}

/// A cluster: its primaries share the keys, and replicas take the places of those that fail. Defaults are those of
/// Redis 7.0.15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// How many primaries there are. They are the first servers.
    pub primaries: u8,
    /// How many replicas each of them has. After the primaries comes one of each, and then the next of each.
    pub replicas: u8,
    /// How long a node must not answer before it is suspected.
    pub node_timeout: Duration,
    /// For how many node timeouts a replica may have been without its primary to take its place; zero for ever.
    pub validity_factor: u32,
    /// How often a client asks who serves what without another reason. `None`: never.
    pub poll: Option<Duration>,
}

impl Cluster {
    /// So many primaries with so many replicas each.
    pub fn of(primaries: u8, replicas: u8) -> Self {
        Self {
            primaries,
            replicas,
            node_timeout: Duration::from_secs(15),
            validity_factor: 10,
            poll: None,
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u8 {
        self.primaries * (1 + self.replicas)
    }
}

/// Sentinels, and how they and the clients that ask them are set. Defaults are those of Redis 7.0.15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentinels {
    /// How many there are.
    pub number: u8,
    /// How many of them must find the primary down before it is.
    pub quorum: u8,
    /// How long a server must not answer before it is down.
    pub down_after: Duration,
    /// How long the steps of a failover may take; the next does not begin before twice this long.
    pub failover_timeout: Duration,
    /// How many replicas are told to follow the new primary at the same time.
    pub parallel_syncs: u8,
    /// How often a client asks who the primary is, and leaves one that is not, as Redisson does. `None`: when it
    /// connects, and never else.
    pub poll: Option<Duration>,
}

impl Sentinels {
    /// So many Sentinels, of which the majority must agree.
    pub fn of(number: u8) -> Self {
        Self {
            number,
            quorum: number / 2 + 1,
            down_after: Duration::from_secs(30),
            failover_timeout: Duration::from_secs(180),
            parallel_syncs: 1,
            poll: None,
        }
    }
}

/// A ZooKeeper ensemble and its settings. Defaults are those of ZooKeeper's sample configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// Servers that vote: 1, 3, or 5. At the start, the one with the highest number leads.
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
}

/// `jute.maxbuffer`, unless it is said otherwise.
pub const JUTE_MAX_BUFFER: u32 = 0xf_ffff;

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
            reap_interval: REAP_INTERVAL,
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
        }
    }
}
