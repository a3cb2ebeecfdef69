//! The clocks of a machine: one that only goes forward, and one on the wall.

use picklock_checker::VirtualTime;
use picklock_machines::Now;

/// When the wall clocks of the simulated world start: 2026-01-01 00:00:00 UTC, in microseconds since the Unix epoch.
pub const WALL_START_MICROS: i64 = 1_767_225_600_000_000;

/// A monotonic clock that may run fast or slow, and a wall clock that may jump. At first both are right.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalClock {
    /// Where the two clocks were when the rate last changed.
    since_world: u64,
    since_local: u64,
    parts_per_million: i64,
    wall_offset: i64,
}

impl LocalClock {
    /// What the monotonic clock shows.
    #[inline]
    pub fn monotonic(&self, now: VirtualTime) -> VirtualTime {
        if self.parts_per_million == 0 && self.since_world == self.since_local {
            return now;
        }
        let passed = i128::from(now.micros() - self.since_world);
        let local = passed * i128::from(1_000_000 + self.parts_per_million) / 1_000_000;
        VirtualTime::from_micros(self.since_local + u64::try_from(local).unwrap_or(0))
    }

    /// When, in the world's time, the monotonic clock will show this. Rounded up, so that it has when we look.
    pub fn world_time(&self, local: VirtualTime) -> VirtualTime {
        if local == VirtualTime::NEVER
            || (self.parts_per_million == 0 && self.since_world == self.since_local)
        {
            return local;
        }
        let ahead = u128::from(local.micros().saturating_sub(self.since_local));
        let rate = u128::try_from(1_000_000 + self.parts_per_million)
            .unwrap_or(1)
            .max(1);
        let world = (ahead * 1_000_000).div_ceil(rate);
        VirtualTime::from_micros(
            self.since_world
                .saturating_add(u64::try_from(world).unwrap_or(u64::MAX)),
        )
    }

    /// What the wall clock shows, in microseconds since the Unix epoch.
    #[inline]
    pub fn wall(&self, now: VirtualTime) -> i64 {
        WALL_START_MICROS + self.monotonic(now).micros().cast_signed() + self.wall_offset
    }

    /// What both clocks show.
    #[inline]
    pub fn read(&self, now: VirtualTime) -> Now {
        Now {
            monotonic: self.monotonic(now),
            wall_micros: self.wall(now),
        }
    }

    /// When, in the world's time, the wall clock will show this, if it does not jump before; the beginning of the
    /// world if it has shown it already.
    pub fn world_time_of_wall(&self, wall_micros: i64) -> VirtualTime {
        let local = wall_micros
            .saturating_sub(WALL_START_MICROS)
            .saturating_sub(self.wall_offset);
        self.world_time(VirtualTime::from_micros(u64::try_from(local).unwrap_or(0)))
    }

    /// Lets the wall clock jump.
    pub fn jump(&mut self, micros: i64) {
        self.wall_offset = self.wall_offset.saturating_add(micros);
    }

    /// Lets both clocks run fast, or slow, from now on.
    pub fn drift(&mut self, now: VirtualTime, parts_per_million: i64) {
        let local = self.monotonic(now).micros();
        self.since_world = now.micros();
        self.since_local = local;
        self.parts_per_million = parts_per_million.max(-999_999);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> VirtualTime {
        VirtualTime::from_micros(micros)
    }

    #[test]
    fn a_fast_clock_gains_and_the_world_knows_when_it_will_show_a_time() {
        let mut clock = LocalClock::default();
        clock.drift(at(1_000_000), 100_000);
        assert_eq!(clock.monotonic(at(2_000_000)), at(2_100_000));
        assert_eq!(clock.world_time(at(2_100_000)), at(2_000_000));
        assert!(clock.monotonic(clock.world_time(at(1_234_567))) >= at(1_234_567));
    }

    #[test]
    fn a_jump_moves_the_wall_clock_alone() {
        let mut clock = LocalClock::default();
        clock.jump(-5_000_000);
        assert_eq!(clock.monotonic(at(7)), at(7));
        assert_eq!(clock.wall(at(7)), WALL_START_MICROS + 7 - 5_000_000);
    }

    #[test]
    fn the_world_knows_when_a_wall_clock_will_show_a_time() {
        let mut clock = LocalClock::default();
        clock.jump(40_000_000);
        let shown = WALL_START_MICROS + 50_000_000;
        assert_eq!(clock.world_time_of_wall(shown), at(10_000_000));
        clock.drift(at(0), 250_000);
        assert!(clock.wall(clock.world_time_of_wall(shown)) >= shown);
    }
}
