//! Notches: of a picture, stretches between two events of the explanation in which nothing of it happens. They are as
//! wide as the number of their events needs.

use picklock_checker::VirtualTime;

use super::axis::Axis;
use super::marks::{Mark, Weight};

/// How wide a notch is in a picture.
const WIDE: f64 = 58.0;
/// A picture has no more of them.
const MOST: usize = 8;
/// Fewer events than these are shown.
const LEAST: usize = 3;

/// A stretch of time of which only the number of events is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notch {
    /// From when on.
    pub from: VirtualTime,
    /// Until when.
    pub until: VirtualTime,
    /// How many events of the history lie between.
    pub number: usize,
}

impl Notch {
    /// Whether something lies in it as a whole.
    pub(super) fn has(&self, from: VirtualTime, until: VirtualTime) -> bool {
        from > self.from && until < self.until
    }
}

/// The stretches between two marks of the explanation that are worth a notch in a picture that is so wide.
pub(super) fn find(marks: &[Mark], axis: &Axis, room: f64) -> Vec<Notch> {
    let scale = room / axis.length().max(1.0);
    let mut rows: Vec<&Mark> = marks.iter().collect();
    rows.retain(|mark| mark.weight == Weight::Essential);
    rows.sort_by_key(|mark| (mark.at, mark.after));
    let notches = rows.windows(2).map(|pair| Notch {
        from: pair[0].at,
        until: pair[1].at,
        // What a server does lies between two events of the history.
        number: (pair[1].after)
            .saturating_sub(pair[0].after + usize::from(pair[0].event.is_some())),
    });
    let wide = |notch: &Notch| (axis.place(notch.until) - axis.place(notch.from)) * scale;
    let is_worth = |notch: &Notch| notch.number >= LEAST && wide(notch) > WIDE * 1.4;
    let mut notches: Vec<Notch> = notches.filter(is_worth).collect();
    notches.sort_by(|one, other| wide(other).total_cmp(&wide(one)));
    notches.truncate(MOST);
    notches.sort_by_key(|notch| notch.from);
    notches
}

/// Makes notches as wide as they are in a picture that is so wide.
pub(super) fn narrow(axis: &mut Axis, notches: &[Notch], room: f64) {
    let wide = |notch: &Notch| axis.place(notch.until) - axis.place(notch.from);
    let all: f64 = notches.iter().map(wide).sum();
    // The axis is stretched to the room when notches have become narrow.
    let narrow = WIDE * (axis.length() - all) / (room - WIDE * notches.len() as f64);
    let shares: Vec<f64> = notches
        .iter()
        .map(|notch| (narrow / wide(notch)).min(1.0))
        .collect();
    let mut before = (0, 0.0);
    let mut place = 0.0;
    for knot in &mut axis.knots {
        let at = VirtualTime::from_micros(knot.0);
        let inside = |notch: &Notch| at > notch.from && at <= notch.until;
        let share = notches
            .iter()
            .position(inside)
            .map_or(1.0, |index| shares[index]);
        place += (knot.1 - before.1) * share;
        before = *knot;
        // Rounded, so that every machine writes the same digits.
        knot.1 = (place * 100.0).round() / 100.0;
    }
}
