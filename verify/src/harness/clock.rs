//! Time: that of a backend, and the machine's own, by which real servers live.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::harness::error::Result;

/// What both backends of a comparison can do with their time.
pub(crate) trait Clock {
    /// Lets time pass.
    fn pass(&mut self, time: Duration) -> Result<()>;
    /// The time that has passed so far.
    fn elapsed(&self) -> Duration;
}

/// Looks this often until something is so. Returns how long that took, if it took no longer than this.
pub(crate) fn until<B: Clock + ?Sized>(
    backend: &mut B,
    (timeout, interval): (Duration, Duration),
    mut is_so: impl FnMut(&mut B) -> Result<bool>,
) -> Result<Option<Duration>> {
    let start = backend.elapsed();
    loop {
        if is_so(backend)? {
            return Ok(Some(backend.elapsed() - start));
        }
        if backend.elapsed() - start > timeout {
            return Ok(None);
        }
        backend.pass(interval)?;
    }
}

/// What time it is.
#[expect(
    clippy::disallowed_methods,
    reason = "a real server is waited for in real time; no simulation sees it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits.
#[expect(
    clippy::disallowed_methods,
    reason = "a real server is waited for in real time; no simulation sees it"
)]
pub(crate) fn sleep(time: Duration) {
    thread::sleep(time);
}

/// The wall clock, as the time since 1970 began in Greenwich.
#[expect(
    clippy::disallowed_methods,
    reason = "real servers live by this clock; no simulation sees it"
)]
pub(crate) fn since_epoch() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}

/// How long ago midnight was in Greenwich.
pub(crate) fn time_of_day() -> Duration {
    const DAY: u64 = 86_400;
    let since = since_epoch();
    Duration::new(since.as_secs() % DAY, since.subsec_nanos())
}
