//! What a run says that it has left out: cases that did not run, seeds, and failures that were not shrunk.

use crate::checker::outcome::ScenarioOutcome;
use crate::reports::words::count;
use crate::scenarios::{Scenario, program};

/// Says how many cases did not run because one failed.
pub(super) fn describe_left(scenarios: &[Scenario], outcomes: &[ScenarioOutcome]) -> String {
    let all: usize = scenarios.iter().map(|scenario| scenario.cases.len()).sum();
    let ran: usize = outcomes.iter().map(|outcome| outcome.cases.len()).sum();
    match all.saturating_sub(ran) as u64 {
        0 => String::new(),
        left => format!(
            "  Ended by the first failure (--fail-fast): {} did not run.\n",
            count(left, "other case")
        ),
    }
}

/// Says of how many broken promises no smaller run was looked for, and why.
pub(super) fn describe_unshrunk(untouched: u32) -> String {
    if untouched == 0 {
        return String::new();
    }
    let promises = count(untouched.into(), "broken promise");
    format!(
        "  {promises} not shrunk: that ends after a few seconds in all. `{} shrink` makes each\n  \
         smaller.\n",
        program::command()
    )
}

/// Says how many cases took fewer seeds than were asked for, because their files say that these are enough.
pub(super) fn describe_fewer_seeds(outcomes: &[ScenarioOutcome]) -> String {
    let cases = outcomes.iter().flat_map(|scenario| &scenario.cases);
    match cases.filter(|case| case.seeds_at_most.is_some()).count() as u64 {
        0 => String::new(),
        some => format!(
            "  Fewer seeds of {}, by `seeds-at-most` of their files; --all-seeds takes all.\n",
            count(some, "case")
        ),
    }
}
