//! The messages of the replication protocol.

use std::fmt;
use std::rc::Rc;

use picklock_clients::redis::Command;

use crate::databases::Dataset;
use crate::scripts::sha_of;

/// A link between a replica and its primary. The world names it, by the same name at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Its name, or its number.
    pub host: Rc<str>,
    /// Its port.
    pub port: u16,
}

/// Names a version of the data: all servers with the same name and offset have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicationId {
    /// By which server it was made.
    pub server: u32,
    /// How many it had made before.
    pub number: u32,
}

/// Forty hexadecimal digits.
impl fmt::Display for ReplicationId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("version {} of {}", self.number, self.server);
        write!(out, "{}", sha_of(text.as_bytes()))
    }
}

/// All keys of a server at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot(pub(crate) Rc<Dataset>);

/// Two are the same only if they are of the same moment of the same server.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A part of the stream from a primary to its replicas. A transaction is never torn apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPart {
    /// After how many bytes of the stream it begins.
    pub start: u64,
    /// And ends.
    pub end: u64,
    /// The commands, as replicas are to run them.
    pub commands: Vec<Command>,
}

/// What servers tell each other over a link, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerMessage {
    /// A replica wants to go on from an offset of a version, or a full copy if that cannot be (`PSYNC`).
    Sync {
        /// The version, if it has one.
        id: Option<ReplicationId>,
        /// The first byte that it has not.
        wanted: u64,
        /// Where the replica itself is, as it says.
        address: Option<Address>,
    },
    /// The replica can go on.
    Continue {
        /// The version has this name now.
        id: ReplicationId,
    },
    /// The replica has to take a full copy, and to throw away what it has.
    FullSync {
        /// The version.
        id: ReplicationId,
        /// Up to where it goes.
        offset: u64,
        /// The keys.
        snapshot: Snapshot,
    },
    /// A part of the stream.
    Stream(Rc<StreamPart>),
    /// A replica has the stream up to here (`REPLCONF ACK offset FACK synced`).
    Ack {
        /// How many bytes.
        offset: u64,
        /// How many of them are on its disk, if it keeps a log, and is of Redis 7.2 or newer.
        synced: Option<u64>,
    },
}
