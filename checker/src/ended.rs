//! Why a run ends.

use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Every contender has finished.
    AllFinished,
    /// The calm has lasted as long as the bound on progress allows, and a contender still waits.
    BoundReached,
    /// The run was out of its budget of events before it could tell anything.
    OutOfBudget,
    /// Something was asked of the service that the simulated one does not do as the real one would.
    NotModelled,
    /// Code of a contender, or of picklock itself, panicked or would not come to an end.
    Broken,
}
