//! A plan that is changed in one place.

use picklock_sim::plan::Plan;

use super::search::Change;

/// The plan with this change, and what it is.
pub(super) fn with(what: String, plan: &Plan, change: impl FnOnce(&mut Plan)) -> Change {
    let mut plan = plan.clone();
    change(&mut plan);
    Change { what, plan }
}
