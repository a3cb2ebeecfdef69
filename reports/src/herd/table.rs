//! The measurements as tables that fit a terminal.

use super::HerdRow;
use crate::columns::{self, aligned};
use crate::style::Style;
use crate::words::{decimal, duration, thousands};

/// A column, and what it shows of a measurement.
pub(super) type Column = columns::Column<HerdRow>;

pub(super) const WHICH: &[Column] = &[
    ("algorithm", HerdRow::title),
    ("contenders", |row| thousands(row.contenders)),
];

/// The tables, each with its title. All columns at once would be too wide to read.
pub(super) const TABLES: &[(&str, &[Column])] = &[
    (
        "Notifications from the first release on",
        &[
            ("hold", |row| row.hold.clone()),
            ("servers", |row| thousands(row.servers)),
            ("notifications", |row| thousands(row.notifications)),
            ("formula", |row| maybe(row.formula.map(thousands))),
        ],
    ),
    (
        "Who was notified, and how many woke up",
        &[
            ("to waiters", |row| thousands(row.to_waiters)),
            ("to the releaser", |row| thousands(row.to_releaser)),
            ("on arrival", |row| thousands(row.arriving)),
            ("wake-ups", |row| thousands(row.wakeups)),
            ("wasted", |row| thousands(row.wasted_wakeups)),
        ],
    ),
    (
        "What a hand-over costs, and how long it takes",
        &[
            ("requests", |row| decimal(row.requests_per_handover, 1)),
            ("bytes", |row| decimal(row.bytes_per_handover, 0)),
            ("median", |row| duration(row.handover_p50)),
            ("p99", |row| duration(row.handover_p99)),
            ("longest", |row| duration(row.handover_max)),
            ("measured in", |row| {
                maybe(row.took_seconds.map(|took| decimal(took, 2) + " s"))
            }),
        ],
    ),
    (
        "Time of a bystander's read, and of an idle one: while no contender wants the lock",
        &[
            ("median", |row| duration(row.bystander_p50)),
            ("p99", |row| duration(row.bystander_p99)),
            ("longest", |row| duration(row.bystander_max)),
            ("idle median", |row| duration(row.bystander_idle_p50)),
            ("idle p99", |row| duration(row.bystander_idle_p99)),
            ("idle longest", |row| duration(row.bystander_idle_max)),
        ],
    ),
];

/// The measurements as tables for a terminal.
pub fn table(rows: &[HerdRow], style: &Style) -> String {
    if rows.is_empty() {
        return "  nothing was measured\n".to_owned();
    }
    let tables = TABLES.iter().map(|(title, columns)| {
        let columns: Vec<Column> = WHICH.iter().chain(*columns).copied().collect();
        format!("{title}\n{}", aligned(rows, &columns, style))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn maybe(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
