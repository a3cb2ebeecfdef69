//! The one real clock: how long people wait for an outcome. No simulation sees it.

use std::time::{Duration, Instant, SystemTime};

/// Measures real time from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
}

impl Stopwatch {
    /// Starts now.
    #[expect(
        clippy::disallowed_methods,
        reason = "what a run costs is real time; it is shown to people and decides nothing"
    )]
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    /// The real time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The days since 1 January 1970 in UTC, which decide nothing but where seeds begin, if that is asked for.
#[expect(
    clippy::disallowed_methods,
    reason = "seeds that rotate by the date need the date; it is printed, and no simulation sees it"
)]
pub fn days_since_epoch() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() / 86_400)
}
