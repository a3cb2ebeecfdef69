//! The charts of an envelope: probabilities over the lease.

use super::{EnvelopeRow, Probability};
use crate::chart::{Axis, Figure, Form, Series, Ticks};
use crate::words::{decimal, duration, thousands};

/// What a chart shows, over the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    /// How often beliefs overlap.
    Overlap,
    /// How often a stale write is accepted.
    StaleWrite,
}

impl Chart {
    /// All, in the order in which they are best read.
    pub const ALL: [Self; 2] = [Self::Overlap, Self::StaleWrite];

    /// A short name, fit for a file: `overlap`, `stale-write`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlap => "overlap",
            Self::StaleWrite => "stale-write",
        }
    }

    fn of(self, row: &EnvelopeRow) -> Probability {
        match self {
            Self::Overlap => row.overlap,
            Self::StaleWrite => row.stale_write,
        }
    }

    /// The chart of these points.
    pub fn figure(self, rows: &[EnvelopeRow]) -> Figure {
        let what = match self {
            Self::Overlap => "two contenders believe that they hold the lock",
            Self::StaleWrite => "a stale write is accepted",
        };
        let mut caption = vec![
            "The holder's process stands still once in its work, for a random time of the given average.".to_owned(),
        ];
        if rows.iter().any(|row| self.of(row).closed_form.is_some()) {
            caption.push("Dashed: the probability in closed form.".to_owned());
        }
        Figure {
            name: self.name().to_owned(),
            title: format!("How often {what}"),
            caption,
            x: Axis {
                label: "lease (logarithmic)".to_owned(),
                log: true,
                ticks: Ticks::Measured,
                write: |micros| duration(micros.round() as u64),
            },
            y: Axis {
                label: "probability".to_owned(),
                log: false,
                ticks: Ticks::Round,
                write: |percent| format!("{} %", decimal(percent, 0)),
            },
            series: self.series(rows),
            form: Form::Lines,
        }
    }

    fn series(self, rows: &[EnvelopeRow]) -> Vec<Series> {
        let mut lines: Vec<Series> = Vec::new();
        for row in rows {
            let name = name(row, rows);
            let place = lines.iter().position(|line| line.name == name);
            let place = place.unwrap_or_else(|| {
                lines.push(Series {
                    name,
                    ..Series::default()
                });
                lines.len() - 1
            });
            let Probability {
                estimate,
                closed_form,
                ..
            } = self.of(row);
            let lease = row.lease as f64;
            lines[place].points.push((lease, estimate * 100.0));
            let known = closed_form.map(|known| (lease, known * 100.0));
            lines[place].reference.extend(known);
        }
        lines
    }
}

/// What tells a line from the others.
fn name(row: &EnvelopeRow, rows: &[EnvelopeRow]) -> String {
    let differs = |of: fn(&EnvelopeRow) -> u64| rows.iter().any(|other| of(other) != of(row));
    let mut words = Vec::new();
    if rows.iter().any(|other| other.algorithm != row.algorithm) {
        words.push(row.algorithm.clone());
    }
    words.push(format!("pause {}", duration(row.pause)));
    if differs(|row| row.drift.into()) {
        words.push(format!("drift {} ppm", thousands(row.drift.into())));
    }
    if differs(|row| row.latency) {
        words.push(format!("latency {}", duration(row.latency)));
    }
    words.join("\n")
}
