//! What a lock costs while nothing breaks: a table for a terminal, Markdown, and JSON.

use serde::{Deserialize, Serialize};

use crate::columns::{Column, aligned};
use crate::json;
use crate::style::Style;
use crate::words::decimal;

/// The version of the schema of [`json()`](fn@json).
pub const VERSION: u32 = 1;

/// What an algorithm costs. A round trip between a client and a server takes a millisecond of virtual time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostRow {
    /// The algorithm.
    pub algorithm: String,
    /// Requests of an acquire while no other contender has the lock or waits.
    pub acquire_requests: u64,
    /// Round trips of it, one after the other.
    pub acquire_round_trips: f64,
    /// Requests of the release after that.
    pub release_requests: u64,
    /// Round trips of it, one after the other.
    pub release_round_trips: f64,
    /// From the call of a release until the only waiter has the lock, median, in microseconds.
    pub handover_p50: u64,
    /// The same, the longest.
    pub handover_max: u64,
    /// Requests per second of one who waits, signs of life apart.
    pub waiting_requests_per_second: f64,
}

const COLUMNS: &[Column<CostRow>] = &[
    ("algorithm", |row| row.algorithm.clone()),
    ("acquire", |row| {
        call(row.acquire_requests, row.acquire_round_trips)
    }),
    ("release", |row| {
        call(row.release_requests, row.release_round_trips)
    }),
    ("hand-over, median", |row| round_trips(row.handover_p50)),
    ("hand-over, longest", |row| round_trips(row.handover_max)),
    ("requests/s of a waiter", |row| {
        rate(row.waiting_requests_per_second)
    }),
];

/// A definition a line, so that a narrow terminal breaks it where it may.
const LEGEND: &str = "\
acquire, release: `2 in 1.0` is 2 requests in 1.0 round trips, while no other contender is there.
hand-over: round trips from the call of a release until the only waiter has the lock.
A round trip takes 1 ms, servers take no time, and keep-alives do not count.
";

/// Requests, and in how many round trips.
pub(crate) fn call(requests: u64, trips: f64) -> String {
    format!("{requests} in {}", decimal(trips, 1))
}

/// A time in round trips of a millisecond.
fn round_trips(micros: u64) -> String {
    decimal(micros as f64 / 1_000.0, 1)
}

/// Requests per second.
fn rate(per_second: f64) -> String {
    match per_second {
        0.0 => "none".to_owned(),
        _ => decimal(per_second, 1),
    }
}

/// The rows as a table for a terminal, and what its columns say.
pub fn table(rows: &[CostRow], style: &Style) -> String {
    format!("{}\n{LEGEND}", aligned(rows, COLUMNS, style))
}

/// The rows as a table of Markdown.
pub fn markdown(rows: &[CostRow]) -> String {
    const HEAD: &str = "\
| algorithm | acquire | release | hand-over, median | hand-over, longest | requests per second while it waits |
|---|---|---|---|---|---|
";
    let row = |row: &CostRow| {
        let cells = COLUMNS.iter().skip(1).map(|(_, cell)| cell(row));
        let cells: Vec<String> = cells.collect();
        format!("| `{}` | {} |\n", row.algorithm, cells.join(" | "))
    };
    let rows = rows.iter().map(row);
    format!("{HEAD}{}", rows.collect::<String>())
}

/// The rows as versioned JSON, ended by a line break. `picklock` is the version of the program.
///
/// ```json
/// { "version": 1, "picklock": "0.1.0", "unit_of_time": "us", "rows": [{ "algorithm": "…" }] }
/// ```
/// The keys of a row are the fields of [`CostRow`].
pub fn json(rows: &[CostRow], picklock: &str) -> String {
    json::to_text(&CostResults {
        version: VERSION,
        picklock: picklock.to_owned(),
        unit_of_time: "us".to_owned(),
        rows: rows.to_vec(),
    })
}

/// The rows with what is needed to read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostResults {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock.
    pub picklock: String,
    /// The unit of all virtual times: `us`.
    pub unit_of_time: String,
    /// The measurements.
    pub rows: Vec<CostRow>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<CostRow> {
        vec![CostRow {
            algorithm: "redlock".to_owned(),
            acquire_requests: 5,
            acquire_round_trips: 1.0,
            release_requests: 5,
            release_round_trips: 1.04,
            handover_p50: 21_400,
            handover_max: 40_000,
            waiting_requests_per_second: 0.0,
        }]
    }

    #[test]
    fn the_tables_say_the_same() {
        let text = table(&rows(), &Style::PLAIN);
        let cells = ["redlock", "5 in 1.0", "21.4", "40.0", "none"];
        assert!(cells.iter().all(|cell| text.contains(cell)), "{text}");
        let markdown = markdown(&rows());
        let expected = "| `redlock` | 5 in 1.0 | 5 in 1.0 | 21.4 | 40.0 | none |\n";
        assert!(markdown.ends_with(expected), "{markdown}");
    }
}
