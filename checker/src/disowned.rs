//! How ownerships end.

use serde::{Deserialize, Serialize};

use crate::ids::ContenderId;

/// How an ownership ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Disowned {
    /// Its owner gave it up.
    Released,
    /// The owner's session or lease ended.
    Expired,
    /// Another contender removed it.
    RemovedBy(ContenderId),
    /// A contender put a hold of its own in its place: another one, or the owner itself.
    OverwrittenBy(ContenderId),
    /// A reaper removed what its owner had left when it died.
    Reaped,
    /// An operator or an eviction of the server removed it.
    RemovedFromOutside,
    /// The service lost it: the server that stored it died, lost its data, or was replaced by one that never had it.
    LostByService,
}
