//! The settings of an ensemble.

use super::messages::ServerId;
use super::version::Version;

/// The wall clock of every server at the start of a run, in milliseconds since the Unix epoch.
pub const WALL_CLOCK_AT_START: i64 = 1_700_000_000_000;

/// How often a leader looks for nodes that go by themselves, unless it is told otherwise: `checkIntervalMs`.
pub const REAP_INTERVAL: u64 = 60_000_000;

/// QuorumPeerConfig of a server, the same for all of an ensemble. Times are in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct QuorumPeerConfig {
    /// Servers that vote; a single one stands alone.
    pub servers: u8,
    /// Servers that follow and do not vote. Their numbers come after those of the others.
    pub observers: u8,
    /// Length of a tick.
    pub tick: u64,
    /// The shortest session timeout that is granted: `minSessionTimeout`, by default two ticks.
    pub least_timeout: u64,
    /// The longest: `maxSessionTimeout`, by default twenty ticks.
    pub most_timeout: u64,
    /// Ticks without a word from the leader after which a follower gives up, and the other way round.
    pub sync_limit: u32,
    /// Ticks that a server has to find and join a leader.
    pub init_limit: u32,
    /// Whether there are nodes with a time to live: `zookeeper.extendedTypesEnabled`.
    pub extended_types: bool,
    /// How often the leader looks for containers and other nodes that go by themselves.
    pub reap_interval: u64,
    /// How long a flush of the log takes.
    pub fsync: u64,
    /// What differs between versions.
    pub version: Version,
    /// Whether a server that finds no leader answers reads: `readonlymode.enabled`, and `localSessionsEnabled` with it,
    /// without which no client could ask.
    pub read_only: bool,
    /// Whether a hard quota refuses anything: `zookeeper.enforceQuota`.
    pub enforce_quota: bool,
    /// How many requests may be under way before the server reads no more of their clients:
    /// `zookeeper.globalOutstandingLimit`.
    pub outstanding_limit: usize,
    /// The longest request that is read, in bytes: `jute.maxbuffer`.
    pub jute_max_buffer: u32,
}

/// `jute.maxbuffer`, unless it is said otherwise.
pub const JUTE_MAX_BUFFER: u32 = 0xf_ffff;

/// `zookeeper.globalOutstandingLimit`, unless it is said otherwise.
pub const OUTSTANDING_LIMIT: usize = 1_000;

impl QuorumPeerConfig {
    /// How many servers are a majority of those that vote.
    pub fn quorum(&self) -> usize {
        usize::from(self.servers) / 2 + 1
    }

    /// How many servers there are, with those that do not vote.
    pub fn machines(&self) -> u8 {
        self.servers.saturating_add(self.observers)
    }

    /// Whether a server does not vote.
    pub(super) fn is_observer(&self, id: ServerId) -> bool {
        id.0 >= self.servers
    }

    /// The timeout that is granted to a client that asks for this one.
    pub(super) fn grant(&self, timeout: u64) -> u64 {
        granted(timeout, (self.least_timeout, self.most_timeout))
    }
}

/// What is granted of the session timeout that a client asks for, between the shortest and the longest. As ZooKeeper
/// does it, one after the other: the shortest may be more than the longest.
pub fn granted<T: Ord>(asked: T, (least, most): (T, T)) -> T {
    asked.max(least).min(most)
}
