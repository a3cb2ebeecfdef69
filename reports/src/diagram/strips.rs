//! Curves over the axis of a diagram, above its lanes: how many contenders wait, how many hold the lock, and how likely
//! the violation was.

use picklock_checker::{Evidence, History, VirtualTime};

use super::bars;

/// How far apart two strips are.
const GAP: u32 = 6;

/// A curve over the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// What it shows, in a word.
    pub name: &'static str,
    /// What stands behind its values, such as ` of 50`.
    pub unit: String,
    /// The value at its upper edge.
    pub most: u64,
    /// How it is drawn.
    pub form: StripForm,
    /// Values with their times, ascending.
    pub points: Vec<(VirtualTime, u64)>,
    /// What turned it, if a choice did.
    pub turning: Option<TurningMark>,
    /// Where it begins, from the top.
    pub top: u32,
    /// How high it is.
    pub height: u32,
}

/// How a strip is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StripForm {
    /// A value lasts until the next, and what lies below it is filled.
    Area,
    /// A value lasts until the next.
    Steps,
    /// Values were measured at their times alone.
    Curve,
}

/// The choice that made a violation likelier by the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurningMark {
    /// When what it decided shows first.
    pub at: VirtualTime,
    /// The event that shows it, by its place in the history.
    pub event: usize,
    /// What stands beside it: `turning choice 280`.
    pub label: String,
}

impl Strip {
    /// How likely a violation was: in how many runs of so many it came about if all choices up to a time were kept.
    pub fn likelihood(
        points: Vec<(VirtualTime, u64)>,
        of: u64,
        turning: Option<TurningMark>,
    ) -> Self {
        Self {
            name: "violated",
            unit: format!(" of {of}"),
            most: of,
            form: StripForm::Curve,
            points,
            turning,
            top: 0,
            height: 52,
        }
    }

    /// How many contenders wait for a lock, and how many believe that they hold it.
    pub fn of_contenders(history: &History) -> Vec<Self> {
        let run = bars::run_of(history);
        let evidence = Evidence::of(&run);
        let holds = evidence.beliefs.iter();
        let holds = holds.map(|belief| {
            let until = bars::at_or_never(&evidence, belief.left);
            (evidence.at(belief.acquired), until)
        });
        let strip = |name, form, height, stretches: Vec<_>| {
            let points = numbers(&stretches);
            Self {
                name,
                unit: String::new(),
                most: points.iter().map(|point| point.1).max().unwrap_or(0).max(1),
                form,
                points,
                turning: None,
                top: 0,
                height,
            }
        };
        vec![
            strip("waiting", StripForm::Area, 34, bars::waits(history)),
            strip("holders", StripForm::Steps, 18, holds.collect()),
        ]
    }

    /// What of it lies between these times.
    pub(super) fn clipped(self, from: VirtualTime, until: VirtualTime) -> Self {
        let points = self.points.iter();
        let before = points.clone().rev().find(|point| point.0 < from);
        let begin = before.map(|point| (from, point.1));
        let inside = points.filter(|point| (from..=until).contains(&point.0));
        Self {
            points: begin.into_iter().chain(inside.copied()).collect(),
            turning: self
                .turning
                .filter(|turn| (from..=until).contains(&turn.at)),
            ..self
        }
    }

    /// Where it is between its edges, as a share from the lower one.
    pub(super) fn share(&self, value: u64) -> f64 {
        value as f64 / self.most.max(1) as f64
    }
}

/// How many of these stretches there are at each time at which that changes.
fn numbers(stretches: &[(VirtualTime, VirtualTime)]) -> Vec<(VirtualTime, u64)> {
    let mut steps: Vec<(VirtualTime, i64)> = Vec::with_capacity(2 * stretches.len());
    for &(from, until) in stretches {
        steps.extend([(from, 1), (until, -1)]);
    }
    steps.sort_unstable();
    let mut points: Vec<(VirtualTime, u64)> = vec![(VirtualTime::ZERO, 0)];
    let mut number = 0;
    for (at, step) in steps {
        number += step;
        let value = number.max(0).unsigned_abs();
        match points.last_mut() {
            Some(last) if last.0 == at => last.1 = value,
            Some(_) | None => points.push((at, value)),
        }
    }
    points.dedup_by_key(|point| point.1);
    points
}

/// Places strips below each other, from here on. Answers where the last ends.
pub(super) fn place(strips: &mut [Strip], mut top: u32) -> u32 {
    for strip in strips {
        strip.top = top;
        top += strip.height + GAP;
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_counts_from_its_begin_to_its_end() {
        let at = VirtualTime::from_micros;
        let stretches = [(at(5), at(9)), (at(7), at(9)), (at(9), at(12))];
        let points = numbers(&stretches).into_iter();
        let points: Vec<_> = points.map(|(at, value)| (at.micros(), value)).collect();
        assert_eq!(points, [(0, 0), (5, 1), (7, 2), (9, 1), (12, 0)]);
    }
}
