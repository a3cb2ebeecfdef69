//! What the servers of a service did and found: elections, promotions, restarts, replication, keys, and watches.
//!
//! They are written down for people, in runs that are told. No verdict looks at them, and the hash of a run does not
//! cover them: whether they are written down changes nothing else.

mod details;
mod words;

use serde::{Deserialize, Serialize};

use crate::ids::{ContenderId, ServerId};
use crate::server_change::ServerChange;
use crate::time::VirtualTime;

pub use details::{DataFound, KeyHolders, KeyLoss, KeySource, MessageLoss, Promoter, SyncMode};

/// Something that a server did or found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServiceEvent {
    /// The time.
    pub at: VirtualTime,
    /// So many events of the history came before it.
    pub after: usize,
    /// Who: `server-2`, `sentinel-1`.
    pub machine: String,
    /// What was measured.
    pub what: ServiceEventKind,
}

/// What a server did or found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServiceEventKind {
    // ZooKeeper.
    /// It leads, and a quorum follows.
    Leading {
        /// In which epoch.
        epoch: u32,
        /// Who led before it, if that was seen.
        previous: Option<ServerId>,
    },
    /// It follows a leader, and serves.
    Following {
        /// Whom.
        leader: ServerId,
        /// In which epoch.
        epoch: u32,
    },
    /// It has no leader any more, has closed the connections of its clients, and looks for another.
    Looking,
    /// It takes over what its leader has.
    Synced {
        /// Whom it follows.
        leader: ServerId,
        /// How it could have known.
        how: SyncMode,
        /// Up to which zxid it then has everything.
        up_to: u64,
        /// The transactions of its own log that it throws away.
        truncated: Vec<String>,
    },
    /// Its process has died.
    Died {
        /// Up to which zxid its log is safe on its disk.
        log: u64,
        /// How many transactions are lost with it, for they were not safe yet.
        lost: u64,
    },
    /// A client has a session, and has not had it before.
    SessionEstablished {
        /// Its number.
        session: String,
        /// Which contender's.
        by: ContenderId,
    },
    /// The leader has ended a session from which nothing was heard.
    SessionExpired {
        /// Its number.
        session: String,
        /// Whose, if a contender's.
        of: Option<ContenderId>,
    },
    /// It learns that the connection of a client is gone, and forgets the watches that were set by it.
    ClientGone {
        /// Which contender's.
        of: ContenderId,
    },
    /// It tells a client that a watch has fired.
    WatchFired {
        /// The type of the event, as ZooKeeper names it.
        event: String,
        /// The node.
        path: String,
        /// Whom, if a contender.
        to: Option<ContenderId>,
    },
    /// A notification never came to its client: the connection was gone.
    WatchLost {
        /// The type of the event, as ZooKeeper names it.
        event: String,
        /// The node.
        path: String,
        /// Whom it was for, if a contender.
        to: Option<ContenderId>,
    },

    // Any service.
    /// The client library of a contender sends it a request again that may have been executed.
    Resent {
        /// Which contender's.
        by: ContenderId,
        /// The request, in a few words: `EVAL 59114909`.
        request: String,
    },
    /// It answers a contender with an error, or is not there to take its connection.
    ErrorReply {
        /// Which contender.
        to: ContenderId,
        /// The error, in a few words: `OOM`, `NoAuth`, `connection refused`.
        error: String,
    },
    /// Its process runs again.
    Restarted {
        /// With what.
        data: DataFound,
        /// Whose key of the lock it had before, and has not any more.
        without_key_of: Option<ContenderId>,
        /// Which servers have that key still, and how many servers there are.
        left: KeyHolders,
    },

    // Redis.
    /// It was a replica, and is a primary.
    Promoted {
        /// Who has decided that.
        by: Promoter,
        /// Whose key of the lock it has, if it has one.
        key_of: Option<ContenderId>,
    },
    /// It was a primary, and follows another.
    Demoted {
        /// Whom.
        follows: Option<String>,
    },
    /// It throws away all that it has, and takes all keys of its primary (a full resynchronisation).
    FullSync {
        /// Whom it follows.
        primary: ServerId,
        /// How many writes that its primary never had are thrown away; none if nobody can tell.
        discarded: Option<u64>,
        /// Whose key of the lock is thrown away, if one is.
        discarded_key_of: Option<ContenderId>,
    },
    /// It goes on in the stream of its primary (a partial resynchronisation).
    PartialSync {
        /// Whom it follows.
        primary: ServerId,
    },
    /// It has the lock's key of a contender.
    KeySet {
        /// Whose.
        of: ContenderId,
        /// How it came by it.
        by: KeySource,
        /// Who has it now.
        holders: KeyHolders,
    },
    /// It has the lock's key of a contender no longer.
    KeyGone {
        /// Whose.
        of: ContenderId,
        /// The reason.
        why: KeyLoss,
        /// Who has deleted it or put another in its place, if a contender has.
        by: Option<ContenderId>,
        /// Who has it still.
        holders: KeyHolders,
    },
    /// A client subscribes to a channel at it.
    Subscribed {
        /// Which contender.
        by: ContenderId,
        /// The channel.
        channel: String,
    },
    /// A message is published to a channel at it.
    Published {
        /// Which contender has; none if it is the server itself, or another server has sent it.
        by: Option<ContenderId>,
        /// The channel.
        channel: String,
        /// The contenders that are subscribed there.
        to: Vec<ContenderId>,
    },
    /// A message of a channel never came to a subscriber.
    MessageLost {
        /// Which contender.
        to: ContenderId,
        /// The channel.
        channel: String,
        /// The reason.
        why: MessageLoss,
    },
    /// A Sentinel writes a line into its log.
    SentinelLog {
        /// The event, as Sentinel names it: `+odown`.
        event: String,
        /// The line, with the event.
        line: String,
    },
    /// A node of a cluster finds that a majority has given up on another: `FAIL`.
    NodeFailed {
        /// On which.
        node: ServerId,
    },
    /// A node of a cluster takes that back.
    NodeReachable {
        /// Of which.
        node: ServerId,
    },
}

