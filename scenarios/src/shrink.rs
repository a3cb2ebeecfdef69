//! Shrinking: of a run that violates a promise, the smallest that still does.
//!
//! What is made smaller is the plan, part by part: faults, contenders, rounds, servers, then durations, which become
//! round; and at last the tape of choices, which becomes shorter and its numbers lower. Each candidate is run, and is
//! kept if it violates the *same* promise by the same [`Mechanism`]. At the end nothing can be taken away any more: no
//! fault, no contender, no choice, each taken alone. Nothing of this is left to chance, so the same run always shrinks
//! to the same.

mod changed;
mod contender_settings;
mod durations;
mod kinds;
mod limits;
mod link_faults;
mod locks;
mod lower;
mod mechanism;
mod processes;
mod report;
mod reproduction;
mod search;
mod size;
mod struck;
mod structure;
mod tape;
mod unasked;
mod violation;

use picklock_checker::{Invariant, Witness};
use picklock_sim::Simulated;
use picklock_sim::plan::Plan;

use crate::runner;
use crate::scenario::Case;
use search::Search;

pub use limits::{Budget, Cut, SearchLimit};
pub use mechanism::{Extent, Mechanism, TurningPoint};
pub use report::{conclude, sizes_unasked, story};
pub use reproduction::{broken_off, file_name, found_by_hunt, is_reproduction, reproduction};
pub use size::Size;
pub use struck::{Struck, TargetRole};
pub use unasked::{OnShrink, Unasked};

/// So many operations fit on a screen.
const FITS: u32 = 12;

/// A run that has been shrunk.
#[derive(Clone)]
pub struct Shrunk {
    /// The promise that it violates, as the run that it came from.
    pub invariant: &'static str,
    /// What is left of the plan.
    pub plan: Plan,
    /// What is left of the tape; zeros from there on.
    pub choices: Vec<u32>,
    /// The run of this plan with these choices.
    pub simulated: Simulated,
    /// What it violates, and how.
    pub witness: Witness,
    /// By which mechanism: that of the run that it came from, but for faults that it did not need.
    pub mechanism: Mechanism,
    /// What of the plan was taken away or made simpler, in this order.
    pub steps: Vec<String>,
    /// Runs that it took.
    pub tried: u32,
    /// Engine events of all these runs.
    pub events: u64,
    /// Why it ended although more may go; `None` if nothing more can be taken away.
    pub cut: Option<Cut>,
    /// The hash of the run that it came from.
    pub was: u64,
    /// How large the run was.
    pub from: Size,
    /// How large it is now.
    pub to: Size,
}

impl Shrunk {
    /// `5 contenders to 3, 4 faults to 1, 118 events to 8`
    pub fn sizes(&self) -> String {
        let sizes = self.from.to(&self.to);
        match (self.has_changed(), self.from.reads_like(&self.to)) {
            (true, false) => sizes,
            (true, true) => format!("simpler, and not smaller: {sizes}"),
            (false, _) if self.cut.is_some() => format!("not at all: {sizes}"),
            (false, _) => format!("nothing could be taken away: {sizes}"),
        }
    }

    /// Whether another run, of this plan or a smaller one, violates the promise by the same mechanism.
    pub fn is_alike(&self, plan: &Plan, simulated: &Simulated, witness: &Witness) -> bool {
        Mechanism::of(plan, simulated, witness).is(&self.mechanism, false)
    }

    /// Whether it is another run than the one that it came from.
    pub fn has_changed(&self) -> bool {
        self.simulated.hash != self.was
    }
}

/// Shrinks the run that a seed of this case gives. `None`, if it does not violate this promise.
pub fn shrink(
    case: &Case,
    seed: u64,
    invariant: &'static Invariant,
    budget: Budget,
    watch: &SearchLimit<'_>,
) -> Option<Shrunk> {
    let case = case.settled(seed);
    let choices = runner::simulated(&case, seed).choices;
    shrink_choices(&case, choices, invariant, budget, watch)
}

/// Shrinks the run of these choices. Nothing of the case may be left open.
pub fn shrink_choices(
    case: &Case,
    choices: Vec<u32>,
    invariant: &'static Invariant,
    budget: Budget,
    watch: &SearchLimit<'_>,
) -> Option<Shrunk> {
    let mut search = Search::begin(case, choices, invariant, budget, watch)?;
    loop {
        let before = search.kept();
        structure::faults(&mut search);
        search.needs_its_faults();
        structure::contenders(&mut search);
        processes::processes(&mut search);
        structure::rest(&mut search);
        durations::shorten(&mut search);
        if search.operations() > FITS {
            durations::hurry(&mut search);
        }
        tape::shorten(&mut search);
        // The last round has tried everything on what is left, and nothing worked.
        if search.kept() == before || search.is_over() {
            break;
        }
    }
    Some(search.finish())
}

/// By which mechanism the run of these choices violates a promise, with no more faults in it than it needs. Nothing
/// else is made smaller. `None`, if it does not violate this promise.
pub fn needed_faults(
    case: &Case,
    choices: Vec<u32>,
    invariant: &'static Invariant,
    budget: Budget,
    watch: &SearchLimit<'_>,
) -> Option<Mechanism> {
    let mut search = Search::begin(case, choices, invariant, budget, watch)?;
    structure::faults(&mut search);
    Some(search.finish().mechanism)
}

#[cfg(test)]
mod tests;
