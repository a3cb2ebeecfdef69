//! The one real clock: how long people wait for an outcome. No simulation sees it.

use std::time::{Duration, Instant};

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
