//! What a holder does that enters the lock again.

use serde::{Deserialize, Serialize};

/// A step of a further entry of a lock, which its holder takes inside the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryStep {
    /// It calls `acquire` again.
    Asks,
    /// That call has returned.
    Enters,
    /// It has given that entry back, and holds the lock by an earlier one.
    Leaves,
}
