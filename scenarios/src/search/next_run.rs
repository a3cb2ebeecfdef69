//! What a search does next.

use picklock_sim::plan::Plan;
use picklock_sim::{Simulated, simulate};

/// What a search does next.
pub(super) enum NextRun {
    /// A plan to run, and the seed that fills its tape.
    Planned(Plan, u64),
    /// A plan that had to be run already, because what comes next depends on what came of it.
    Ran(Plan, Box<Simulated>),
}

impl NextRun {
    /// The plan, and what came of it.
    pub(super) fn run(self) -> (Plan, Simulated) {
        match self {
            Self::Planned(plan, seed) => {
                let simulated = simulate(&plan, seed);
                (plan, simulated)
            }
            Self::Ran(plan, simulated) => (plan, *simulated),
        }
    }
}
