//! The results for machines: a versioned schema that only ever gains keys within a version.
//!
//! ```json
//! {
//!   "version": 1,
//!   "picklock": "0.1.0",
//!   "cases": [
//!     {
//!       "scenario": "zookeeper/waiter-death",
//!       "case": "zk-no-recheck",
//!       "algorithm": "zk-no-recheck",
//!       "as_expected": false,
//!       "seeds": 1000,
//!       "ran": [{ "from": 0, "to": 1000, "step": 1 }],
//!       "violations": [{ "invariant": "mutual-exclusion", "seed": 4127, "seeds": 41 }],
//!       "hash": "00c0ffee00c0ffee",
//!       "standing": "fail",
//!       "undecided": {},
//!       "reached": { "two-wait": 1000 },
//!       "nearest": { "between-holds": { "micros": 4981, "seed": 412 } },
//!       "findings": [
//!         { "name": "mutual-exclusion", "standing": "fail", "line": "…", "can_tell": 1000 }
//!       ],
//!       "metrics": {}
//!     }
//!   ]
//! }
//! ```
//! There are no times in it: the same seeds of the same version give the same bytes.

use std::collections::BTreeMap;

use picklock_checker::outcome::{
    CaseOutcome, Finding, Nearest, ScenarioOutcome, SeedRange, Standing,
};
use serde::{Deserialize, Serialize};

/// The version of the schema.
pub const VERSION: u32 = 1;

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Results {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock, which a seed travels with.
    pub picklock: String,
    /// The cases of all scenarios, in the order in which they ran.
    pub cases: Vec<CaseResult>,
}

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseResult {
    /// The scenario's name.
    pub scenario: String,
    /// The case's name.
    pub case: String,
    /// The algorithm's name.
    pub algorithm: String,
    /// Whether everything came as the scenario expects it. An undecided case did not.
    pub as_expected: bool,
    /// How many seeds ran.
    pub seeds: u64,
    /// How many its file takes at most, if more were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds_at_most: Option<u64>,
    /// Which these were.
    pub ran: Vec<SeedRange>,
    /// The first violation of each invariant, expected or not.
    pub violations: Vec<FirstViolation>,
    /// The first run that broke off, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<FirstBroken>,
    /// The hash over the histories of all seeds, whatever their order, as 16 hexadecimal digits.
    pub hash: String,
    /// How the case stands.
    pub standing: Standing,
    /// The reasons for undecided runs, each with how many seeds gave it.
    pub undecided: BTreeMap<String, u64>,
    /// The moments that seeds came through, each with how many did.
    #[serde(default)]
    pub reached: BTreeMap<String, u64>,
    /// How near the seeds came to an overlap, by distance: the least, and the lowest seed that has it.
    #[serde(default)]
    pub nearest: BTreeMap<String, Nearest>,
    /// What the scenario expects, and what came of it.
    pub findings: Vec<Finding>,
    /// Metrics over all seeds, by name; null where there is no number.
    pub metrics: BTreeMap<String, Option<f64>>,
}

/// The first violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstViolation {
    /// The invariant.
    pub invariant: String,
    /// The lowest seed that violates it.
    pub seed: u64,
    /// How many of the seeds that ran violate it.
    #[serde(default)]
    pub seeds: u64,
}

/// The first run that broke off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstBroken {
    /// The lowest seed whose run broke off.
    pub seed: u64,
    /// How many of the seeds that ran did.
    pub seeds: u64,
    /// Why the first did, in a line for people.
    pub why: String,
    /// Where in the source it panicked, if it did.
    pub place: Option<String>,
}

/// The results as JSON, ended by a line break. `picklock` is the version of the program.
pub fn results(outcomes: &[ScenarioOutcome], picklock: &str) -> String {
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let results = Results {
        version: VERSION,
        picklock: picklock.to_owned(),
        cases: cases.map(case_result).collect(),
    };
    to_text(&results)
}

fn case_result(case: &CaseOutcome) -> CaseResult {
    let first = |violation: &picklock_checker::outcome::Violation| FirstViolation {
        invariant: violation.invariant.clone(),
        seed: violation.seed,
        seeds: violation.seeds,
    };
    let finite =
        |(name, &value): (&String, &f64)| (name.clone(), value.is_finite().then_some(value));
    CaseResult {
        scenario: case.scenario.clone(),
        case: case.case.clone(),
        algorithm: case.algorithm.clone(),
        as_expected: matches!(case.standing, Standing::Holds | Standing::AsExpected),
        seeds: case.seeds,
        seeds_at_most: case.seeds_at_most,
        ran: case.ran.clone(),
        violations: case.violations.iter().map(first).collect(),
        broken: case.broken.as_ref().map(|broken| FirstBroken {
            seed: broken.seed,
            seeds: broken.seeds,
            why: broken.why.to_string(),
            place: broken.why.place.clone(),
        }),
        hash: format!("{:016x}", case.hash),
        standing: case.standing,
        undecided: case.undecided.clone(),
        reached: case.reached.clone(),
        nearest: case.nearest.clone(),
        findings: case.findings.clone(),
        metrics: case.metrics.iter().map(finite).collect(),
    }
}

/// JSON, indented, ended by a line break.
pub(crate) fn to_text(value: &impl Serialize) -> String {
    // Structs with text keys and numbers that are not NaN cannot fail to become JSON.
    let text = serde_json::to_string_pretty(value).expect("results have only text for keys");
    text + "\n"
}
