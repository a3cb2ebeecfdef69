//! Redis, and how it is set.

mod service_settings;

use std::time::Duration;

use picklock_redis::first_owner;
pub use picklock_redis::{Fsync, KeyspaceEvents, Persistence};

pub use picklock_redis::client::{ConnectionMode, ReadFrom, SwitchMaster};

/// The key of the lock in Redis.
pub(crate) const LOCK_KEY: &str = "lock:a";

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
    /// Which keyspace notifications servers send.
    pub notify_keyspace_events: KeyspaceEvents,
    /// For how long a script runs before a server says that it is busy.
    pub busy_reply_threshold: Duration,
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
    /// How long that may become: it doubles with each try in a row that fails. `None`: it stays as it is.
    pub retry_pause_max: Option<Duration>,
    /// Whether a client sends by its next connection what the last one has not answered, until the timeout.
    pub replay: bool,
    /// Whether `retries` are for commands that were sent, too, and not only for those without a connection.
    pub resend: bool,
    /// Whether a client closes a connection whose answer is late. `None`: if it sends commands again, if each command
    /// has a connection for itself, and before Sentinels, unless it replays.
    pub close_on_timeout: Option<bool>,
    /// How long what a client has sent may stay unacknowledged before its kernel gives the connection up. `None`: as
    /// long as Linux does, a quarter of an hour.
    pub tcp_user_timeout: Option<Duration>,
    /// Whom clients read from, if there are replicas.
    pub read_from: ReadFrom,
    /// How the tasks of a contender share its connections.
    pub connections: ConnectionMode,
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
            notify_keyspace_events: KeyspaceEvents::default(),
            busy_reply_threshold: Duration::from_secs(5),
            lease: Duration::from_secs(10),
            timeout: Duration::from_millis(500),
            connect_timeout: Duration::from_secs(1),
            retries: 0,
            retry_pause: Duration::from_millis(100),
            retry_pause_max: None,
            replay: false,
            resend: true,
            close_on_timeout: None,
            tcp_user_timeout: None,
            read_from: ReadFrom::Primary,
            connections: ConnectionMode::Multiplexed,
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
    /// At which of them a client is subscribed to what they say of a new primary.
    pub switch_master: SwitchMaster,
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
            switch_master: SwitchMaster::Nowhere,
        }
    }
}
