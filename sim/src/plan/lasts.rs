//! How long a fault lasts.

use std::time::Duration;

use super::Fault;

/// How long something stays broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// It heals after this long.
    For(Duration),
    /// Nothing heals it, in the calm neither.
    ForGood,
}

impl Lasts {
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

impl From<Duration> for Lasts {
    fn from(length: Duration) -> Self {
        Self::For(length)
    }
}

impl From<Option<Duration>> for Lasts {
    /// What does not come back is gone for good.
    fn from(back_after: Option<Duration>) -> Self {
        back_after.map_or(Self::ForGood, Self::For)
    }
}

impl Fault {
    /// How long it stays; `None` if it is over as soon as it has struck. A drift of a clock without an end of its own
    /// stays for as long as the run says.
    pub fn lasts(&self) -> Option<Lasts> {
        match *self {
            Self::Crash { restart_after, .. }
            | Self::CrashServer { restart_after, .. }
            | Self::PowerLoss { restart_after, .. } => Some(restart_after.into()),
            Self::Pause { length, .. }
            | Self::BlockEvents { length, .. }
            | Self::BlackHole { length, .. }
            | Self::SlowLink { length, .. }
            | Self::HangServer { length, .. }
            | Self::IsolateServer { length, .. }
            | Self::Partition { length, .. }
            | Self::HoldLink { length, .. }
            | Self::LagServer { length, .. }
            | Self::SlowDisk { length, .. }
            | Self::FullMemory { length, .. }
            | Self::FullDisk { length, .. } => Some(length),
            Self::MoveSlot { length, .. } => Some(Lasts::For(length)),
            Self::ClockDrift { length, .. } => length.map(Lasts::For),
            Self::Cancel { .. }
            | Self::ExpireSession { .. }
            | Self::Cut { .. }
            | Self::LoseRequest { .. }
            | Self::LoseReply { .. }
            | Self::SwallowReply { .. }
            | Self::LoseMessage { .. }
            | Self::DelayRequest { .. }
            | Self::DelayReply { .. }
            | Self::ClockJump { .. }
            | Self::ServerClockJump { .. }
            | Self::Promote { .. }
            | Self::EvictKey { .. }
            | Self::DeleteNode { .. }
            | Self::RecreateLock => None,
        }
    }

    /// Whether what it breaks stays broken, in the calm too.
    pub fn is_for_good(&self) -> bool {
        self.lasts() == Some(Lasts::ForGood)
    }
}
