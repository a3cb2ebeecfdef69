//! The story of a failure, told of the smallest run that fails so.

use std::sync::atomic::AtomicBool;

use picklock_checker::invariants;
use picklock_checker::outcome::{CaseOutcome, Smaller, Story};

use super::{Budget, Shrunk, shrink};
use crate::clock::Stopwatch;
use crate::runner::{self, run_in_words};
use crate::scenario::{Case, Scenario};

/// Shrinks the run that an outcome tells of, if it violates what nobody expected to be violated, and tells of the
/// smaller one.
pub fn shorten(
    scenario: &Scenario,
    case: &Case,
    outcome: &mut CaseOutcome,
    budget: Budget,
    stop: &AtomicBool,
) {
    let watch = Stopwatch::start();
    let Some(story) = outcome.story.as_deref_mut() else {
        return;
    };
    let about = story.violated.as_ref().map(|(invariant, _)| invariant);
    let mut unexpected = outcome.violations.iter().filter(|it| !it.expected);
    if !unexpected.any(|violation| Some(&violation.invariant) == about) {
        return;
    }
    let invariant = about.and_then(|name| invariants::find(name));
    let shrunk = invariant.and_then(|it| shrink(case, story.seed, it, budget, stop));
    if let Some(shrunk) = shrunk {
        *story = self::story(scenario, case, story.seed, &shrunk);
    }
    outcome.took += watch.elapsed();
}

/// The story of a shrunk run that was found with a seed of this case.
pub fn story(scenario: &Scenario, case: &Case, seed: u64, shrunk: &Shrunk) -> Story {
    let mut smaller = case.clone();
    smaller.plan.clone_from(&shrunk.plan);
    let outcome = runner::judge(&smaller, seed, &shrunk.simulated);
    let violated = (shrunk.invariant.to_owned(), shrunk.witness.clone());
    let simulated = shrunk.simulated.clone();
    let story = runner::story(scenario, case, simulated, &outcome, Some(violated));
    Story {
        smaller: Some(Smaller {
            sizes: shrunk.sizes(),
            keep: Some(shrink_command(scenario, case, seed, shrunk.invariant)),
        }),
        ..story
    }
}

/// The command that shrinks a run, ready for a shell.
pub fn shrink_command(scenario: &Scenario, case: &Case, seed: u64, invariant: &str) -> String {
    let run = run_in_words(scenario, case, seed);
    format!("picklock shrink {run} --invariant {invariant}")
}
