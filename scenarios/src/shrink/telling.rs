//! The story of a failure, told of the smallest run that fails so.

use std::sync::atomic::AtomicBool;

use picklock_checker::outcome::{CaseOutcome, Smaller, Story, Way};
use picklock_checker::{invariants, nameless};
use picklock_sim::plan::Plan;

use super::kinds::ways;
use super::{Budget, Shrunk};
use crate::clock::Stopwatch;
use crate::describe;
use crate::runner::{self, run_in_words};
use crate::scenario::{Case, Scenario};
use crate::why;

/// Shrinks runs that violate each promise that nobody expected to be violated, and tells apart how they do. The story
/// is told of the smallest that does it as the first.
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
        let Some(invariant) = invariants::find(&violation.invariant) else {
            continue;
        };
        let (ways, looked_into) = ways(case, violation, invariant, budget, stop);
        violation.looked_into = looked_into as u64;
        for way in ways {
            let (seed, shrunk) = (way.seed, &way.smallest);
            let mut told = story(scenario, &case.settled(seed), seed, shrunk);
            let first = violation.ways.is_empty();
            violation
                .ways
                .extend(told.smaller.clone().map(|smaller| Way {
                    argument: way.argument,
                    seed,
                    seeds: way.seeds,
                    some: way.some,
                    summary: shrunk.witness.summary.clone(),
                    replay: told.replay.clone(),
                    smaller,
                }));
            if first && about.as_ref() == Some(&violation.invariant) {
                // What is still large takes too long to be run so often.
                let faults = shrunk.plan.faults.len() as u64;
                let events = shrunk.simulated.run.counts.engine_events;
                let all = events.saturating_mul(why::OTHERS * (faults + 1));
                if let (Some(words), true) = (&mut told.smaller, all <= budget.events) {
                    words.needs = why::needs(&shrunk.plan, invariant, why::OTHERS, stop);
                }
                outcome.story = Some(Box::new(told));
            }
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
    Story {
        // Of the run that was found.
        replay: runner::exact_replay_command(scenario, case, seed, shrunk.was),
        smaller: Some(Smaller {
            sizes: shrunk.sizes(),
            keep: Some(shrink_command(scenario, case, seed, shrunk.invariant)),
            events: shrunk.to.events,
            shape: shape(&shrunk.plan),
            needs: Vec::new(),
        }),
        ..story
    }
}

/// The faults of a plan without names and numbers.
pub(super) fn shape(plan: &Plan) -> String {
    let faults = plan.faults.iter();
    let faults: Vec<String> = faults.map(|it| nameless(&describe::planned(it))).collect();
    faults.join("\n")
}

/// The command that shrinks a run, ready for a shell.
pub fn shrink_command(scenario: &Scenario, case: &Case, seed: u64, invariant: &str) -> String {
    let run = run_in_words(scenario, case, seed);
    format!("picklock shrink {run} --invariant {invariant}")
}
