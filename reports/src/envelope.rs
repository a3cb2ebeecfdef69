//! How often a pause lets a second holder in: a table for a terminal, Markdown, JSON, and a chart.

#[cfg(feature = "charts")]
mod chart;

use serde::{Deserialize, Serialize};

use crate::columns::{Column, aligned};
use crate::json;
use crate::style::Style;
use crate::words::{decimal, duration, thousands};

#[cfg(feature = "charts")]
pub use chart::Chart;

/// The version of the schema of [`json()`](fn@json).
pub const VERSION: u32 = 1;

/// A point of an envelope, and what its runs have shown. Times are in microseconds of virtual time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnvelopeRow {
    /// The algorithm.
    pub algorithm: String,
    /// How long the lock stays with a holder that gives no sign of life.
    pub lease: u64,
    /// How long the holder's work takes.
    pub work: u64,
    /// How long the holder's process stands still on average.
    pub pause: u64,
    /// By how many parts per million the holder's clocks run fast or slow at most.
    pub drift: u32,
    /// A round trip.
    pub latency: u64,
    /// The runs.
    pub runs: u64,
    /// Two contenders believe at once that they hold the lock.
    pub overlap: Probability,
    /// The resource accepts a write of a holder after one of its successor.
    pub stale_write: Probability,
}

/// How often something happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Probability {
    /// The part of the runs in which it happened.
    pub estimate: f64,
    /// Where the interval of 95 % confidence begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The probability in closed form, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_form: Option<f64>,
}

/// What tells a point from others; the first two are shown even if they are the same everywhere.
const POINT: &[Column<EnvelopeRow>] = &[
    ("lease", |row| duration(row.lease)),
    ("pause", |row| duration(row.pause)),
    ("algorithm", |row| row.algorithm.clone()),
    ("work", |row| duration(row.work)),
    ("drift", |row| {
        format!("{} ppm", thousands(row.drift.into()))
    }),
    ("latency", |row| duration(row.latency)),
];

const FIGURES: &[Column<EnvelopeRow>] = &[
    ("runs", |row| thousands(row.runs)),
    ("overlap", |row| with_interval(&row.overlap)),
    ("exactly", |row| exactly(&row.overlap)),
    ("stale write", |row| with_interval(&row.stale_write)),
    ("exactly", |row| exactly(&row.stale_write)),
];

/// The columns of these rows, and what all of them have in common: `work 1.00 s, drift 0 ppm`.
fn columns(rows: &[EnvelopeRow]) -> (Vec<Column<EnvelopeRow>>, String) {
    let (lease_and_pause, others) = POINT.split_at(2);
    let is_common = |column: &&Column<EnvelopeRow>| {
        rows.windows(2)
            .all(|pair| (column.1)(&pair[0]) == (column.1)(&pair[1]))
    };
    let (common, different): (Vec<_>, Vec<_>) = others.iter().partition(is_common);
    let columns = different.into_iter().chain(lease_and_pause).chain(FIGURES);
    let common = common.into_iter().filter_map(|(name, cell)| {
        let value = cell(rows.first()?);
        Some(match *name {
            "algorithm" => value,
            name => format!("{name} {value}"),
        })
    });
    (
        columns.copied().collect(),
        common.collect::<Vec<_>>().join(", "),
    )
}

/// A definition a line, so that a narrow terminal breaks it where it may.
const LEGEND: &str = "\
In each run the holder's process stands still once, at a random moment of its work, for a random time
of this average, while another contender waits.
overlap: both believe that they hold the lock.
stale write: a resource that checks no token accepts a write of the first after one of the second.
In brackets: the interval of 95 % confidence.
exactly: the probability of the column before it in closed form, where there is one.
To have a probability per section, multiply it by how often a section is paused.
";

fn percent(share: f64) -> String {
    decimal(share * 100.0, 2)
}

/// `12.30 % [11.90, 12.71]`
fn with_interval(of: &Probability) -> String {
    let [estimate, low, high] = [of.estimate, of.low, of.high].map(percent);
    format!("{estimate} % [{low}, {high}]")
}

fn exactly(of: &Probability) -> String {
    of.closed_form
        .map_or_else(|| "-".to_owned(), |known| format!("{} %", percent(known)))
}

/// The rows as a table for a terminal, and what its columns say.
pub fn table(rows: &[EnvelopeRow], style: &Style) -> String {
    let (columns, common) = columns(rows);
    format!("{common}\n{}\n{LEGEND}", aligned(rows, &columns, style))
}

/// The rows as a table of Markdown.
pub fn markdown(rows: &[EnvelopeRow]) -> String {
    let (columns, common) = columns(rows);
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    let rule = "---|".repeat(columns.len());
    let rows = rows.iter().map(|row| {
        let cells: Vec<String> = columns.iter().map(|(_, cell)| cell(row)).collect();
        format!("| {} |\n", cells.join(" | "))
    });
    let rows: String = rows.collect();
    format!("{common}\n\n| {} |\n|{rule}\n{rows}", heads.join(" | "))
}

/// The rows as versioned JSON, ended by a line break. `picklock` is the version of the program.
///
/// ```json
/// { "version": 1, "picklock": "0.1.0", "unit_of_time": "us", "rows": [{ "algorithm": "…" }] }
/// ```
/// The keys of a row are the fields of [`EnvelopeRow`].
pub fn json(rows: &[EnvelopeRow], picklock: &str) -> String {
    json::to_text(&EnvelopeResults {
        version: VERSION,
        picklock: picklock.to_owned(),
        unit_of_time: "us".to_owned(),
        rows: rows.to_vec(),
    })
}

/// The rows with what is needed to read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnvelopeResults {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock.
    pub picklock: String,
    /// The unit of all virtual times: `us`.
    pub unit_of_time: String,
    /// The points.
    pub rows: Vec<EnvelopeRow>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<EnvelopeRow> {
        vec![EnvelopeRow {
            algorithm: "redlock".to_owned(),
            lease: 10_000_000,
            work: 1_000_000,
            pause: 5_000_000,
            drift: 1_000,
            latency: 1_000,
            runs: 12_000,
            overlap: Probability {
                estimate: 0.123,
                low: 0.119,
                high: 0.127,
                closed_form: Some(0.1234),
            },
            stale_write: Probability::default(),
        }]
    }

    #[test]
    fn the_tables_say_the_same() {
        let cells = [
            "redlock",
            "1,000 ppm",
            "12,000",
            "12.30 % [11.90, 12.70]",
            "12.34 %",
            "0.00 % [0.00, 0.00]",
        ];
        for text in [table(&rows(), &Style::PLAIN), markdown(&rows())] {
            assert!(cells.iter().all(|cell| text.contains(cell)), "{text}");
        }
    }
}
