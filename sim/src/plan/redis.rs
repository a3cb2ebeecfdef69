//! Redis, and how it is set.

mod cluster;
mod sentinels;
mod service_settings;
mod setting_types;

use std::time::Duration;

use picklock_redis::first_owner;
pub use picklock_redis::{Fsync, KeyspaceEvents, Persistence, ServerVersion};

pub use cluster::Cluster;
pub use picklock_redis::client::{ConnectionMode, ReadFrom, SwitchMaster};
pub use sentinels::Sentinels;

use super::key::Holds;
use super::setting_type::words;
use super::settings::settings;

/// The key of the lock in Redis.
pub(crate) const LOCK_KEY: &str = "lock:a";

settings! {
    /// Redis, and how its clients are set.
    #[derive(Clone, Debug, PartialEq)]
    Deployment {
        servers: u8 = "servers" {
            holds: Holds::OneOrList(&Holds::Whole(1, 15)),
            default: 1,
            of: Topology,
            written: Always,
            means: "Servers that know nothing of each other: 1 to 15.",
        }

        version: ServerVersion = "version" {
            default: ServerVersion::Redis7_0,
            of: Servers,
            written: IfAnother,
            means: "Which server it is: what `\"redis-7.2\"` (`WAITAOF`), `\"redis-7.4\"` (fields of hashes that \
                    expire), `\"redis-8.4\"` (`IFEQ` and `IFNE` of `SET`, \
                    `DELEX`), `\"valkey-8.1\"` (`IFEQ`), and `\"valkey-9.0\"` (`DELIFEQ`) can do beyond \
                    `\"redis-7.0\"`.",
        }

        replicas: u8 = "replicas" {
            holds: Holds::Whole(0, 5),
            default: 0,
            of: Topology,
            written: Always,
            means: "Replicas of the only server: 0 to 5.",
        }

        read_from: ReadFrom = "read-from" {
            default: ReadFrom::Primary,
            of: Clients,
            written: IfAnother,
            means: "Where clients send what only reads, if there are replicas: `\"primary\"`, `\"replicas\"`, or \
                    `\"any\"`; a case may say otherwise.",
        }

        persistence: Persistence = "persistence" {
            default: Persistence::None,
            of: Servers,
            written: Always,
            means: "What servers keep on their disks: `\"none\"`, `\"rdb\"`, `\"aof-no\"`, `\"aof-everysec\"`, or \
                    `\"aof-always\"`.",
        }

        load_time: Duration = "load-time" {
            holds: Holds::DurationOrZero,
            default: Duration::ZERO,
            of: Servers,
            written: IfAnother,
            means: "How long a server reads what is on its disk when it is started again, and refuses almost \
                    everything (`LOADING`).",
        }

        serve_stale_data: bool = "serve-stale-data" {
            default: true,
            of: Servers,
            written: IfAnother,
            means: "Whether a replica that does not hear its primary serves what it has, or refuses (`MASTERDOWN`).",
        }

        min_replicas_to_write: u8 = "min-replicas-to-write" {
            holds: Holds::Whole(0, 5),
            default: 0,
            of: Servers,
            written: IfAnother,
            means: "A primary refuses to write (`NOREPLICAS`) unless so many replicas have acknowledged lately.",
        }

        min_replicas_max_lag: Duration = "min-replicas-max-lag" {
            default: Duration::from_secs(10),
            of: Servers,
            written: IfAnother,
            means: "How long ago \"lately\" may be, in whole seconds.",
        }

        notify_keyspace_events: KeyspaceEvents = "notify-keyspace-events" {
            default: KeyspaceEvents::default(),
            without: "none",
            of: Servers,
            written: IfAnother,
            means: "Which events of keys servers send to those that listen, in the letters of `redis.conf`: `\"Exg\"`.",
        }

        busy_reply_threshold: Duration = "busy-reply-threshold" {
            holds: Holds::DurationOrZero,
            default: Duration::from_secs(5),
            of: Servers,
            written: IfAnother,
            means: "For how long a script runs before the server answers others that it is busy (`BUSY`).",
        }

        lease: Duration = "lease" {
            default: Duration::from_secs(10),
            of: Servers,
            written: Always,
            means: "How long a lock is held before it goes by itself.",
        }

        timeout: Duration = "timeout" {
            default: Duration::from_millis(500),
            of: Clients,
            written: Always,
            means: "How long a client waits for an answer.",
        }

        connect_timeout: Duration = "connect-timeout" {
            default: Duration::from_secs(1),
            of: Clients,
            written: Always,
            means: "How long a client waits for a connection before it tries again, and asks again where to.",
        }

        retries: u32 = "retries" {
            holds: Holds::Whole(0, 100),
            default: 0,
            of: Clients,
            written: Always,
            means: "How often a client sends a command again whose answer was lost, without telling the recipe.",
        }

        retry_pause: Duration = "retry-pause" {
            holds: Holds::DurationOrZero,
            default: Duration::from_millis(100),
            of: Clients,
            written: Always,
            means: "How long a client waits before it connects again.",
        }

        retry_pause_max: Option<Duration> = "retry-pause-max" {
            default: None,
            without: "none",
            of: Clients,
            written: IfAnother,
            means: "How long that may become: the pause doubles with each try in a row that fails; without, it stays \
                    the \
                    same; not in a cluster.",
        }

        replay: bool = "replay" {
            default: false,
            of: Clients,
            written: IfAnother,
            means: "`true`: what is not answered when a connection breaks, and what comes before the next one stands, \
                    is \
                    sent by that one, until the `timeout` of each command, as Lettuce does it; there are no `retries` \
                    then; not in a cluster.",
        }

        resend: bool = "resend" {
            default: true,
            of: Clients,
            written: IfAnother,
            means: "`false`: `retries` are for commands without a connection alone, and one that was sent is not sent \
                    again, as Redisson does it with scripts of locks.",
        }

        close_on_timeout: Option<bool> = "close-on-timeout" {
            default: None,
            without: "see `docs/redis.md`",
            of: Clients,
            written: IfAnother,
            means: "Whether a client closes a connection whose answer does not come within the `timeout`.",
        }

        tcp_user_timeout: Option<Duration> = "tcp-user-timeout" {
            default: None,
            without: "none",
            of: Clients,
            written: IfAnother,
            means: "How long what a client has sent may stay unacknowledged before its kernel gives the connection up \
                    (`TCP_USER_TIMEOUT`); without, Linux goes on for 924.6 s.",
        }

        connections: ConnectionMode = "connections" {
            default: ConnectionMode::Multiplexed,
            of: Clients,
            written: IfAnother,
            means: "How the tasks of a contender share connections to a server: `\"multiplexed\"`, all commands go by \
                    one, or `{ pool = 2 }`, each has one of two for itself until it is answered; a case may say \
                    otherwise.",
        }

        poll: Option<Duration> = "poll" {
            default: None,
            without: "the library's",
            of: Clients,
            written: IfAnother,
            means: "How often clients ask a Sentinel who the primary is, and the replicas, if they read from them, and \
                    leave one that is not, or a node of a cluster who serves what, without another reason.",
        }

        switch_master: SwitchMaster = "switch-master" {
            default: SwitchMaster::Nowhere,
            without: "the library's",
            of: Clients,
            written: IfAnother,
            means: "At which Sentinels clients are subscribed to `+switch-master`, to leave the old primary as soon as \
                    one of them names another: `\"nowhere\"`, `\"one\"`, or `\"every\"`.",
        }

        command_time: Duration = "command-time" {
            holds: Holds::DurationOrZero,
            default: Duration::from_micros(5),
            of: Servers,
            written: Always,
            means: "How long a server is busy with a command.",
        }

        cluster: Option<Cluster> = "cluster" {
            default: None,
            without: "none",
            of: Topology,
            written: IfAnother,
            means: "The servers are the nodes of a cluster; then there are none besides.",
        }

        sentinels: Option<Sentinels> = "sentinels" {
            default: None,
            without: "0",
            of: Topology,
            written: IfAnother,
            means: "Sentinels that watch the primary and its replicas: 0 to 7; they need replicas.",
        }
    }
}

words! {
    ReadFrom: "choice of nodes to read from",
    SwitchMaster: "choice of Sentinels to subscribe to",
    ServerVersion: "version",
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
