//! What is left of the time of a timed acquire.

use std::time::Duration;

use crate::Env;

/// How long a timed acquire still waits, by the wall clock.
pub(crate) struct WaitBudget {
    time_to_wait: Duration,
    start: Duration,
}

impl WaitBudget {
    /// All of it, from now on.
    pub(crate) fn new(time_to_wait: Duration, env: &Env) -> Self {
        let start = env.wall();
        Self {
            time_to_wait,
            start,
        }
    }

    /// What is left now; nothing if the time is over. A clock that is put back makes it longer.
    pub(crate) fn left(&mut self, env: &Env) -> Option<Duration> {
        let now = env.wall();
        let put_back = self.start.saturating_sub(now);
        let passed = now.saturating_sub(self.start);
        self.start = now;
        self.time_to_wait = (self.time_to_wait + put_back).saturating_sub(passed);
        Some(self.time_to_wait).filter(|left| !left.is_zero())
    }
}
