//! The turning point: the choice after which the violation was much more likely than before it.

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::{History, Invariant};
use picklock_sim::engine::Tape;
use picklock_sim::plan::Plan;
use picklock_sim::simulate_with;
use rayon::prelude::*;

use super::ViolationShare;

/// The curve has so many moments, evenly apart, before the steepest part of it is looked at more closely.
const MOMENTS: usize = 16;

/// A moment of the run: its choices are kept up to here, and drawn again from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// How many choices are kept.
    pub kept: usize,
    /// How often the promise was violated all the same.
    pub share: ViolationShare,
    /// How many events of the history are the same, whatever is drawn from here on.
    pub settled: usize,
}

/// How likely the violation was as the run went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurningMoment {
    /// From the start, where nothing is kept, to the end, where everything is; evenly apart.
    pub curve: Vec<Moment>,
    /// The moments before and after the choice that made it more likely by the most, if any made a difference.
    pub jump: Option<(Moment, Moment)>,
}

impl TurningMoment {
    /// The event of the history that the choice of the jump has to do with: the first that was not settled before it.
    pub fn event(&self) -> Option<usize> {
        self.jump.map(|(before, _)| before.settled)
    }
}

/// Finds the turning point of a run that violates a promise: its plan, its choices, and its history. Each moment is
/// tried with so many samples.
pub fn turning_moment(
    plan: &Plan,
    invariant: &Invariant,
    (choices, history): (&[u32], &History),
    samples: u64,
    stop: &AtomicBool,
) -> TurningMoment {
    let probe = |kept: usize| {
        let runs = (0..samples).into_par_iter();
        let runs = runs.filter(|_| !stop.load(Ordering::Relaxed));
        let runs = runs
            .map(|sample| simulate_with(plan, Tape::branched(choices[..kept].to_vec(), sample)));
        let runs: Vec<_> = runs.collect();
        let settled = runs.iter().map(|of| common(&of.run.history, history)).min();
        Moment {
            kept,
            settled: settled.unwrap_or(0),
            share: ViolationShare::of(invariant, runs.into_par_iter(), |_, _| true),
        }
    };
    let start = probe(0);
    if start.share.violated == start.share.of {
        // Nothing can make it more likely.
        let curve = vec![start];
        return TurningMoment { curve, jump: None };
    }
    let indices = (0..=MOMENTS).map(|step| choices.len() * step / MOMENTS);
    let mut indices: Vec<usize> = indices.collect();
    indices.dedup();
    let later = indices.into_iter().skip(1).map(probe);
    let curve: Vec<Moment> = std::iter::once(start).chain(later).collect();
    let rise = |pair: &[Moment]| {
        pair[1]
            .share
            .violated
            .saturating_sub(pair[0].share.violated)
    };
    // Of several that are alike the first: what comes later only follows from it.
    let pairs = curve.windows(2).enumerate();
    let steepest = pairs.max_by_key(|(index, pair)| (rise(pair), std::cmp::Reverse(*index)));
    let steepest = steepest.filter(|(_, pair)| rise(pair) > 0);
    let Some((mut before, mut after)) = steepest.map(|(_, pair)| (pair[0], pair[1])) else {
        return TurningMoment { curve, jump: None };
    };
    while after.kept - before.kept > 1 {
        let between = probe(before.kept + (after.kept - before.kept) / 2);
        let first = between.share.violated.saturating_sub(before.share.violated);
        let second = after.share.violated.saturating_sub(between.share.violated);
        if first >= second {
            after = between;
        } else {
            before = between;
        }
    }
    TurningMoment {
        curve,
        jump: Some((before, after)),
    }
}

/// How many events two histories have in common from their start.
fn common(one: &History, other: &History) -> usize {
    let pairs = one.events.iter().zip(&other.events);
    pairs.take_while(|(one, other)| one == other).count()
}
