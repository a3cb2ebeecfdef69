//! A list that no client could read.

use serde::{Deserialize, Serialize};

/// A list of children that is longer than clients read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ListTooLong {
    /// How many children there are.
    pub children: u64,
    /// `jute.maxbuffer`, in bytes.
    pub most: u64,
}
