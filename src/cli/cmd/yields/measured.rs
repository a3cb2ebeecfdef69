//! What `picklock yield --json` writes.

use schemars::JsonSchema;
use serde::Serialize;

/// The figures for machines; the schema only ever gains keys within a version.
#[derive(Serialize, JsonSchema)]
pub struct Measured {
    /// The version of this schema.
    pub(super) version: u32,
    /// The version of the program.
    pub(super) picklock: &'static str,
    /// From how many bases each search began.
    pub(super) bases: u64,
    /// After so many runs a search gave up.
    pub(super) limit: u64,
    /// One for each violation and way.
    pub(super) yields: Vec<YieldRow>,
}

/// How soon a violation is found in one way.
#[derive(Serialize, JsonSchema)]
pub struct YieldRow {
    /// The scenario.
    pub(super) scenario: String,
    /// The case.
    pub(super) case: String,
    /// The algorithm.
    pub(super) algorithm: &'static str,
    /// The promise that is to be violated.
    pub(super) invariant: &'static str,
    /// How it was searched for.
    pub(super) way: String,
    /// From how many of the bases it was found.
    pub(super) found: u64,
    /// After how many runs it was found from half of the bases; null if from too few.
    pub(super) median: Option<u64>,
    /// The same, from 99 of 100.
    #[serde(rename = "percentile-99")]
    pub(super) percentile_99: Option<u64>,
}
