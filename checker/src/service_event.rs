//! What the servers of a service did and found: elections, promotions, restarts, replication, keys, and watches.
//!
//! They are written down for people, in runs that are told. No verdict looks at them, and the hash of a run does not
//! cover them: whether they are written down changes nothing else.

mod details;
mod row;
mod words;

use serde::{Deserialize, Serialize};

use crate::ids::{ContenderId, ServerId};
use crate::server_change::ServerChange;
use crate::time::VirtualTime;

pub use details::{DataFound, KeyHolders, KeyLoss, KeySource, MessageLoss, Promoter, SyncMode};
pub use row::ServiceEventRow;
use row::service_events;
use words::{
    client, demoted, died, expired, full_sync, key_gone, key_set, leading, message_lost,
    partial_sync, promoted, published, restarted, server, synced, watch_lost,
};

/// Something that a server did or found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServiceEvent {
    /// The time.
    pub at: VirtualTime,
    /// So many events of the history came before it.
    pub after: usize,
    /// Its name: `server-2`, `sentinel-1`.
    pub machine: String,
    /// What was measured.
    pub what: ServiceEventKind,
}

impl ServiceEvent {
    /// What is known of what happened.
    pub fn row(&self) -> ServiceEventRow {
        self.what.row()
    }

    /// Whether this is what the history calls that change of that server.
    pub fn is_change(&self, of: ServerId, to: ServerChange) -> bool {
        self.row().change == Some(to) && self.machine == server(of)
    }

    /// What happened, in a sentence without its full stop; `name` says what to call a contender.
    pub fn describe(&self, name: &dyn Fn(ContenderId) -> String) -> String {
        self.what.words(&self.machine, name)
    }
}

