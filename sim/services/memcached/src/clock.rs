//! The clock of a memcached server: a counter that ticks once a second (`memcached.c`, `clock_handler`, `realtime`).

use picklock_checker::VirtualTime;
use picklock_machines::Now;

const SECOND: u64 = 1_000_000;
/// What the counter shows when a process begins (`ITEM_UPDATE_INTERVAL + 2`), so that what is over at once lies
/// before.
const FIRST: u64 = 62;
/// 30 days in seconds: an exptime above is a Unix time (`REALTIME_MAXDELTA`).
const RELATIVE_AT_MOST: i32 = 60 * 60 * 24 * 30;

/// The clock of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoarseClock {
    /// When the counter ticked last before the process began, on its monotonic clock, in microseconds. It is negative
    /// if that was before the clock began.
    origin: i64,
    /// When the counter showed zero, in seconds since the Unix epoch.
    unix_zero: i64,
}

impl CoarseClock {
    /// The clock of a process that begins so many microseconds after a tick.
    pub fn begun(now: Now, since_tick: u64) -> Self {
        Self {
            origin: micros(now.monotonic) - i64::try_from(since_tick).unwrap_or_default(),
            unix_zero: now.wall_micros.div_euclid(SECOND as i64) - FIRST as i64,
        }
    }

    /// What the counter shows.
    pub fn ticks(self, now: Now) -> u64 {
        let since = micros(now.monotonic).saturating_sub(self.origin);
        FIRST + u64::try_from(since).unwrap_or_default() / SECOND
    }

    /// When the counter comes to show this.
    pub fn time_of(self, ticks: u64) -> VirtualTime {
        let after = i64::try_from(ticks.saturating_sub(FIRST).saturating_mul(SECOND));
        let at = self.origin.saturating_add(after.unwrap_or(i64::MAX));
        VirtualTime::from_micros(u64::try_from(at).unwrap_or_default())
    }

    /// What the counter shows when an item with this exptime expires; `None` if never. The server reads 32 bits of it.
    /// What lies before the process began is over at once.
    pub fn expires(self, now: Now, exptime: i64) -> Option<u64> {
        let seconds = exptime as i32;
        if seconds == 0 {
            return None;
        }
        Some(match seconds {
            1..=RELATIVE_AT_MOST => self.ticks(now) + u64::from(seconds.unsigned_abs()),
            seconds if seconds < 0 => 1,
            seconds => u64::try_from(i64::from(seconds) - self.unix_zero).unwrap_or(1),
        })
    }
}

fn micros(time: VirtualTime) -> i64 {
    i64::try_from(time.micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Now {
        Now {
            monotonic: VirtualTime::from_micros(micros),
            wall_micros: 1_700_000_000_000_000,
        }
    }

    #[test]
    fn an_item_of_n_seconds_lives_from_n_minus_one_to_n() {
        // The next tick is 300 ms away.
        let clock = CoarseClock::begun(at(5_000_000), 700_000);
        let ends = |now, exptime| {
            clock
                .expires(now, exptime)
                .map(|ticks| clock.time_of(ticks))
        };
        let micros = VirtualTime::from_micros;
        assert_eq!(ends(at(5_000_000), 1), Some(micros(5_300_000)));
        assert_eq!(ends(at(5_299_999), 2), Some(micros(6_300_000)));
        assert_eq!(ends(at(5_300_000), 1), Some(micros(6_300_000)));
    }

    #[test]
    fn thirty_days_are_relative_and_a_second_more_is_1970() {
        let clock = CoarseClock::begun(at(0), 0);
        assert_eq!(clock.expires(at(0), 2_592_000), Some(2_592_062));
        assert_eq!(clock.expires(at(0), 2_592_001), Some(1));
        assert_eq!(clock.expires(at(0), -1), Some(1));
        assert_eq!(clock.expires(at(0), 0), None);
        assert_eq!(clock.expires(at(0), 1_700_000_010), Some(72));
        // Beyond 31 bits it is negative.
        assert_eq!(clock.expires(at(0), 4_102_444_800), Some(1));
    }
}
