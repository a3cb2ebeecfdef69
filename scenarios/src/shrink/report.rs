//! The story of a failure, by the smallest run that fails so.

use std::sync::atomic::AtomicBool;

use picklock_checker::outcome::{CaseOutcome, DistinctFailure, ShrunkRun, Story};
use picklock_checker::{Witness, invariants};

use picklock_sim::Simulated;
use picklock_sim::plan::Plan;

use super::kinds::{shape, ways};
use super::reproduction::reproduction;
use super::search::read_back;
use super::unasked::Unasked;
use super::{Cut, Shrunk};
use crate::case_statistics::Tally;
use crate::clock::Stopwatch;
use crate::program;
use crate::replay_command::ReplayCommand;
use crate::runner;
use crate::scenario::{Case, Scenario};
use crate::why;
use crate::write;

/// The outcome of a case as [`runner::conclude`] has it; if anything is to be spent on that, with the story of the
/// smallest run that fails so.
pub fn conclude(
    scenario: &Scenario,
    case: &Case,
    tally: &Tally,
    unasked: Option<&mut Unasked<'_>>,
) -> CaseOutcome {
    let Some(unasked) = unasked else {
        return runner::conclude(scenario, case, tally);
    };
    let watch = Stopwatch::start();
    let mut outcome = tally.outcome(scenario, case);
    let explained = tally.run_to_explain(scenario, case);
    let violated = explained.iter().find_map(|(_, violated)| violated.as_ref());
    let about = violated.map(|(invariant, _)| invariant.as_str());
    let run = shorten(scenario, case, &mut outcome, about, unasked);
    outcome.story = match run {
        ToldRun::Smallest(story) => Some(story),
        ToldRun::AsFound(cut) => explained.and_then(|(seed, violated)| {
            let mut story = runner::replay_story(scenario, case, seed, violated)?;
            story.smaller = cut.map(|cut| untouched(scenario, case, &story, cut));
            Some(Box::new(story))
        }),
    };
    outcome.took += watch.elapsed();
    outcome
}

/// The run of which the story of a failure is told.
pub(super) enum ToldRun {
    /// The smallest that fails so, with its story.
    Smallest(Box<Story>),
    /// The run that was found; and why no smaller one was sought, if something kept it from being.
    AsFound(Option<Cut>),
}

