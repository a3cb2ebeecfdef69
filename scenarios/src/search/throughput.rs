//! The overhead of a search: choosing plans, and learning from runs.

use std::time::Duration;

use picklock_sim::simulate;

use super::hunt::{BATCH, Campaign};
use super::portfolio::SearchStrategy;
use crate::clock::Stopwatch;
use crate::runner::judge;
use crate::scenario::Case;
use picklock_sim::plan::FaultKind;

/// How many runs a second a search does, against the same runs of the same plans one after the other, as a share of
/// these: on one thread, for about this long. Both take turns of as many runs, so that what else the machine does slows
/// both down alike.
pub fn share_of_plain_runs(case: &Case, length: Duration) -> f64 {
    let mut kinds = FaultKind::ALL.to_vec();
    kinds.retain(|kind| kind.is_outlived(&case.plan.service));
    let mut chase = Campaign::new(case, &kinds, &SearchStrategy::ALL, 0);
    let (mut searched, mut plain) = (Duration::ZERO, Duration::ZERO);
    let mut folded = 0;
    while searched + plain < length {
        let watch = Stopwatch::start();
        let batch = chase.batch(BATCH, &|| false, &|| ());
        for looked in &batch {
            chase.learn(looked, &[]);
        }
        searched += watch.elapsed();
        let watch = Stopwatch::start();
        for looked in &batch {
            let simulated = simulate(&looked.case.plan, looked.seed);
            folded ^= judge(&looked.case, looked.seed, &simulated).hash;
        }
        plain += watch.elapsed();
    }
    std::hint::black_box(folded);
    plain.as_secs_f64() / searched.as_secs_f64()
}
