//! The kinds of charts that the herd experiment has.

use super::HerdRow;
use crate::chart::{Axis, Figure, Form, Series, Ticks};
use crate::words::{count, decimal, duration, thousands};

/// What a chart shows, over the number of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Notifications from the first release on.
    Notifications,
    /// The 99th percentile of the time of a hand-over.
    Handover,
    /// The 99th percentile of the time of a bystander's read.
    Bystander,
    /// Bytes per hand-over.
    Bytes,
}

impl Chart {
    /// All charts, in the order in which they are best read.
    pub const ALL: [Self; 4] = [
        Self::Notifications,
        Self::Handover,
        Self::Bystander,
        Self::Bytes,
    ];

    /// A short name, fit for a file: `notifications`, `handover-p99`, `bystander-p99`, `bytes`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Notifications => "notifications",
            Self::Handover => "handover-p99",
            Self::Bystander => "bystander-p99",
            Self::Bytes => "bytes",
        }
    }

    /// What the chart says it shows.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Notifications => "Notifications to hand the lock to every contender once",
            Self::Handover => "Time from a release until the next contender has the lock",
            Self::Bystander => "Time of a read by a client that does not use the lock",
            Self::Bytes => "Bytes that a hand-over moves to and from clients",
        }
    }

    /// What is measured upwards.
    const fn axis(self) -> &'static str {
        match self {
            Self::Notifications => "notifications",
            Self::Handover => "99th percentile, virtual time",
            Self::Bystander => "99th percentile, virtual time",
            Self::Bytes => "bytes per hand-over",
        }
    }

    /// The measurement that the chart shows.
    fn value(self, row: &HerdRow) -> f64 {
        match self {
            Self::Notifications => row.notifications as f64,
            Self::Handover => row.handover_p99 as f64,
            Self::Bystander => row.bystander_p99 as f64,
            Self::Bytes => row.bytes_per_handover,
        }
    }

    /// What it is compared with, and what that is called.
    fn reference(self, row: &HerdRow) -> Option<f64> {
        match self {
            Self::Notifications => row.formula.map(|formula| formula as f64),
            Self::Bystander => Some(row.bystander_idle_p99 as f64),
            Self::Handover | Self::Bytes => None,
        }
    }

    /// What the comparison is.
    const fn reference_name(self) -> &'static str {
        match self {
            Self::Notifications => "Dashed: what the formula of the algorithm gives.",
            Self::Bystander => "Dashed: the same while no contender wants the lock.",
            Self::Handover | Self::Bytes => "",
        }
    }

    /// How a value of the upward axis is written.
    fn write(self) -> fn(f64) -> String {
        match self {
            Self::Notifications | Self::Bytes => |value| match value {
                1.0.. => thousands(value.round() as u64),
                _ => decimal(value, 2),
            },
            Self::Handover | Self::Bystander => tick,
        }
    }

    /// The chart of these measurements, with the parameters in words.
    pub fn figure(self, rows: &[HerdRow], parameters: &str) -> Figure {
        let mut lines = series(self, rows);
        let none = |one: &Series| one.points.is_empty();
        let missing: Vec<String> = lines
            .iter()
            .filter(|line| none(line))
            .map(|line| line.name.replace('\n', ", "))
            .collect();
        let compared = lines.iter().any(|one| !one.reference.is_empty());
        lines.retain(|one| !none(one));
        let mut caption = vec![parameters.to_owned()];
        if compared {
            caption.push(self.reference_name().to_owned());
        }
        if !missing.is_empty() && !lines.is_empty() {
            caption.push(format!("None at all: {}.", missing.join("; ")));
        }
        Figure {
            name: self.name().to_owned(),
            title: self.title().to_owned(),
            caption,
            x: Axis {
                label: "contenders (logarithmic)".to_owned(),
                log: true,
                ticks: Ticks::Measured,
                write: |value| thousands(value.round() as u64),
            },
            y: Axis {
                label: format!("{} (logarithmic)", self.axis()),
                log: true,
                ticks: Ticks::Round,
                write: self.write(),
            },
            series: lines,
            form: Form::Lines,
        }
    }
}

/// What all rows have in common, in words: servers, hold, and whatever else is given, such as the seed.
pub fn parameters(rows: &[HerdRow], others: &[String]) -> String {
    let mut words = Vec::new();
    if let Some(first) = rows.first() {
        if !differ(rows, |row| row.servers) {
            words.push(count(first.servers, "server"));
        }
        if !differ(rows, |row| row.hold.clone()) {
            words.push(match first.hold.as_str() {
                "settled" => "each holds the lock until all others wait".to_owned(),
                hold => format!("each holds the lock for {hold}"),
            });
        }
    }
    words.extend(others.iter().cloned());
    format!("{}.", words.join(", "))
}

fn differ<T: PartialEq>(rows: &[HerdRow], of: impl Fn(&HerdRow) -> T) -> bool {
    rows.iter().any(|row| of(row) != of(&rows[0]))
}

/// The rows as lines: one per algorithm, and per hold and number of servers if these differ.
fn series(chart: Chart, rows: &[HerdRow]) -> Vec<Series> {
    let holds = differ(rows, |row| row.hold.clone());
    let servers = differ(rows, |row| row.servers);
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let mut name = row.title();
        if holds {
            name.push_str(&format!("\nhold {}", row.hold));
        }
        if servers {
            name.push_str(&format!("\n{}", count(row.servers, "server")));
        }
        let index = all.iter().position(|one| one.name == name);
        let index = index.unwrap_or_else(|| {
            all.push(Series {
                name,
                ..Series::default()
            });
            all.len() - 1
        });
        let one = &mut all[index];
        let shown = |value: f64| value.is_finite() && value > 0.0 && row.contenders > 0;
        let value = chart.value(row);
        if shown(value) {
            one.points.push((row.contenders as f64, value));
        }
        if let Some(value) = chart.reference(row).filter(|&value| shown(value)) {
            one.reference.push((row.contenders as f64, value));
        }
    }
    for one in &mut all {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        one.reference.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

/// A duration in microseconds without needless decimals, as ticks have them: `200 us` or
/// `5 ms`.
pub fn tick(micros: f64) -> String {
    let (number, unit) = match micros {
        ..1_000.0 => (micros, "us"),
        ..1_000_000.0 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    if number.fract() == 0.0 {
        return format!("{} {unit}", thousands(number as u64));
    }
    let text = duration(micros.round() as u64);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}
