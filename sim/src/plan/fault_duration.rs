//! How long a fault lasts.

use std::time::Duration;

/// How long something stays broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultDuration {
    /// It heals after this long.
    For(Duration),
    /// Nothing heals it, in the calm neither.
    ForGood,
}

impl FaultDuration {
    /// How long, if it ends.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::For(length) => Some(length),
            Self::ForGood => None,
        }
    }

    /// How long, to change it, if it ends.
    pub fn duration_mut(&mut self) -> Option<&mut Duration> {
        match self {
            Self::For(length) => Some(length),
            Self::ForGood => None,
        }
    }

    /// Whether it goes on for at least so long.
    pub fn at_least(self, least: Duration) -> bool {
        self.duration().is_none_or(|length| length >= least)
    }

    /// How long, but no longer than so.
    pub fn at_most(self, most: Duration) -> Duration {
        self.duration().map_or(most, |length| length.min(most))
    }
}

impl From<Duration> for FaultDuration {
    fn from(length: Duration) -> Self {
        Self::For(length)
    }
}

impl From<Option<Duration>> for FaultDuration {
    /// What does not come back is gone for good.
    fn from(back_after: Option<Duration>) -> Self {
        back_after.map_or(Self::ForGood, Self::For)
    }
}
