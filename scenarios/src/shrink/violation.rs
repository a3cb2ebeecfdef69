//! How a run violates a promise, beside what no lock could keep.

use picklock_checker::{Evidence, Invariant, Witness};
use picklock_sim::Simulated;
use picklock_sim::plan::Plan;

use crate::excuses::excuses;

/// How a run violates a promise, or the part of it that no fault excuses, if it does.
pub(super) fn violation(
    invariant: &Invariant,
    beyond_excuse: bool,
    simulated: &Simulated,
) -> Option<Witness> {
    if simulated.broken().is_some() {
        return None;
    }
    let evidence = Evidence::of(&simulated.run);
    match beyond_excuse {
        true => invariant.violation_beyond_excuse(&evidence),
        false => invariant.violation(&evidence),
    }
}

/// Whether no lock could keep a promise under the faults of a plan.
pub(super) fn is_excused(plan: &Plan, invariant: &Invariant) -> bool {
    let mut excuses = excuses(plan, &plan.faults).into_iter();
    excuses.any(|excuse| excuse.invariant == invariant.name)
}
