//! The runner: one case, many seeds, one outcome, whatever the number of threads.

mod story;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::outcome::{CaseOutcome, SeedOutcome, Standing};
use picklock_checker::{Broken, Counts, Evidence, Nearness, Reached, Verdict, invariants, vacuity};
use picklock_sim::broken::caught;
use picklock_sim::engine::Tape;
use picklock_sim::plan::Plan;
use picklock_sim::trace::TracedMessage;
use picklock_sim::watchdog::Named;
use picklock_sim::{Simulated, simulate_recorded, simulate_traced, simulate_with};
use rayon::prelude::*;

use crate::case_statistics::Tally;
use crate::clock::Stopwatch;
use crate::describe;
use crate::replay_command;
use crate::scenario::{Case, Expectation, Scenario, Want};
use crate::shard::Seeds;
use crate::why_never_fired::why_never_fired;

pub(crate) use story::replay_story;
pub use story::story;

/// How to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Which seeds.
    pub seeds: Seeds,
    /// Whether to run every seed twice and compare, and not only one of [`SAMPLED`].
    pub verify_determinism: bool,
}

/// What can stop a case before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Two runs of one seed differ.
    NotDeterministic {
        /// The seed.
        seed: u64,
        /// The hashes of its two runs.
        hashes: (u64, u64),
    },
    /// It was told to stop.
    Interrupted,
}

/// Seeds are handed out in blocks of this many, so that what waits to be added up stays small.
pub const BLOCK: u64 = 64;

/// The first seed of a case, and one of so many after it, runs twice even if the options do not ask for it: a recipe
/// that goes by something else than its handle and its environment is found out with the first few seeds.
pub const SAMPLED: u64 = 32;

/// Runs all seeds of a case on the threads of the current rayon pool. `progress` is called after each seed; `stop` is
/// looked at before each.
///
/// # Errors
///
/// [`Stopped`], when there is no outcome.
pub fn run_case(
    scenario: &Scenario,
    case: &Case,
    settings: &RunOptions,
    stop: &AtomicBool,
    progress: &(dyn Fn() + Sync),
) -> Result<CaseOutcome, Stopped> {
    let tally = run_seeds(scenario, case, settings, stop, progress)?;
    Ok(conclude(scenario, case, &tally))
}

/// What is seen of a case in all its seeds, run as [`run_case`] does.
///
/// # Errors
///
/// [`Stopped`], when not all of them ran.
pub fn run_seeds(
    scenario: &Scenario,
    case: &Case,
    settings: &RunOptions,
    stop: &AtomicBool,
    progress: &(dyn Fn() + Sync),
) -> Result<Tally, Stopped> {
    let mut tally = Tally::of(case, &settings.seeds);
    while run_block(scenario, case, settings, &mut tally, stop, progress)? > 0 {}
    Ok(tally)
}

/// Runs the next [`BLOCK`] seeds of a case, and adds them to what was seen before. Answers how many there were: none,
/// if all have run.
///
/// # Errors
///
/// [`Stopped`], when not all of them ran.
pub fn run_block(
    scenario: &Scenario,
    case: &Case,
    settings: &RunOptions,
    tally: &mut Tally,
    stop: &AtomicBool,
    progress: &(dyn Fn() + Sync),
) -> Result<u64, Stopped> {
    let watch = Stopwatch::start();
    let seeds = case.seeds(&settings.seeds);
    let next = tally.seeds();
    let until = seeds.len().min(next.saturating_add(BLOCK));
    let job = Arc::new(replay_command::job(scenario, case));
    let block: Vec<Result<SeedOutcome, Stopped>> = (next..until)
        .into_par_iter()
        .map(|index| {
            if stop.load(Ordering::Relaxed) {
                return Err(Stopped::Interrupted);
            }
            let seed = seeds.nth(index);
            let _named = Named::new(&job, seed);
            let twice = settings.verify_determinism || index.is_multiple_of(SAMPLED);
            let outcome = run_seed(case, seed, twice)?;
            progress();
            Ok(outcome)
        })
        .collect();
    for outcome in block {
        tally.add(seeds.shard, outcome?);
    }
    tally.spend(watch.elapsed());
    Ok(until.saturating_sub(next))
}

