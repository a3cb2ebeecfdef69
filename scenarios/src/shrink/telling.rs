//! The story of a failure, told of the smallest run that fails so.

use std::sync::atomic::AtomicBool;

use picklock_checker::outcome::{CaseOutcome, Smaller, Story};
use picklock_checker::{invariants, nameless};

use super::{Budget, Shrunk, shrink};
use crate::clock::Stopwatch;
use crate::describe;
use crate::runner::{self, run_in_words};
use crate::scenario::{Case, Scenario};
use crate::why;

/// Shrinks the first run that violates each promise that nobody expected to be violated. The story is told of the
/// smaller run.
pub fn shorten(
    scenario: &Scenario,
    case: &Case,
    outcome: &mut CaseOutcome,
    budget: Budget,
    stop: &AtomicBool,
) {
    let watch = Stopwatch::start();
    let about = outcome.story.as_ref().and_then(|it| it.violated.clone());
    let about = about.map(|(invariant, _)| invariant);
    for violation in outcome.violations.iter_mut().filter(|it| !it.expected) {
        let case = &*case.settled(violation.seed);
        let invariant = invariants::find(&violation.invariant);
        let shrunk = invariant.and_then(|it| shrink(case, violation.seed, it, budget, stop));
        let Some(shrunk) = shrunk else {
            continue;
        };
        let mut smaller = self::story(scenario, case, violation.seed, &shrunk);
        violation.smaller.clone_from(&smaller.smaller);
        if about.as_ref() == Some(&violation.invariant) {
            // What is still large takes too long to be run so often.
            let faults = shrunk.plan.faults.len() as u64;
            let events = shrunk.simulated.run.counts.engine_events;
            let all = events.saturating_mul(why::OTHERS * (faults + 1));
            if let (Some(words), Some(invariant), true) =
                (&mut smaller.smaller, invariant, all <= budget.events)
            {
                words.needs = why::needs(&shrunk.plan, invariant, why::OTHERS, stop);
            }
            outcome.story = Some(Box::new(smaller));
        }
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
    let faults = shrunk.plan.faults.iter();
    let faults: Vec<String> = faults.map(|it| nameless(&describe::planned(it))).collect();
    Story {
        smaller: Some(Smaller {
            sizes: shrunk.sizes(),
            keep: Some(shrink_command(scenario, case, seed, shrunk.invariant)),
            events: shrunk.to.events,
            shape: faults.join("\n"),
            needs: Vec::new(),
        }),
        ..story
    }
}

/// The command that shrinks a run, ready for a shell.
pub fn shrink_command(scenario: &Scenario, case: &Case, seed: u64, invariant: &str) -> String {
    let run = run_in_words(scenario, case, seed);
    format!("picklock shrink {run} --invariant {invariant}")
}
