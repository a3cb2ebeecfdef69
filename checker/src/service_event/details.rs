//! Details of what a server did: how, by which client, with which data, and why.

use serde::{Deserialize, Serialize};

use crate::ids::ServerId;
use crate::time::VirtualTime;

/// How a ZooKeeper server takes over what its leader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum SyncMode {
    /// The transactions that it lacks.
    Diff,
    /// First it throws away what the leader never had.
    Trunc,
    /// All nodes.
    Snap,
}

/// What a server has when its process runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DataFound {
    /// Nothing: it keeps nothing on its disk.
    Nothing,
    /// All keys as they were when they were last saved.
    Rdb {
        /// When; the start of the run, if never.
        saved: VirtualTime,
        /// How many keys it loads.
        keys: u64,
        /// How many keys it does not load, or throws away at once: their time was over.
        #[serde(default)]
        expired: u64,
    },
    /// All writes up to a time.
    Aof {
        /// Which.
        up_to: VirtualTime,
        /// How many keys it loads.
        keys: u64,
        /// How many keys it does not load, or throws away at once: their time was over.
        #[serde(default)]
        expired: u64,
    },
    /// Its log and its snapshots.
    Log {
        /// Up to which zxid.
        up_to: u64,
    },
    /// All that it had.
    Everything,
}

/// By which decision a replica has become a primary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Promoter {
    /// An operator: a fault of the plan.
    Operator,
    /// A Sentinel that was elected to.
    Sentinel {
        /// Which.
        name: String,
        /// In which epoch.
        epoch: u64,
    },
    /// The primaries of its cluster have voted for it.
    Election {
        /// In which epoch.
        epoch: u64,
    },
    /// It was configured as one, and has started again.
    Configuration,
}

/// How a server came by the lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// A client has set it there.
    Client,
    /// Another server has sent it.
    Replication,
    /// It was there, and its clock has gone back behind the time at which it expires.
    Clock,
}

/// Why a server has the lock's key no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeyLoss {
    /// Its time was over.
    Expired,
    /// It was deleted.
    Deleted,
    /// It was overwritten by another.
    Overwritten,
    /// All keys were deleted.
    Flushed,
    /// It has gone to another node.
    Migrated,
    /// It was thrown away in a full resynchronisation.
    Resynchronised,
    /// It was not on the disk when the server started again.
    NotOnDisk,
    /// The primary has said so.
    Replicated,
}

/// Why a message of a channel never came to a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MessageLoss {
    /// It was lost on its way: a fault of the plan.
    OnItsWay,
    /// Its connection was gone.
    ConnectionGone,
}

/// Which servers have a contender's key of the lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyHolders {
    /// These, by their places.
    pub on: Vec<ServerId>,
    /// Of so many servers.
    pub of: u32,
}
