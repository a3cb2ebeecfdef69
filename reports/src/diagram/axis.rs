//! The axis of time. In a run, milliseconds matter and minutes pass: the longer nothing happens, the less of the width
//! goes to it, so that all that happens can be seen.

use picklock_checker::VirtualTime;

/// How wide a picture is.
pub(super) const WIDTH: f64 = 1280.0;
/// Where the lanes begin, from the left: their names stand before.
pub(super) const GUTTER: f64 = 136.0;
/// What is free at the right.
pub(super) const MARGIN: f64 = 18.0;
/// What is between.
pub(super) const ROOM: f64 = WIDTH - GUTTER - MARGIN;

/// A place for each time at which something happens, the first at zero. Times between two of them lie on a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Times in microseconds, ascending, and their places.
    pub knots: Vec<(u64, f64)>,
}

impl Axis {
    /// The axis of what happens at these times.
    pub(crate) fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        times.dedup();
        let mut knots = Vec::with_capacity(times.len());
        let mut place = 0.0;
        for (index, &time) in times.iter().enumerate() {
            if index > 0 {
                place += width((time - times[index - 1]) as f64);
            }
            knots.push((time, place));
        }
        Self { knots }
    }

    /// The place of a time; times outside lie at the ends.
    pub fn place(&self, at: VirtualTime) -> f64 {
        let at = at.micros();
        let next = self.knots.partition_point(|&(time, _)| time < at);
        match (next.checked_sub(1), self.knots.get(next)) {
            (_, Some(&(time, place))) if time == at => place,
            (Some(before), Some(&(time, place))) => {
                let (from, begin) = self.knots[before];
                let share = (at - from) as f64 / (time - from) as f64;
                begin + (place - begin) * share
            }
            (None, Some(&(_, place))) => place,
            (_, None) => self.length(),
        }
    }

    /// The place of the last time.
    pub fn length(&self) -> f64 {
        self.knots.last().map_or(0.0, |&(_, place)| place)
    }
}

/// How much of the width goes to so many microseconds in which nothing happens.
fn width(micros: f64) -> f64 {
    // Rounded, so that every machine writes the same digits.
    let width = 2.0 + 5.0 * (1.0 + micros / 1_000.0).log2();
    (width * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_wait_is_wider_and_hours_do_not_hide_milliseconds() {
        let axis = Axis::of(vec![0, 1_000, 3_600_001_000, 3_600_002_000]);
        let places: Vec<f64> = axis.knots.iter().map(|&(_, place)| place).collect();
        assert!(places[2] - places[1] > 5.0 * (places[1] - places[0]));
        assert!(places[2] - places[1] < 50.0 * (places[1] - places[0]));
        assert_eq!(places[1] - places[0], places[3] - places[2]);
    }

    #[test]
    fn times_between_two_events_lie_between_them_and_others_at_the_ends() {
        let axis = Axis::of(vec![10, 20]);
        let place = |at| axis.place(VirtualTime::from_micros(at));
        assert_eq!((place(0), place(10)), (0.0, 0.0));
        assert_eq!(place(15), axis.length() / 2.0);
        assert_eq!((place(20), place(99)), (axis.length(), axis.length()));
    }
}
