//! What becomes of the servers of a service.

use serde::{Deserialize, Serialize};

/// What becomes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServerChange {
    /// It leads the others, as they have elected it to.
    Elected,
    /// It was a replica, and is a primary from now on.
    Promoted,
    /// It was a primary, and follows another from now on: what only it had is thrown away.
    Demoted,
    /// It runs again after it had died, with what its disk has kept.
    Restarted,
}
