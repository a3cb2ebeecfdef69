//! Axes: where a value lies, and where ticks stand.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use super::font;

/// The size of what stands at ticks.
pub(super) const TICK: f64 = 13.0;

/// What an axis says.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Whether equal factors are equally far apart, instead of equal differences.
    pub log: bool,
    /// Where ticks stand.
    pub ticks: Ticks,
    /// How a value is written.
    pub write: fn(f64) -> String,
}

/// Where the ticks of an axis stand.
#[derive(Clone, Debug)]
pub enum Ticks {
    /// At round numbers.
    Round,
    /// At round numbers, and at one value that lies beyond all of them, such as `never`.
    Beyond(f64, String),
    /// Wherever something was measured.
    Measured,
    /// At these values, with these names.
    At(Vec<(f64, String)>),
    /// At whole numbers from zero on, with these names; the last is where the axis ends.
    Steps(Vec<String>),
}

/// An axis over some values, as plotters places them.
#[derive(Clone)]
pub(super) struct Scale {
    log: bool,
    /// From where to where it goes.
    ends: (f64, f64),
    /// Where its ticks stand, and what stands there.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let long = f64::from(limit.1 - limit.0);
        limit.0 + (self.share(*value) * long).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl Scale {
    /// The scale of an axis on which these values lie, with few ticks if there is little room.
    pub(super) fn of(axis: &Axis, values: &[f64], few: bool) -> Self {
        let (least, most) = match (&axis.ticks, axis.log) {
            (Ticks::At(ticks), false) => (-0.5, ticks.len() as f64 - 0.5),
            (Ticks::Steps(names), _) => (-0.2, names.len() as f64 - 1.0),
            // Names stand where the last measurement was.
            (Ticks::Measured, true) => (logarithmic(values).0, ends(values).1),
            (_, true) => logarithmic(values),
            (_, false) => linear(values),
        };
        let written = |value: f64| (value, (axis.write)(value));
        let ticks = match &axis.ticks {
            Ticks::At(ticks) => ticks.clone(),
            Ticks::Steps(names) => {
                let names = names.iter().cloned().enumerate();
                names.map(|(step, name)| (step as f64, name)).collect()
            }
            Ticks::Measured => {
                let mut values = values.to_vec();
                values.sort_by(f64::total_cmp);
                values.dedup();
                values.into_iter().map(written).collect()
            }
            Ticks::Round if axis.log => {
                round((least, most), few).into_iter().map(written).collect()
            }
            Ticks::Round => even((least, most), false)
                .into_iter()
                .map(written)
                .collect(),
            Ticks::Beyond(at, name) => {
                let (first, last) = ends(values);
                let inside = |tick: &f64| (first..=last).contains(tick);
                let apart = |tick: &f64| (tick / at).max(at / tick) > 1.4;
                let all = round((least, most), few).into_iter();
                let ticks = all.filter(|tick| !values.contains(at) || inside(tick) && apart(tick));
                let there = values.contains(at).then(|| (*at, name.clone()));
                ticks.map(written).chain(there).collect()
            }
        };
        Self {
            log: axis.log,
            ends: (least, most),
            ticks,
        }
    }

    /// The same, from its end to its begin.
    pub(super) fn reversed(mut self) -> Self {
        self.ends = (self.ends.1, self.ends.0);
        self
    }

    /// Which share of the axis lies before a value.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.log { value.log10() } else { value };
        let (first, last) = (place(self.ends.0), place(self.ends.1));
        (place(value) - first) / (last - first)
    }

    /// Whether a value can be shown.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// What stands at a tick.
    pub(super) fn label(&self, at: f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.0 == at);
        tick.map_or_else(String::new, |tick| tick.1.clone())
    }

    /// Leaves away names that have no room beside others, if the axis has this many units from left to right. The last
    /// that was given stays, then those to the right.
    pub(super) fn thinned(mut self, room: f64) -> Self {
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for index in (0..self.ticks.len()).rev() {
            let middle = self.share(self.ticks[index].0) * room;
            let name = &mut self.ticks[index].1;
            let half = font::width(name, TICK) / 2.0;
            let (from, until) = (middle - half, middle + half);
            if taken.iter().any(|name| from < name.1 && until > name.0) {
                name.clear();
            } else {
                taken.push((from - 10.0, until + 10.0));
            }
        }
        self
    }

    /// How wide the widest label is.
    pub(super) fn widest(&self) -> i32 {
        let wide = self.ticks.iter().map(|(_, name)| font::width(name, TICK));
        wide.fold(0.0, f64::max).ceil() as i32
    }
}

