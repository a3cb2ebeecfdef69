//! Settings of one contender.

use std::time::Duration;

use super::key::Holds;
use super::setting_type::{SettingType, words};
use super::settings::settings;
use super::{Hold, LockName, Rate, Value};

settings! {
    /// Settings of one contender; `None` means the workload's.
    #[derive(Clone, Debug, PartialEq)]
    ContenderSettings {
        hold: Option<Hold> = "hold" {
            default: None,
            means: "How long its sections last, as in `[workload]`.",
        }

        rounds: Option<u32> = "rounds" {
            holds: Holds::WholeOrRange(1, 1_000_000),
            default: None,
            means: "How often it wants the lock.",
        }

        arrive_after: Option<Duration> = "arrive-after" {
            default: None,
            means: "How long after the start of the run it comes for the first time, at the earliest.",
        }

        reaper_interval: Option<Duration> = "reaper-interval" {
            default: None,
            means: "It wants no lock, and runs the reaper of its recipe, each time that so long has passed: see \
                    [reapers](scenarios.md#reapers).",
        }

        releases_for_others: bool = "releases-for-others" {
            default: false,
            written: IfAnother,
            means: "`true`: it wants no lock. Each of the others sends it the owner of what it holds when its section \
                    is done, and this one gives that back: see [restored locks](scenarios.md#restored-locks).",
        }

        reads: Option<Reads> = "reads" {
            default: None,
            means: "In how many of its rounds it takes the lock to read.",
        }

        conversion: Option<Conversion> = "conversion" {
            default: None,
            means: "`downgrade`: when it has written, it takes the lock to read, gives back the write, and reads. \
                    `upgrade`: when it has read, it asks for the write and keeps its read, see \
                    [conversions](scenarios.md#conversions).",
        }

        permits_per_acquire: Option<u32> = "permits-per-acquire" {
            holds: Holds::Whole(1, 1_000),
            default: None,
            means: "How many permits it takes by one call.",
        }

        think: Option<(Duration, Duration)> = "think" {
            holds: Holds::OneOrList(&Holds::Range),
            default: None,
            means: "A range: time between its release and its next acquire.",
        }

        processing: Option<(Duration, Duration)> = "processing" {
            holds: Holds::OneOrList(&Holds::Range),
            default: None,
            means: "A range: time that passes between what arrives and what it does about it.",
        }

        acquire_timeout: Option<Duration> = "acquire-timeout" {
            holds: Holds::DurationOrRange,
            default: None,
            means: "How long it waits before it gives up.",
        }

        latency: Option<(Duration, Duration)> = "latency" {
            holds: Holds::OneOrList(&Holds::Range),
            default: None,
            means: "A range: one way between it and any server, or the resource.",
        }

        clock_offset_millis: i64 = "clock-offset" {
            default: 0,
            written: IfAnother,
            means: "By how much its wall clock is ahead from the start, behind if negative: `\"-5s\"`.",
        }
    }
    and {
        /// The locks that it takes, one in each round, in turn. Empty: all that there are.
        locks: Vec<LockName>,
    }
}

/// How a holder of a read-write lock changes the mode in which it holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// When it has written, it takes the lock to read, gives back the write, and reads.
    Downgrade,
    /// When it has read, it takes the lock to write, as long as it reads.
    Upgrade,
}

impl Conversion {
    /// All, by name.
    pub const ALL: [(&str, Self); 2] = [("downgrade", Self::Downgrade), ("upgrade", Self::Upgrade)];
}

words! {
    Conversion: "conversion",
}

/// How often a contender takes the lock to read: in shared mode, with others that read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// It always writes.
    #[default]
    Never,
    /// In so many of its rounds, each by chance.
    Share(Rate),
    /// It never writes.
    Always,
}

impl SettingType for Reads {
    const HOLDS: Holds = Holds::Reads;

    fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Never => Value::Named("never", None),
            Self::Share(rate) => Value::Rate(*rate),
            Self::Always => Value::Named("always", None),
        })
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Named("never", None) => Some(Self::Never),
            Value::Rate(rate) => Some(Self::Share(rate)),
            Value::Named("always", None) => Some(Self::Always),
            _ => None,
        }
    }
}
