//! Locks beside each other, and what documents claim of them: for a terminal, as Markdown, as HTML, and as JSON.

#[cfg(feature = "charts")]
mod chart;
mod tables;

use serde::{Deserialize, Serialize};

#[cfg(feature = "charts")]
pub use chart::{CHART, figure};
pub use tables::{html, markdown, text};

use crate::cost::CostRow;
use crate::json;

/// The version of the schema of [`json()`](fn@json).
pub const VERSION: u32 = 1;

/// The comparison, with what is needed to read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock.
    pub picklock: String,
    /// The unit of all virtual times: `us`.
    pub unit_of_time: String,
    /// How many runs each lock had under each class of faults.
    pub seeds: u64,
    /// The locks.
    pub locks: Vec<ComparedLock>,
    /// What documents claim.
    pub claims: Vec<ComparedClaim>,
}

/// What was measured of a lock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedLock {
    /// The service that it stands on.
    pub family: String,
    /// The algorithm.
    pub algorithm: String,
    /// Lines of code of the recipe's own file; none, if it is a variant of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// How many kinds of requests it makes.
    pub kinds_of_requests: u64,
    /// What it costs alone, and with one that waits; none, if that is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<CostRow>,
    /// What it costs when many want it at once.
    pub crowds: Vec<ComparedCrowd>,
    /// The promises that it broke, in the order of the classes of faults.
    pub broken: Vec<BrokenPromise>,
}

/// What a lock costs when many want it at once. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCrowd {
    /// How many contenders come.
    pub contenders: u32,
    /// How many of them got the lock.
    pub served: u32,
    /// Requests that servers get for each hand-over.
    pub requests_per_handover: f64,
    /// Notifications that servers send for each release.
    pub notifications_per_release: f64,
    /// From the call of a release until the next contender has the lock, median.
    pub handover_p50: u64,
    /// From the call of an acquire until it returns, median.
    pub waiting_p50: u64,
    /// The same, the longest.
    pub waiting_max: u64,
}

/// A promise that runs of a lock broke under faults of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenPromise {
    /// The class of the faults.
    pub class: String,
    /// The invariant.
    pub invariant: String,
    /// In a word of the matrix.
    pub word: String,
    /// Whether no lock keeps it under the faults that were drawn.
    pub excused: bool,
    /// In so many runs.
    pub runs: u64,
}

/// What a document claims, beside what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedClaim {
    /// The claim.
    pub claim: String,
    /// Where it stands.
    pub source: String,
    /// `right`, `wrong`, or `it depends`.
    pub verdict: String,
    /// What was measured.
    pub because: String,
}

/// The comparison as versioned JSON, ended by a line break.
///
/// ```json
/// { "version": 1, "picklock": "0.1.0", "unit_of_time": "us", "seeds": 40, "locks": [], "claims": [] }
/// ```
pub fn json(comparison: &Comparison) -> String {
    json::to_text(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn comparison() -> Comparison {
        let broken = |class: &str, word: &str, excused| BrokenPromise {
            class: class.to_owned(),
            invariant: "no-stale-effect".to_owned(),
            word: word.to_owned(),
            excused,
            runs: 3,
        };
        let crowd = |served| ComparedCrowd {
            contenders: 10,
            served,
            requests_per_handover: 4.25,
            ..ComparedCrowd::default()
        };
        Comparison {
            version: VERSION,
            picklock: "0.1.0".to_owned(),
            unit_of_time: "us".to_owned(),
            seeds: 40,
            locks: vec![ComparedLock {
                family: "redis".to_owned(),
                algorithm: "redlock".to_owned(),
                lines: Some(77),
                kinds_of_requests: 2,
                alone: None,
                crowds: vec![crowd(10), crowd(9)],
                broken: vec![
                    broken("pause", "stale", false),
                    broken("pause", "lost", true),
                    broken("clock", "overlap", false),
                ],
            }],
            claims: vec![ComparedClaim {
                claim: "A & B.".to_owned(),
                source: "articles".to_owned(),
                verdict: "wrong".to_owned(),
                because: "it is not so".to_owned(),
            }],
        }
    }

    #[test]
    fn text_markdown_and_html_say_the_same() {
        let comparison = comparison();
        let cells = [
            "redlock",
            "77",
            "4.2",
            "stale, (lost)",
            "wrong",
            "it is not so",
        ];
        for shown in [
            text(&comparison, 100, &Style::PLAIN),
            markdown(&comparison),
            html(&comparison),
        ] {
            assert!(cells.iter().all(|cell| shown.contains(cell)), "{shown}");
            // One of the hundred waits for ever: its crowd has no figures.
            assert_eq!(shown.matches("4.2").count(), 2, "{shown}");
        }
        assert!(html(&comparison).contains("A &amp; B."));
    }
}
