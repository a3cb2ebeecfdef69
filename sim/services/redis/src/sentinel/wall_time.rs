//! Times by the wall clock of a Sentinel's machine: it has no other, so a jump of it confuses everything.

use std::time::Duration;

/// A time by the wall clock, in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp(i64);

impl Stamp {
    /// Longer ago than anything.
    pub const LONG_AGO: Self = Self(i64::MIN / 2);

    pub fn of(wall_micros: i64) -> Self {
        Self(wall_micros.div_euclid(1_000))
    }

    /// How long ago `earlier` was; nothing if it is yet to come.
    pub fn since(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }

    pub fn later(self, by: Duration) -> Self {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }
}
