//! The machine's own clock: real servers live by it.

use std::thread;
use std::time::{Duration, Instant};

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
