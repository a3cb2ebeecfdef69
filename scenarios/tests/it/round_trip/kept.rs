//! Runs and plans that were kept.

use picklock_scenarios::{Recorded, RecordedRun, SavedPlan};
use proptest::prelude::*;

fn was() -> impl Strategy<Value = RecordedRun> {
    let version = prop::option::of(Just("0.1.0".to_owned()));
    let was = (prop::option::of(any::<u64>()), version);
    was.prop_map(|(hash, picklock)| RecordedRun { hash, picklock })
}

/// A run that was recorded, or a plan that was saved, or neither.
pub fn kept() -> BoxedStrategy<(Option<Recorded>, Option<SavedPlan>)> {
    let choices = prop::collection::vec(any::<u32>(), 0..50);
    let recorded = (choices, was()).prop_map(|(choices, was)| Recorded { choices, was });
    // Whole numbers of TOML end there.
    let seed = 0..=i64::MAX.unsigned_abs();
    let saved = (seed, any::<bool>(), was());
    let saved = saved.prop_map(|(seed, drawn, was)| SavedPlan { seed, drawn, was });
    prop_oneof![
        Just((None, None)),
        recorded.prop_map(|recorded| (Some(recorded), None)),
        saved.prop_map(|saved| (None, Some(saved))),
    ]
    .boxed()
}

/// Whether a fault drops a call.
pub fn cancels(fault: &picklock_sim::plan::PlannedFault) -> bool {
    matches!(fault.inject, picklock_sim::plan::Fault::Cancel { .. })
}
