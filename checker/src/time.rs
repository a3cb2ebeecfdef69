//! Virtual time: the only clock that a run can see.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant of virtual time, in microseconds since the start of the run.
///
/// Microseconds are the resolution of the whole simulation: durations are rounded up to them, so that
/// nothing that takes time can take none.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VirtualTime(u64);

impl VirtualTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant that many microseconds after the start of the run.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the start of the run.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Time since the start of the run.
    pub const fn since_start(self) -> Duration {
        Duration::from_micros(self.0)
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in whole microseconds, rounded up; saturates.
pub fn whole_micros(duration: Duration) -> u64 {
    let below_a_second = u64::from(duration.subsec_nanos().div_ceil(1_000));
    let seconds = duration.as_secs().saturating_mul(1_000_000);
    seconds.saturating_add(below_a_second)
}

impl Add<Duration> for VirtualTime {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(whole_micros(duration)))
    }
}

impl AddAssign<Duration> for VirtualTime {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for VirtualTime {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

/// Seconds with three decimals, as in `12.345 s`.
impl fmt::Display for VirtualTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}.{:03} s",
            self.0 / 1_000_000,
            self.0 / 1_000 % 1_000
        )
    }
}
