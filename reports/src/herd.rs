//! What a release costs, and who gets hurt: tables, JSON, and charts of the herd effect.

#[cfg(feature = "charts")]
pub mod chart;
#[cfg(feature = "charts")]
mod page;
mod table;

use serde::{Deserialize, Serialize};

use crate::json;
#[cfg(feature = "charts")]
pub use page::page;
pub use table::table;

/// The version of the schema of [`json()`](fn@json).
pub const VERSION: u32 = 1;

/// What was measured of one algorithm with so many contenders. Times are in microseconds of virtual
/// time, except `took_seconds`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HerdRow {
    /// The algorithm.
    pub algorithm: String,
    /// How they took it, if not each by itself: `readers`, `4 permits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How many contenders wanted the lock.
    pub contenders: u64,
    /// How long each of them held it: a duration as in `30ms`, or `settled` for until everybody else waits again.
    pub hold: String,
    /// How many servers there were.
    pub servers: u64,
    /// Notifications that servers sent from the first release on.
    pub notifications: u64,
    /// Of these, those to contenders that waited.
    pub to_waiters: u64,
    /// Of these, those to the contender whose departure caused them.
    pub to_releaser: u64,
    /// Notifications that servers sent while contenders were still arriving.
    pub arriving: u64,
    /// Wake-ups after which a waiter had to wait again.
    pub wasted_wakeups: u64,
    /// Wake-ups of waiters.
    pub wakeups: u64,
    /// Requests per hand-over that reached servers.
    pub requests_per_handover: f64,
    /// Bytes per hand-over to and from clients.
    pub bytes_per_handover: f64,
    /// From a release until the next contender has the lock, median.
    pub handover_p50: u64,
    /// The same, 99th percentile.
    pub handover_p99: u64,
    /// The same, the longest.
    pub handover_max: u64,
    /// The time of a read by a client that has nothing to do with the lock, median.
    pub bystander_p50: u64,
    /// The same, 99th percentile.
    pub bystander_p99: u64,
    /// The same, the longest.
    pub bystander_max: u64,
    /// The time of such a read before anybody wanted the lock, median.
    pub bystander_idle_p50: u64,
    /// The same, 99th percentile.
    pub bystander_idle_p99: u64,
    /// The same, the longest.
    pub bystander_idle_max: u64,
    /// What the formula of the algorithm gives for `notifications`, if there is one.
    pub formula: Option<u64>,
    /// Real time that the measurement took; None leaves it out, so that results can be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_seconds: Option<f64>,
}

impl HerdRow {
    /// The algorithm, and how it was taken.
    pub(crate) fn title(&self) -> String {
        match &self.mode {
            Some(mode) => format!("{}, {mode}", self.algorithm),
            None => self.algorithm.clone(),
        }
    }
}

/// The rows as versioned JSON, ended by a line break. `picklock` is the version of the program.
///
/// ```json
/// { "version": 1, "picklock": "0.1.0", "unit_of_time": "us", "rows": [{ "algorithm": "…" }] }
/// ```
/// The keys of a row are the fields of [`HerdRow`].
pub fn json(rows: &[HerdRow], undrained: &[Undrained], picklock: &str) -> String {
    json::to_text(&HerdResults {
        version: VERSION,
        picklock: picklock.to_owned(),
        unit_of_time: "us".to_owned(),
        rows: rows.to_vec(),
        undrained: undrained.to_vec(),
    })
}

/// The rows with what is needed to read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HerdResults {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock.
    pub picklock: String,
    /// The unit of all virtual times: `us`.
    pub unit_of_time: String,
    /// The measurements.
    pub rows: Vec<HerdRow>,
    /// Queues that never drained, of which there is nothing to measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undrained: Vec<Undrained>,
}

/// A queue that never drained, because no contender could list it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undrained {
    /// The recipe.
    pub algorithm: String,
    /// How many contenders there were.
    pub contenders: u64,
    /// The promise that is broken: `progress`.
    pub violated: String,
    /// How many children the list had.
    pub children: u64,
    /// The limit that it does not fit into: `jute.maxbuffer`, in bytes.
    pub jute_max_buffer: u64,
    /// The same in words.
    pub because: String,
}