/// The least and the greatest of some values that are not negative.
fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(0.0, f64::max))
}

/// A range on a logarithmic axis with all values in it, and some air around them.
fn logarithmic(values: &[f64]) -> (f64, f64) {
    let (least, most) = ends(values);
    let air = (most / least).powf(0.05).max(1.25);
    (least / air, most * air)
}

/// A range from zero with all values in it.
fn linear(values: &[f64]) -> (f64, f64) {
    let (_, most) = ends(values);
    (0.0, if most > 0.0 { most * 1.06 } else { 1.0 })
}

/// Round numbers in a range: powers of ten, and 2 and 5 times these if there are few of them. In a range that holds
/// fewer than two of those they stand at equal distances.
fn round(range: (f64, f64), few: bool) -> Vec<f64> {
    let (least, most) = range;
    let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
    let steps: &[f64] = if (most / least).log10() > if few { 1.8 } else { 3.5 } {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let all = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
    let round: Vec<f64> = all.filter(|tick| (least..=most).contains(tick)).collect();
    if round.len() < 2 {
        even(range, true)
    } else {
        round
    }
}

/// Whole numbers at equal distances: five or so.
fn even((least, most): (f64, f64), log: bool) -> Vec<f64> {
    let about = (most - least) / 5.0;
    let decade = 10f64.powf(about.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * decade);
    let step = step.into_iter().find(|step| *step >= about);
    let step = step.unwrap_or(about).max(1.0);
    let (first, last) = ((least / step).ceil() as u64, (most / step).floor() as u64);
    let all = (first..=last).map(|times| times as f64 * step);
    all.filter(|tick| !log || *tick > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64]) -> ((f64, f64), Vec<f64>) {
        let range = logarithmic(values);
        (range, round(range, false))
    }

    #[test]
    fn an_axis_has_two_labels_at_least_or_the_only_whole_number() {
        for value in [1.0, 2.0, 7.0, 33.0, 1_500.0, 3_333.0, 98_765.0, 2.5e9] {
            for spread in [1.0, 1.01, 1.7, 3.0, 40.0, 1e7] {
                let (range, ticks) = ticks(&[value, value * spread]);
                let whole = range.1.floor() - range.0.ceil() + 1.0;
                assert!(ticks.len() as f64 >= whole.min(2.0), "{range:?}: {ticks:?}");
                assert!(ticks.len() <= 14, "{range:?}: {ticks:?}");
                let inside = |tick: &f64| (range.0..=range.1).contains(tick);
                assert!(ticks.iter().all(inside), "{range:?}: {ticks:?}");
            }
        }
    }

    #[test]
    fn what_was_measured_has_ticks_and_labels_where_there_is_room() {
        let axis = Axis {
            label: "contenders".to_owned(),
            log: true,
            ticks: Ticks::Measured,
            write: |value| format!("{value}"),
        };
        let scale = Scale::of(&axis, &[10.0, 100.0, 10.0, 101.0, 1_000.0], false).thinned(300.0);
        let names: Vec<&str> = scale.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(names, ["10", "", "101", "1000"]);
    }

    #[test]
    fn what_lies_beyond_all_is_named_before_what_is_near_it() {
        let axis = Axis {
            label: "runs".to_owned(),
            log: true,
            ticks: Ticks::Beyond(0.5, "never mind".to_owned()),
            write: |value| format!("{value}"),
        };
        let scale = Scale::of(&axis, &[0.5, 1.0, 100.0], false).thinned(200.0);
        let named = scale.ticks.iter().filter(|tick| !tick.1.is_empty());
        let named: Vec<f64> = named.map(|tick| tick.0).collect();
        assert!(named.contains(&0.5) && named.len() > 1, "{named:?}");
        assert!(!named.contains(&1.0), "{named:?}");
    }
}