/// Shrinks runs that violate each promise that was expected to hold, and tells apart how they do. Of one promise the
/// story is to be told: of the smallest run that breaks it as the first, if there is one.
pub(super) fn shorten(
    scenario: &Scenario,
    case: &Case,
    outcome: &mut CaseOutcome,
    about: Option<&str>,
    unasked: &mut Unasked<'_>,
) -> ToldRun {
    let mut run = ToldRun::AsFound(None);
    let violations = outcome.violations.iter_mut();
    for violation in violations.filter(|violation| !violation.expected) {
        let Some(invariant) = invariants::find(&violation.invariant) else {
            continue;
        };
        let is_told = about == Some(&violation.invariant);
        if let Some(cut) = unasked.is_over() {
            unasked.passes_over();
            if is_told {
                run = ToldRun::AsFound(Some(cut));
            }
            continue;
        }
        let (ways, looked_into) = ways(case, violation, invariant, unasked);
        violation.looked_into = looked_into.values().sum();
        for way in ways {
            let (seed, shrunk) = (way.seed, &way.smallest);
            let mut told = story(scenario, &case.settled(seed), seed, shrunk);
            if let Some(smaller) = &mut told.smaller {
                smaller.sizes = sizes_unasked(shrunk);
            }
            let first = violation.ways.is_empty();
            let alike = violation.alike.get(&way.argument);
            violation
                .ways
                .extend(told.smaller.clone().map(|smaller| DistinctFailure {
                    seeds: alike.map_or(0, |alike| alike.seeds),
                    looked_into: looked_into.get(&way.argument).copied().unwrap_or_default(),
                    need_these: way.need_these,
                    argument: way.argument,
                    seed,
                    summary: shrunk.witness.summary.clone(),
                    replay: told.replay.clone(),
                    smaller,
                }));
            if first && is_told {
                // What is still large takes too long to be run so often.
                let faults = shrunk.plan.faults.len() as u64;
                let events = shrunk.simulated.run.counts.engine_events;
                let all = events.saturating_mul(why::OTHERS * (faults + 1));
                if let (Some(words), true) = (&mut told.smaller, unasked.affords(all)) {
                    let is_alike = |plan: &Plan, run: &Simulated, witness: &Witness| {
                        shrunk.is_alike(plan, run, witness)
                    };
                    let of = (invariant, &is_alike as why::IsAlike<'_>);
                    let needs = |stop: &AtomicBool| why::needs(&shrunk.plan, of, why::OTHERS, stop);
                    let needs = unasked.timed(needs);
                    let needs = needs.iter().map(|need| need.describe(&shrunk.plan));
                    words.needs = needs.collect();
                }
                run = ToldRun::Smallest(Box::new(told));
            }
        }
    }
    run
}

/// What is said of a failure that is told as it was found, because nothing is left to spend on it.
fn untouched(scenario: &Scenario, case: &Case, told: &Story, cut: Cut) -> ShrunkRun {
    let again = ReplayCommand {
        scenario,
        case,
        seed: told.seed,
        hash: Some(told.hash),
    };
    let violated = told.violated.as_ref();
    let why = match cut {
        Cut::Budget | Cut::Time => {
            "not tried: what is spent unasked went into the failures before this one"
        }
        Cut::Stopped => "not tried: interrupted",
    };
    ShrunkRun {
        sizes: format!("{why}; `{} shrink` does it", program::command()),
        is_other: false,
        keep: violated.map(|(invariant, _)| again.shrink(invariant)),
        events: 0,
        shape: Vec::new(),
        needs: Vec::new(),
    }
}

/// The story of a shrunk run that was found with a seed of this case.
pub fn story(scenario: &Scenario, case: &Case, seed: u64, shrunk: &Shrunk) -> Story {
    let mut smaller = case.clone();
    smaller.plan.clone_from(&shrunk.plan);
    let outcome = runner::judge(&smaller, seed, &shrunk.simulated);
    let violated = (shrunk.invariant.to_owned(), shrunk.witness.clone());
    let simulated = runner::told_again(&shrunk.plan, &shrunk.simulated);
    let story = runner::story(scenario, case, simulated, &outcome, Some(violated));
    // Of the run that was found.
    let again = ReplayCommand {
        scenario,
        case,
        seed,
        hash: Some(shrunk.was),
    };
    let file = || {
        let written = reproduction(scenario, case, seed, shrunk);
        write(&written, &written.cases[0])
    };
    Story {
        replay: again.replay(),
        why: Some(again.why(shrunk.invariant)),
        smaller: Some(ShrunkRun {
            sizes: shrunk.sizes(),
            is_other: shrunk.has_changed(),
            keep: Some(again.shrink(shrunk.invariant)),
            events: shrunk.to.events,
            shape: shape(&shrunk.plan),
            needs: Vec::new(),
        }),
        // A case of another program may have a plan that no file can say.
        reproduction: read_back(case, &shrunk.plan).map(|_| file()),
        ..story
    }
}

/// What became of a run that is shrunk unasked, and that more may go, if it may.
pub fn sizes_unasked(shrunk: &Shrunk) -> String {
    let runs = match shrunk.tried {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let cut = match shrunk.cut {
        None => return shrunk.sizes(),
        Some(Cut::Budget) => format!("{runs} are what is spent unasked"),
        Some(Cut::Time) => format!("cut by time after {runs}, on another machine it may be less"),
        Some(Cut::Stopped) => format!("cut after {runs} by an interrupt"),
    };
    let program = program::command();
    format!("{}; {cut}; `{program} shrink` goes on", shrunk.sizes())
}
