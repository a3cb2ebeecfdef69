//! How a server is configured.

use std::time::Duration;

use crate::cluster::ClusterConfig;
use crate::keyspace_events::KeyspaceEvents;
use crate::replication_protocol::Address;
use crate::version::ServerVersion;

/// The configuration of a server. Defaults are those of Redis 7.0.15 without a configuration file, but that it keeps
/// nothing on its disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its version: which commands and options it has.
    pub version: ServerVersion,
    /// Which of several servers it is: the versions of its data are named after it.
    pub number: u32,
    /// Where it says that it is, if it is a replica.
    pub address: Option<Address>,
    /// Where its primary is, if it begins as a replica.
    pub primary: Option<Address>,
    /// The cluster that it is a node of, if it is: its number is its place there.
    pub cluster: Option<ClusterConfig>,
    /// What it keeps on its disk.
    pub persistence: Persistence,
    /// Whether it serves what it has while it is a replica that does not hear its primary.
    pub serve_stale_data: bool,
    /// How long it reads what it has on its disk when it is started again.
    pub load_time: Duration,
    /// Without so many good replicas nothing may be written.
    pub min_replicas_to_write: usize,
    /// A replica is good if it was heard of no longer ago than this, in whole seconds.
    pub min_replicas_max_lag: Duration,
    /// For how long a primary waits for more replicas before it sends all keys.
    pub sync_delay: Duration,
    /// How long after it has sent all keys a primary notices that they have arrived. What a replica acknowledges before
    /// is overheard, and the stream begins with its next acknowledgement, a second later, although the primary says
    /// that the replica is online.
    pub sync_notice: Duration,
    /// Whether `EXEC` sees that a watched key has expired since it was watched. Servers before 6.0.9 did not, and so
    /// let the owner of an expired lock delete the lock of its successor.
    pub watch_sees_expiry: bool,
    /// For how long a script runs before others are told that the server is busy.
    pub busy_reply_threshold: Duration,
    /// Which keyspace notifications it sends.
    pub notify_keyspace_events: KeyspaceEvents,
    /// Whether keys whose time has come are looked for. If not, they stay until a command asks for them.
    pub active_expiry: bool,
    /// After how many instructions a script is cut, because it would go on for ever.
    pub script_budget: u64,
}

/// What a server keeps on its disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing: after a restart it is empty.
    #[default]
    None,
    /// All keys, now and then (RDB).
    Snapshots(Vec<SavePoint>),
    /// Every change (AOF).
    Log(Fsync),
}

/// When all keys are written to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavePoint {
    /// So long after the last time,
    pub after: Duration,
    /// if there were so many changes since.
    pub changes: u64,
}

/// How often the log is forced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// When the kernel pleases.
    Never,
    /// Every second.
    EverySecond,
    /// Before each answer.
    Always,
}

impl Persistence {
    /// The save points of a server without a configuration file.
    pub fn default_save_points() -> Self {
        let point = |seconds, changes| SavePoint {
            after: Duration::from_secs(seconds),
            changes,
        };
        Self::Snapshots(vec![point(3_600, 1), point(300, 100), point(60, 10_000)])
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            version: ServerVersion::default(),
            number: 0,
            address: None,
            primary: None,
            cluster: None,
            persistence: Persistence::None,
            serve_stale_data: true,
            load_time: Duration::ZERO,
            min_replicas_to_write: 0,
            min_replicas_max_lag: Duration::from_secs(10),
            sync_delay: Duration::ZERO,
            sync_notice: Duration::ZERO,
            watch_sees_expiry: true,
            busy_reply_threshold: Duration::from_secs(5),
            notify_keyspace_events: KeyspaceEvents::default(),
            active_expiry: true,
            script_budget: 50_000_000,
        }
    }
}
