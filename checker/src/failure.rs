//! Why calls of a lock fail.

use serde::{Deserialize, Serialize};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The session is gone.
    SessionExpired,
    /// The connection broke; the request may have happened.
    ConnectionLoss,
    /// The contender's own place in the queue has disappeared.
    PlaceLost,
    /// The client does not know at the moment whether its session lives.
    Disconnected,
    /// The service said no.
    Refused,
    /// Time ran out.
    TimedOut,
    /// The contender's own lock object says that it is locked already.
    AlreadyHeld,
    /// The call said that it had been cancelled, but had not been.
    Cancelled,
    /// The answer came after the lease that it would have given had lapsed by the contender's own clock.
    LeaseLapsed,
}
