//! The inputs and outputs of a client.

use std::time::Duration;

use picklock_checker::ContenderId;
use picklock_clients::completion::Completion;
use picklock_clients::redis::{Bytes, Command, Lane, Listener, RedisResult, Value};
use picklock_machines::ConnectionId;

use crate::Address;

/// What can be set on a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedisClientConfig {
    /// How many independent servers there are.
    pub nodes: u32,
    /// How long it waits for an answer.
    pub timeout: Duration,
    /// How long it waits for a connection.
    pub connect_timeout: Duration,
    /// How often it sends a command again whose connection broke, or was closed because no answer came in time.
    pub retries: u32,
    /// How long it waits before it connects again after a connection broke.
    pub retry_pause: Duration,
    /// The longest such pause: pauses double with each try in a row that fails. `None`: they stay as they are.
    pub retry_pause_max: Option<Duration>,
    /// Whether it sends by the next connection what was not answered when the last one broke, and waits for a
    /// connection to send what comes meanwhile, until the timeout of each command. It has no `retries` then.
    pub replay: bool,
    /// Whether `retries` are for commands that were sent, too, and not only for those without a connection.
    pub resend: bool,
    /// Whether a connection is closed whose answer is late. `None`: as its other settings make likely.
    pub close_on_timeout: Option<bool>,
    /// At which Sentinels it is subscribed to `+switch-master`.
    pub switch_master: SwitchMaster,
    /// How many Sentinels it asks who the primary is; if none, it knows where its servers are.
    pub sentinels: u8,
    /// How often it asks them, or nodes of a cluster, without another reason.
    pub poll: Option<Duration>,
    /// How many nodes of a cluster it knows from the start; none if its servers are no cluster.
    pub cluster: u8,
    /// How many replicas its only server has.
    pub replicas: u8,
    /// Which servers it reads from.
    pub read_from: ReadFrom,
    /// How its process shares connections to a server.
    pub connections: ConnectionMode,
}

impl RedisClientConfig {
    /// How long it waits before it connects again after so many tries in a row that have failed before this one.
    pub(super) fn pause_after(&self, failures: u32) -> Duration {
        let Some(most) = self.retry_pause_max else {
            return self.retry_pause;
        };
        let factor = 2_u32.saturating_pow(failures);
        self.retry_pause.saturating_mul(factor).min(most)
    }

    /// Whether it waits longer with each try of a command, and not at all before the first. A client that replays waits
    /// longer with each try to connect.
    pub(super) fn counts_tries_of_commands(&self) -> bool {
        self.retry_pause_max.is_some() && !self.replay
    }

    /// Whether a connection is closed whose answer is late: by the next command, the answer would be taken for its own.
    /// If its library does not say so, it is closed where the command is sent again, where a command has a connection
    /// for itself, and before Sentinels, where its server may be dead, and another the primary. A client that replays
    /// keeps it.
    pub(super) fn closes_late(&self) -> bool {
        let may_have_failed_over = self.sentinels > 0 && !self.replay;
        let has_reason = self.retries > 0
            || self.connections != ConnectionMode::Multiplexed
            || may_have_failed_over;
        self.close_on_timeout.unwrap_or(has_reason)
    }

    /// Whether it leaves a server as soon as it hears that another is the primary.
    pub(super) fn leaves_old_primary(&self) -> bool {
        self.poll.is_some() || self.switch_master != SwitchMaster::Nowhere
    }
}

/// At which Sentinels a client is subscribed to `+switch-master`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchMaster {
    /// At none (redis-py, Redisson, ioredis, Lettuce).
    #[default]
    Nowhere,
    /// At one, and at the next one when that is gone (go-redis).
    One,
    /// At every one of them (Jedis).
    Every,
}

impl SwitchMaster {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] = [
        ("nowhere", Self::Nowhere),
        ("one", Self::One),
        ("every", Self::Every),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "nowhere",
            Self::One => "one",
            Self::Every => "every",
        }
    }
}

/// How the tasks of a process share connections to a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionMode {
    /// All commands go by one, one behind the other (redis-rs's `MultiplexedConnection`, Lettuce).
    #[default]
    Multiplexed,
    /// Each command has one of so many for itself until it is answered (redis-py, Jedis, Redisson).
    Pool(u8),
}

/// Which servers answer the commands of a client that only read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadFrom {
    /// The primary, in a cluster that of the slot, which answers all others, too.
    #[default]
    Primary,
    /// The replicas of the primary, in turn, and it alone if it has none (Redisson's `SLAVE`,
    /// Lettuce's `REPLICA_PREFERRED`, redis-py's `slave_for`).
    Replicas,
    /// The primary and its replicas, in turn (Redisson's `MASTER_SLAVE`, Lettuce's `ANY`, redis-py's
    /// `read_from_replicas`).
    Any,
}

impl ReadFrom {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] = [
        ("primary", Self::Primary),
        ("replicas", Self::Replicas),
        ("any", Self::Any),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Replicas => "replicas",
            Self::Any => "any",
        }
    }
}

/// What happens to a client.
pub enum Input {
    /// The application sends a command.
    Submit {
        /// By which lane.
        lane: Lane,
        /// The command.
        command: Command,
        /// What gets the answer.
        completion: Completion<RedisResult<Value>>,
        /// Which of the tasks that share the client asks.
        caller: Option<ContenderId>,
    },
    /// The application subscribes to a channel.
    Subscribe {
        /// At which server.
        node: u32,
        /// To which.
        channel: Bytes,
        /// Receives the messages.
        listener: Listener,
        /// Completes when the server has confirmed it.
        completion: Completion<RedisResult<Value>>,
    },
    /// A connection stands.
    Opened {
        /// The connection.
        connection: ConnectionId,
    },
    /// A connection could not be made, or broke.
    Broken {
        /// The connection.
        connection: ConnectionId,
    },
    /// Something has come from a server.
    Received {
        /// By which connection.
        connection: ConnectionId,
        /// The value.
        value: Value,
    },
    /// The time has come that [`next_wake`](picklock_machines::Machine::next_wake) had named. Too early does no harm.
    Wake,
}

/// What a client wants done, in this order.
pub enum Output {
    /// Connect to a server, and tell [`super::Client::connecting`] the number of the connection.
    Connect {
        /// For which of its ends.
        end: End,
        /// The server to connect to.
        to: Destination,
    },
    /// Send a command.
    Send {
        /// By which connection.
        connection: ConnectionId,
        /// The command.
        command: Command,
        /// Whether it was sent before, and may have been executed.
        again: bool,
        /// Which of the tasks that share the client has asked; `None` if it was the client itself.
        caller: Option<ContenderId>,
    },
    /// Close a connection.
    Disconnect {
        /// The connection.
        connection: ConnectionId,
    },
}

/// The server that a client connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One of several independent servers, or the only one, or the present primary.
    Node(u32),
    /// A Sentinel, by its index.
    Sentinel(u8),
    /// One of the replicas of the present primary, by its index among them.
    Replica(u8),
    /// A server that a Sentinel has named, or a node of the cluster.
    Address(Address),
}

/// An end of a client that has a connection of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The questions to Sentinels for the primary, or to nodes of a cluster for their slots.
    Questions,
    /// The questions to Sentinels for the replicas.
    QuestionsOfReplicas,
    /// A subscription to `+switch-master`, by its index.
    Switches(usize),
    /// A lane, by its index.
    Wire(usize),
    /// The subscriptions at a server, by their place.
    Subscriptions(usize),
}