/// The outcome of a case: what was seen of it, compared with what was expected, and the story of what is worth telling,
/// as it was found.
pub fn conclude(scenario: &Scenario, case: &Case, tally: &Tally) -> CaseOutcome {
    let watch = Stopwatch::start();
    let mut outcome = tally.outcome(scenario, case);
    let explained = tally.run_to_explain(scenario, case);
    let story = explained.and_then(|(seed, violated)| replay_story(scenario, case, seed, violated));
    outcome.story = story.map(Box::new);
    outcome.took += watch.elapsed();
    outcome
}

/// How a run that was recorded stands, as running its file says it: the file is about this run alone, and what it
/// expects of several promises is held against all that the run shows. `None` of any other run.
pub fn standing_of_recorded(
    scenario: &Scenario,
    case: &Case,
    seen: &SeedOutcome,
) -> Option<Standing> {
    case.recorded.as_ref()?;
    let seeds = Seeds::all(0..1);
    let mut tally = Tally::of(case, &seeds);
    tally.add(seeds.shard, seen.clone());
    Some(tally.outcome(scenario, case).standing)
}

/// Runs one seed of a case: with the choices of the seed, or with those that were recorded,
/// whatever the seed.
pub fn simulated(case: &Case, seed: u64) -> Simulated {
    let (plan, tape) = plan_and_tape(case, seed);
    simulate_with(&plan, tape)
}

/// The same run as [`simulated`], with what servers do and find in its history: to be told to people.
pub fn told(case: &Case, seed: u64) -> Simulated {
    let (plan, tape) = plan_and_tape(case, seed);
    let simulated = simulate_recorded(&plan, tape);
    with_requests_of_faults(&plan, simulated)
}

/// A run of a plan once more, with what servers do and find in its history.
pub fn told_again(plan: &Plan, simulated: &Simulated) -> Simulated {
    let told = simulate_recorded(plan, Tape::recorded(simulated.choices.clone()));
    match told.hash == simulated.hash {
        true => with_requests_of_faults(plan, told),
        // A recipe that goes by something else than its handle and its environment does not do the same again.
        false => simulated.clone(),
    }
}

/// The same run as [`told`], and every message between clients and servers, and between servers.
pub fn traced(case: &Case, seed: u64) -> (Simulated, Vec<TracedMessage>) {
    let (plan, tape) = plan_and_tape(case, seed);
    let (simulated, messages) = simulate_traced(&plan, tape);
    (with_requests_of_faults(&plan, simulated), messages)
}

/// The run, with at which requests the faults of its plan strike.
fn with_requests_of_faults(plan: &Plan, mut simulated: Simulated) -> Simulated {
    let requests: Vec<_> = plan.faults.iter().map(describe::request).collect();
    if requests.iter().any(Option::is_some) {
        simulated.run.history.fault_requests = requests;
    }
    simulated
}

fn plan_and_tape(case: &Case, seed: u64) -> (Cow<'_, Plan>, Tape) {
    match &case.recorded {
        Some(recorded) => {
            let tape = Tape::recorded(recorded.choices.clone());
            (Cow::Borrowed(&case.plan), tape)
        }
        None => {
            let plan = case.plan_for(seed);
            let tape = Tape::explored(plan.network.chance, seed);
            (plan, tape)
        }
    }
}

/// Runs one seed of a case, and judges it.
///
/// # Errors
///
/// [`Stopped::NotDeterministic`], if it is run twice and the runs differ.
pub fn run_seed(case: &Case, seed: u64, twice: bool) -> Result<SeedOutcome, Stopped> {
    let done = caught(|| run_and_judge(case, seed, twice));
    done.unwrap_or_else(|why| Ok(broke_off(seed, 0, Counts::default(), why)))
}

fn run_and_judge(case: &Case, seed: u64, twice: bool) -> Result<SeedOutcome, Stopped> {
    let case = &*case.settled(seed);
    let simulated = simulated(case, seed);
    if twice {
        let again = self::simulated(case, seed).hash;
        if again != simulated.hash {
            return Err(Stopped::NotDeterministic {
                seed,
                hashes: (simulated.hash, again),
            });
        }
    }
    Ok(judge(case, seed, &simulated))
}

/// Judges a run by what its case expects. The case is settled already. Of a run that broke off, nothing is said but
/// why; neither of one that a check cannot judge without a panic.
pub fn judge(case: &Case, seed: u64, simulated: &Simulated) -> SeedOutcome {
    let judged = match simulated.broken() {
        Some(why) => Err(why.clone()),
        None => caught(|| judge_whole(case, seed, simulated)),
    };
    judged.unwrap_or_else(|why| broke_off(seed, simulated.hash, simulated.run.counts, why))
}

