//! What a holder does that changes the mode in which it holds the lock.

use serde::{Deserialize, Serialize};

/// A step of a conversion: of a downgrade, from writing to reading, or of an upgrade, from reading to writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ConversionStep {
    /// It calls `acquire` in the other mode, and holds the lock as before meanwhile.
    Asks,
    /// That call has failed: it goes on holding the lock as before.
    Fails,
    /// From here on it holds the lock in that mode alone. Of a downgrade: that call has returned, and it is about to
    /// give back the write.
    Converts,
}
