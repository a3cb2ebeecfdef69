//! The kinds of charts that the herd experiment has.

use super::HerdRow;
use crate::words::{decimal, duration, thousands};

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
    pub(super) const fn axis(self) -> &'static str {
        match self {
            Self::Notifications => "notifications (log)",
            Self::Handover => "hand-over, 99th percentile (virtual time, log)",
            Self::Bystander => "read, 99th percentile (virtual time, log)",
            Self::Bytes => "bytes per hand-over (log)",
        }
    }

    /// The measurement that the chart shows.
    pub(super) fn value(self, row: &HerdRow) -> f64 {
        match self {
            Self::Notifications => row.notifications as f64,
            Self::Handover => row.handover_p99 as f64,
            Self::Bystander => row.bystander_p99 as f64,
            Self::Bytes => row.bytes_per_handover,
        }
    }

    /// What it is compared with, and what that is called.
    pub(super) fn reference(self, row: &HerdRow) -> Option<f64> {
        match self {
            Self::Notifications => row.formula.map(|formula| formula as f64),
            Self::Bystander => Some(row.bystander_idle_p99 as f64),
            Self::Handover | Self::Bytes => None,
        }
    }

    /// What the comparison is called in the legend.
    pub(super) const fn reference_name(self) -> &'static str {
        match self {
            Self::Notifications => "formula",
            Self::Bystander => "while nobody wants it",
            Self::Handover | Self::Bytes => "",
        }
    }

    /// A value of the upward axis, with its unit.
    pub(super) fn label(self, value: f64) -> String {
        match self {
            Self::Notifications | Self::Bytes if value >= 1.0 => thousands(value.round() as u64),
            Self::Notifications | Self::Bytes => decimal(value, 2),
            Self::Handover | Self::Bystander => tick(value),
        }
    }
}

/// A duration in microseconds without needless decimals, as ticks have them: `200 us` or
/// `5 ms`.
fn tick(micros: f64) -> String {
    let (number, unit) = match micros {
        ..1_000.0 => (micros, "us"),
        ..1_000_000.0 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    if number.fract() == 0.0 {
        format!("{} {unit}", thousands(number as u64))
    } else {
        duration(micros.round() as u64)
    }
}