/// The outcome of a seed whose run broke off.
fn broke_off(seed: u64, hash: u64, counts: Counts, why: Broken) -> SeedOutcome {
    SeedOutcome {
        seed,
        hash,
        verdicts: Vec::new(),
        vacuous: None,
        vacuous_detail: None,
        excused: Vec::new(),
        moot: Vec::new(),
        reached: Reached::default(),
        nearness: Nearness::default(),
        counts,
        broken: Some(why),
    }
}

fn judge_whole(case: &Case, seed: u64, simulated: &Simulated) -> SeedOutcome {
    let evidence = Evidence::of(&simulated.run);
    let mut verdicts = verdicts(case, &evidence);
    let moot = take_moot(case, &mut verdicts);
    // No file promises that a fault that was drawn finds its moment.
    let never_fired = || vacuity::never_fired(&evidence).filter(|_| !case.drawn);
    let untried = || vacuity::untried(&evidence).filter(|_| moot.is_none());
    let (vacuous, vacuous_detail) = match (vacuity::cut_short(&evidence), never_fired()) {
        (Some(cut_short), _) => (Some(cut_short), None),
        (None, Some(reason)) => (Some(reason), why_never_fired(&case.plan, &evidence)),
        (None, None) => (untried(), None),
    };
    SeedOutcome {
        seed,
        hash: simulated.hash,
        vacuous,
        vacuous_detail,
        verdicts,
        excused: excused(case),
        moot: moot.unwrap_or_default(),
        reached: Reached::of(&evidence),
        nearness: Nearness::of(&evidence),
        counts: simulated.run.counts,
        broken: None,
    }
}

/// The verdicts on what a case looks at. What is excused says something only if it is violated where nothing excuses
/// it.
fn verdicts(case: &Case, evidence: &Evidence<'_>) -> Vec<(&'static str, Verdict)> {
    let verdicts = case.expectations.iter().filter_map(|expectation| {
        let invariant = invariants::find(expectation.invariant)?;
        let verdict = match expectation.want {
            Want::Holds | Want::Violated { .. } | Want::Undecided { .. } => {
                (invariant.check)(evidence)
            }
            Want::Excused { .. } => match invariant.inexcusable?(evidence) {
                violated @ Verdict::Violated(_) => violated,
                Verdict::Holds | Verdict::Undecided(_) => return None,
            },
            Want::Unchecked { .. } => return None,
        };
        (verdict != Verdict::Holds).then_some((invariant.name, verdict))
    });
    verdicts.collect()
}

/// Takes out what cannot be told because contenders wait in vain, as the case expects: `None`, if it does not, or they
/// do not. A contender that never gets the lock cannot hold it alone, write under it, or give a false answer.
fn take_moot(
    case: &Case,
    verdicts: &mut Vec<(&'static str, Verdict)>,
) -> Option<Vec<&'static str>> {
    let progress = verdicts.iter().find(|(name, _)| *name == "progress");
    progress.filter(|(name, verdict)| {
        let is_expected = matches!(wanted(case, name), Some(Want::Violated { .. }));
        is_expected && verdict.witness().is_some()
    })?;
    let mut moot = Vec::new();
    verdicts.retain(|(name, verdict)| {
        let is_moot = matches!(verdict, Verdict::Undecided(_))
            && matches!(wanted(case, name), Some(Want::Holds));
        moot.extend(is_moot.then_some(*name));
        !is_moot
    });
    Some(moot)
}

/// What is not looked at, or not where it is excused, because of the faults that were drawn.
fn excused(case: &Case) -> Vec<&'static str> {
    let unchecked =
        |row: &&Expectation| matches!(row.want, Want::Excused { .. } | Want::Unchecked { .. });
    let expectations = case.expectations.iter().filter(|_| case.drawn);
    let excused = expectations.filter(unchecked);
    excused.map(|row| row.invariant).collect()
}

/// What is wanted of an invariant; `None` if it is not looked at.
pub fn wanted<'c>(case: &'c Case, invariant: &str) -> Option<&'c Want> {
    let mut expectations = case.expectations.iter();
    let found = expectations.find(|expectation| expectation.invariant == invariant)?;
    match &found.want {
        Want::Unchecked { .. } => None,
        want => Some(want),
    }
}

#[cfg(test)]
mod tests;