impl ServiceEvent {
    /// Whether this is what the history calls that change of that server.
    pub fn is_change(&self, server: ServerId, to: ServerChange) -> bool {
        let is_it = match &self.what {
            ServiceEventKind::Leading { .. } => to == ServerChange::Elected,
            ServiceEventKind::Promoted { .. } => to == ServerChange::Promoted,
            ServiceEventKind::Demoted { .. } => to == ServerChange::Demoted,
            ServiceEventKind::Restarted { .. } => to == ServerChange::Restarted,
            ServiceEventKind::Following { .. }
            | ServiceEventKind::Looking
            | ServiceEventKind::Synced { .. }
            | ServiceEventKind::Died { .. }
            | ServiceEventKind::SessionEstablished { .. }
            | ServiceEventKind::SessionExpired { .. }
            | ServiceEventKind::ClientGone { .. }
            | ServiceEventKind::WatchFired { .. }
            | ServiceEventKind::WatchLost { .. }
            | ServiceEventKind::FullSync { .. }
            | ServiceEventKind::PartialSync { .. }
            | ServiceEventKind::KeySet { .. }
            | ServiceEventKind::KeyGone { .. }
            | ServiceEventKind::Subscribed { .. }
            | ServiceEventKind::Published { .. }
            | ServiceEventKind::MessageLost { .. }
            | ServiceEventKind::Resent { .. }
            | ServiceEventKind::ErrorReply { .. }
            | ServiceEventKind::SentinelLog { .. }
            | ServiceEventKind::NodeFailed { .. }
            | ServiceEventKind::NodeReachable { .. } => false,
        };
        is_it && self.machine == words::server(server)
    }

    /// The contender that it is about, if it is about one.
    pub fn about(&self) -> Option<ContenderId> {
        match &self.what {
            ServiceEventKind::SessionExpired { of, .. } => *of,
            ServiceEventKind::WatchFired { to, .. } | ServiceEventKind::WatchLost { to, .. } => *to,
            ServiceEventKind::KeySet { of, .. }
            | ServiceEventKind::KeyGone { of, .. }
            | ServiceEventKind::ClientGone { of } => Some(*of),
            ServiceEventKind::Subscribed { by, .. }
            | ServiceEventKind::SessionEstablished { by, .. }
            | ServiceEventKind::Resent { by, .. } => Some(*by),
            ServiceEventKind::ErrorReply { to, .. } => Some(*to),
            ServiceEventKind::Published { by, to, .. } => by.or(to.first().copied()),
            ServiceEventKind::MessageLost { to, .. } => Some(*to),
            ServiceEventKind::Restarted { without_key_of, .. } => *without_key_of,
            ServiceEventKind::FullSync {
                discarded_key_of, ..
            } => *discarded_key_of,
            ServiceEventKind::Promoted { key_of, .. } => *key_of,
            ServiceEventKind::Leading { .. }
            | ServiceEventKind::Following { .. }
            | ServiceEventKind::Looking
            | ServiceEventKind::Synced { .. }
            | ServiceEventKind::Died { .. }
            | ServiceEventKind::Demoted { .. }
            | ServiceEventKind::PartialSync { .. }
            | ServiceEventKind::SentinelLog { .. }
            | ServiceEventKind::NodeFailed { .. }
            | ServiceEventKind::NodeReachable { .. } => None,
        }
    }

    /// Whether it changes who serves, or what is served: somebody who wants to know why the lock changed hands looks at
    /// it, whomever it is about.
    pub fn changes_the_service(&self) -> bool {
        match &self.what {
            ServiceEventKind::Leading { .. }
            | ServiceEventKind::Restarted { .. }
            | ServiceEventKind::Promoted { .. }
            | ServiceEventKind::Demoted { .. }
            | ServiceEventKind::FullSync { .. }
            | ServiceEventKind::NodeFailed { .. } => true,
            ServiceEventKind::Synced { truncated, .. } => !truncated.is_empty(),
            ServiceEventKind::Died { lost, .. } => *lost > 0,
            ServiceEventKind::SentinelLog { event, .. } => {
                ["+odown", "+switch-master", "+failover-end"].contains(&event.as_str())
            }
            ServiceEventKind::Following { .. }
            | ServiceEventKind::Looking
            | ServiceEventKind::SessionEstablished { .. }
            | ServiceEventKind::SessionExpired { .. }
            | ServiceEventKind::ClientGone { .. }
            | ServiceEventKind::WatchFired { .. }
            | ServiceEventKind::WatchLost { .. }
            | ServiceEventKind::Resent { .. }
            | ServiceEventKind::ErrorReply { .. }
            | ServiceEventKind::PartialSync { .. }
            | ServiceEventKind::KeySet { .. }
            | ServiceEventKind::KeyGone { .. }
            | ServiceEventKind::Subscribed { .. }
            | ServiceEventKind::Published { .. }
            | ServiceEventKind::MessageLost { .. }
            | ServiceEventKind::NodeReachable { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests;