service_events! { (machine, name)
    // ZooKeeper.
    /// It leads, and a quorum follows.
    Leading {
        /// In which epoch.
        epoch: u32,
        /// The leader before it, if that was seen.
        previous: Option<ServerId>,
    } = {
        words: leading(machine, *epoch, *previous);
        short: format!("LEADING, epoch {epoch}"),
        change: Some(ServerChange::Elected),
        changes_the_service: true,
        role: Some("LEADING"),
    }

    /// It follows a leader, and serves.
    Following {
        /// The leader.
        leader: ServerId,
        /// In which epoch.
        epoch: u32,
    } = {
        words: format!("{machine} is FOLLOWING {} in epoch {epoch}", server(*leader)),
        role: Some("FOLLOWING"),
    }

    /// It has no leader any more, has closed the connections of its clients, and looks for another.
    Looking = {
        words: format!("{machine} is LOOKING, and closes all connections"),
        role: Some("LOOKING"),
    }

    /// It takes over what its leader has.
    Synced {
        /// The leader.
        leader: ServerId,
        /// How it could have known.
        how: SyncMode,
        /// Up to which zxid it then has everything.
        up_to: u64,
        /// The transactions of its own log that it throws away.
        truncated: Vec<String>,
    } = {
        words: synced(machine, *leader, (*how, *up_to), truncated),
        changes_the_service: !truncated.is_empty(),
        discards: !truncated.is_empty(),
    }

    /// Its process has died.
    Died {
        /// Up to which zxid its log is safe on its disk.
        log: u64,
        /// How many transactions are lost with it, for they were not safe yet.
        lost: u64,
    } = {
        words: died(machine, *log, *lost);
        short: "dies",
        changes_the_service: *lost > 0,
        discards: *lost > 0,
        bad: true,
        role: Some("down"),
    }

    /// A client has a session, and has not had it before.
    SessionEstablished {
        /// Its number.
        session: String,
        /// Which contender's.
        by: ContenderId,
    } = {
        words: format!("{machine} gives {} the session {session}", name(*by)),
        about: Some(*by),
    }

    /// The leader has ended a session from which nothing was heard.
    SessionExpired {
        /// Its number.
        session: String,
        /// Whose, if a contender's.
        of: Option<ContenderId>,
    } = {
        words: expired(machine, session, of.map(name));
        short: of.map_or(String::new(), |of| format!("expires {}'s session", name(of))),
        about: *of,
        bad: true,
    }

    /// It learns that the connection of a client is gone, and forgets the watches that were set by it.
    ClientGone {
        /// Which contender's.
        of: ContenderId,
    } = {
        words: format!("{machine} has lost the connection of {}, and forgets its watches", name(*of)),
        about: Some(*of),
    }

    /// It tells a client that a watch has fired.
    WatchFired {
        /// The type of the event, as ZooKeeper names it.
        event: String,
        /// The node.
        path: String,
        /// The contender that gets it, if it is one.
        to: Option<ContenderId>,
    } = {
        words: format!("{machine} sends {event} {path} to {}", client(*to, name));
        short: to.map_or(String::new(), |to| format!("watch fires for {}", name(to))),
        about: *to,
    }

    /// A notification never came to its client: the connection was gone.
    WatchLost {
        /// The type of the event, as ZooKeeper names it.
        event: String,
        /// The node.
        path: String,
        /// The contender that it was for, if it is one.
        to: Option<ContenderId>,
    } = {
        words: watch_lost(machine, (event, path), &client(*to, name));
        short: to.map_or(String::new(), |to| format!("watch of {} lost", name(to))),
        about: *to,
        bad: true,
    }


    // Any service.
    /// The client library of a contender sends it a request again that may have been executed.
    Resent {
        /// Which contender's.
        by: ContenderId,
        /// The request, in a few words: `EVAL 59114909`.
        request: String,
    } = {
        words: format!("the client of {} sends {machine} again: {request}", name(*by)),
        about: Some(*by),
    }

    /// It answers a contender with an error, or is not there to take its connection.
    ErrorReply {
        /// Which contender.
        to: ContenderId,
        /// The error, in a few words: `OOM`, `NoAuth`, `connection refused`.
        error: String,
    } = {
        words: format!("{machine} answers {} with {error}", name(*to)),
        about: Some(*to),
    }

    /// Its process runs again.
    Restarted {
        /// With what.
        data: DataFound,
        /// Whose key of the lock it had before, and has not any more.
        without_key_of: Option<ContenderId>,
        /// Which servers have that key still, and how many servers there are.
        left: KeyHolders,
    } = {
        words: restarted(machine, *data, without_key_of.map(name), left);
        short: "restarts",
        about: *without_key_of,
        loses_key_of: *without_key_of,
        change: Some(ServerChange::Restarted),
        changes_the_service: true,
    }


    // Redis.
    /// It was a replica, and is a primary.
    Promoted {
        /// By which decision.
        by: Promoter,
        /// Whose key of the lock it has, if it has one.
        key_of: Option<ContenderId>,
    } = {
        words: promoted(machine, by, key_of.map(name));
        short: "promoted",
        about: *key_of,
        change: Some(ServerChange::Promoted),
        changes_the_service: true,
        role: Some("primary"),
        role_before: Some("replica"),
    }

    /// It was a primary, and follows another.
    Demoted {
        /// The new primary, if it is known.
        follows: Option<String>,
    } = {
        words: demoted(machine, follows.as_deref());
        short: "demoted",
        change: Some(ServerChange::Demoted),
        changes_the_service: true,
        role: Some("replica"),
        role_before: Some("primary"),
    }

    /// It throws away all that it has, and takes all keys of its primary (a full resynchronisation).
    FullSync {
        /// The primary.
        primary: ServerId,
        /// How many writes that its primary never had are thrown away; none if that is not known.
        discarded: Option<u64>,
        /// Whose key of the lock is thrown away, if one is.
        discarded_key_of: Option<ContenderId>,
    } = {
        words: full_sync(machine, *primary, *discarded, discarded_key_of.map(name));
        short: "full sync",
        about: *discarded_key_of,
        loses_key_of: *discarded_key_of,
        changes_the_service: true,
        discards: discarded.is_some_and(|writes| writes > 0) || discarded_key_of.is_some(),
    }

    /// It goes on in the stream of its primary (a partial resynchronisation).
    PartialSync {
        /// The primary.
        primary: ServerId,
    } = {
        words: partial_sync(machine, *primary),
    }

    /// It has the lock's key of a contender.
    KeySet {
        /// Whose.
        of: ContenderId,
        /// How it came by it.
        by: KeySource,
        /// The servers that have it now.
        holders: KeyHolders,
    } = {
        words: key_set(machine, &name(*of), *by, holders),
        about: Some(*of),
    }

    /// It has the lock's key of a contender no longer.
    KeyGone {
        /// Whose.
        of: ContenderId,
        /// The reason.
        why: KeyLoss,
        /// The contender that has deleted it or put another in its place, if one has.
        by: Option<ContenderId>,
        /// The servers that have it still.
        holders: KeyHolders,
    } = {
        words: key_gone(machine, &name(*of), &why.describe(by.map(name)), holders);
        short: format!("{}'s key is gone", name(*of)),
        about: Some(*of),
    }

    /// A client subscribes to a channel at it.
    Subscribed {
        /// Which contender.
        by: ContenderId,
        /// The channel.
        channel: String,
    } = {
        words: format!("{} subscribes to {channel} at {machine}", name(*by));
        short: format!("{} subscribes", name(*by)),
        about: Some(*by),
    }

    /// A message is published to a channel at it.
    Published {
        /// Which contender has; none if it is the server itself, or another server has sent it.
        by: Option<ContenderId>,
        /// The channel.
        channel: String,
        /// The contenders that are subscribed there.
        to: Vec<ContenderId>,
    } = {
        words: published((machine, channel), by.map(name), to.iter().map(|to| name(*to)));
        short: "publishes",
        about: by.or(to.first().copied()),
    }

    /// A message of a channel never came to a subscriber.
    MessageLost {
        /// Which contender.
        to: ContenderId,
        /// The channel.
        channel: String,
        /// The reason.
        why: MessageLoss,
    } = {
        words: message_lost(channel, &name(*to), *why);
        short: format!("message to {} lost", name(*to)),
        about: Some(*to),
        bad: true,
    }

    /// A Sentinel writes a line into its log.
    SentinelLog {
        /// The event, as Sentinel names it: `+odown`.
        event: String,
        /// The line, with the event.
        line: String,
    } = {
        words: format!("{machine}: {line}");
        short: event.as_str(),
        changes_the_service: ["+odown", "+switch-master", "+failover-end"].contains(&event.as_str()),
    }

    /// A node of a cluster finds that a majority has given up on another: `FAIL`.
    NodeFailed {
        /// On which.
        node: ServerId,
    } = {
        words: format!("{machine} marks {} as FAIL", server(*node));
        short: format!("FAIL {}", server(*node)),
        changes_the_service: true,
        bad: true,
    }

    /// A node of a cluster takes that back.
    NodeReachable {
        /// Of which.
        node: ServerId,
    } = {
        words: format!("{machine} clears FAIL of {}", server(*node)),
    }
}

#[cfg(test)]
mod tests;
