//! The machine's own clock: real servers live by it.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// What time it is.
#[expect(
    clippy::disallowed_methods,
    reason = "a real server is waited for in real time; no simulation sees it"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Waits.
#[expect(
    clippy::disallowed_methods,
    reason = "a real server is waited for in real time; no simulation sees it"
)]
pub fn sleep(time: Duration) {
    thread::sleep(time);
}

/// How long ago midnight was, by the clock on the wall, in the time of Greenwich.
#[expect(
    clippy::disallowed_methods,
    reason = "a real server writes this time into its log; no simulation sees it"
)]
pub fn time_of_day() -> Duration {
    const DAY: u64 = 86_400;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    Duration::new(since.as_secs() % DAY, since.subsec_nanos())
}
