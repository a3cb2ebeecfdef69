//! The runner: one case, many seeds, one outcome, whatever the number of threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picklock_checker::outcome::{
    CaseOutcome, Finding, SeedOutcome, Standing, Story, Violation,
};
use picklock_checker::{Counts, Evidence, Verdict, invariants, metrics};
use picklock_sim::{RollingHash, Simulated, simulate};
use rayon::prelude::*;

use crate::scenario::{Case, Expectation, Measure, Scenario, Want};

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which seeds.
    pub seeds: Range<u64>,
    /// Whether to run every seed twice and compare.
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
    /// Somebody asked to stop.
    Interrupted,
}

/// Seeds are handed out in blocks of this many, so that an interrupt is heard soon and the order is kept.
const BLOCK: u64 = 64;

/// Runs all seeds of a case. `progress` is told of each block of seeds that is done; `stop` is looked at before each.
///
/// # Errors
///
/// [`Stopped`], when there is no outcome.
pub fn run_case(
    scenario: &Scenario,
    case: &Case,
    settings: &Settings,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<CaseOutcome, Stopped> {
    let started = crate::clock::Stopwatch::start();
    let mut tally = Tally::default();
    let mut next = settings.seeds.start;
    while next < settings.seeds.end {
        let until = settings.seeds.end.min(next + BLOCK);
        let block: Vec<SeedOutcome> = (next..until)
            .into_par_iter()
            .map(|seed| {
                if stop.load(Ordering::Relaxed) {
                    return Err(Stopped::Interrupted);
                }
                run_seed(case, seed, settings.verify_determinism)
            })
            .collect::<Result<_, _>>()?;
        for outcome in block {
            tally.add(outcome);
        }
        progress(until - next);
        next = until;
    }
    Ok(tally.outcome(scenario, case, started.elapsed()))
}

/// Runs one seed of a case, and judges it.
///
/// # Errors
///
/// [`Stopped::NotDeterministic`], if it is run twice and the runs differ.
pub fn run_seed(case: &Case, seed: u64, twice: bool) -> Result<SeedOutcome, Stopped> {
    let simulated = simulate(&case.plan, seed);
    if twice {
        let again = simulate(&case.plan, seed).hash;
        if again != simulated.hash {
            return Err(Stopped::NotDeterministic { seed, hashes: (simulated.hash, again) });
        }
    }
    Ok(judge(case, seed, &simulated))
}

/// Judges a run by what its case expects.
pub fn judge(case: &Case, seed: u64, simulated: &Simulated) -> SeedOutcome {
    let wanted = case.expectations.iter().filter_map(|expectation| match expectation.want {
        Want::Holds | Want::Violated { .. } => invariants::find(expectation.invariant),
        Want::Unchecked { .. } => None,
    });
    let evidence = Evidence::of(&simulated.run);
    SeedOutcome {
        seed,
        hash: simulated.hash,
        verdicts: invariants::check_evidence(&evidence, wanted),
        vacuous: picklock_checker::vacuous_evidence(&evidence),
        counts: simulated.run.counts,
    }
}

/// What has been seen of a case so far.
#[derive(Default)]
struct Tally {
    seeds: u64,
    hash: RollingHash,
    counts: Counts,
    undecided: BTreeMap<String, u64>,
    /// By invariant: how many seeds left it undecided, and why first.
    unknown: BTreeMap<&'static str, (u64, String)>,
    violated: BTreeMap<&'static str, Seen>,
}

struct Seen {
    seed: u64,
    found_after: u64,
    seeds: u64,
    witness: picklock_checker::Witness,
}

impl Tally {
    fn add(&mut self, outcome: SeedOutcome) {
        self.seeds += 1;
        self.hash.mix(outcome.hash);
        self.counts.add(&outcome.counts);
        if let Some(reason) = outcome.vacuous {
            *self.undecided.entry(reason).or_default() += 1;
        }
        for (invariant, verdict) in outcome.verdicts {
            match verdict {
                Verdict::Holds => {}
                Verdict::Undecided(reason) => {
                    self.unknown.entry(invariant).or_insert((0, reason)).0 += 1;
                }
                Verdict::Violated(witness) => {
                    let seen = self.violated.entry(invariant).or_insert(Seen {
                        seed: outcome.seed,
                        found_after: self.seeds,
                        seeds: 0,
                        witness: *witness,
                    });
                    seen.seeds += 1;
                }
            }
        }
    }

    fn outcome(mut self, scenario: &Scenario, case: &Case, took: Duration) -> CaseOutcome {
        let mut findings: Vec<Finding> =
            case.expectations.iter().filter_map(|expected| self.finding(expected)).collect();
        let metrics: BTreeMap<String, f64> = metrics::METRICS
            .iter()
            .filter_map(|metric| Some((metric.name.to_owned(), (metric.value)(&self.counts)?)))
            .collect();
        findings.extend(case.measures.iter().map(|measure| measured(measure, &metrics)));
        let standing =
            findings.iter().map(|finding| finding.standing).max().unwrap_or(Standing::Holds);
        let violations = self.violations(case);
        let story = violations
            .iter()
            .find(|violation| !violation.expected)
            .or_else(|| violations.first())
            .map(|violation| Box::new(tell(scenario, case, violation)));
        for (invariant, (seeds, reason)) in self.unknown {
            let reason = format!("{invariant}: {reason}");
            *self.undecided.entry(reason).or_default() += seeds;
        }
        CaseOutcome {
            scenario: scenario.name.clone(),
            case: case.name.clone(),
            algorithm: case.algorithm.name.to_owned(),
            standing,
            findings,
            violations,
            seeds: self.seeds,
            undecided: self.undecided,
            hash: self.hash.value(),
            metrics,
            took,
            story,
        }
    }

    fn violations(&self, case: &Case) -> Vec<Violation> {
        invariants::INVARIANTS
            .iter()
            .filter_map(|invariant| {
                let seen = self.violated.get(invariant.name)?;
                let expected = case.expectations.iter().any(|expectation| {
                    expectation.invariant == invariant.name
                        && matches!(expectation.want, Want::Violated { .. })
                });
                Some(Violation {
                    invariant: invariant.name.to_owned(),
                    seed: seen.seed,
                    found_after: seen.found_after,
                    seeds: seen.seeds,
                    expected,
                    witness: seen.witness.clone(),
                })
            })
            .collect()
    }

    /// How an expectation stands; `None` for one that is not checked.
    fn finding(&self, expected: &Expectation) -> Option<Finding> {
        let name = expected.invariant;
        let seen = self.violated.get(name);
        let (standing, line) = match (&expected.want, seen) {
            (Want::Unchecked { .. }, _) => return None,
            (Want::Holds, Some(seen)) => (
                Standing::Fail,
                format!("{name} violated at seed {}: {}", seen.seed, seen.witness.summary),
            ),
            (Want::Holds, None) => match self.in_doubt(name) {
                None => (Standing::Holds, format!("{name} holds")),
                Some(doubt) => (Standing::Undecided, format!("{name}: {doubt}")),
            },
            (Want::Violated { because, within_seeds }, Some(seen)) => {
                if seen.found_after <= *within_seeds {
                    let line = format!("{name} violated at seed {}: {because}", seen.seed);
                    (Standing::AsExpected, line)
                } else {
                    let line = format!(
                        "{name} was to be violated within {}, and was after {}",
                        seeds(*within_seeds),
                        seen.found_after
                    );
                    (Standing::Fail, line)
                }
            }
            (Want::Violated { within_seeds, .. }, None) => {
                let within = seeds(*within_seeds);
                if let Some(doubt) = self.in_doubt(name) {
                    (Standing::Undecided, format!("{name}: {doubt}"))
                } else if self.seeds < *within_seeds {
                    let line = format!(
                        "{name} is to be violated within {within}, and only {} run",
                        if self.seeds == 1 { "1 was".to_owned() } else { format!("{} were", self.seeds) }
                    );
                    (Standing::Undecided, line)
                } else {
                    let line = format!("{name} was to be violated within {within}, and held");
                    (Standing::Fail, line)
                }
            }
        };
        Some(Finding { name: name.to_owned(), standing, line })
    }

    /// Why nothing can be said of an invariant, if so.
    fn in_doubt(&self, invariant: &str) -> Option<String> {
        let vacuous = self.undecided.iter().next().map(|(reason, seeds)| (*seeds, reason));
        let unknown = self.unknown.get(invariant).map(|(seeds, reason)| (*seeds, reason));
        let (seeds, reason) = vacuous.or(unknown)?;
        Some(format!("{reason} ({seeds} of {} seeds)", self.seeds))
    }
}

fn measured(measure: &Measure, metrics: &BTreeMap<String, f64>) -> Finding {
    let name = measure.metric;
    let (standing, line) = match metrics.get(name) {
        None => (Standing::Undecided, format!("{name}: nothing was counted")),
        Some(value) => {
            let too_low = measure.at_least.filter(|least| value < least);
            let too_high = measure.at_most.filter(|most| value > most);
            match (too_low, too_high) {
                (Some(least), _) => {
                    (Standing::Fail, format!("{name} {value:.2}, expected at least {least}"))
                }
                (None, Some(most)) => {
                    (Standing::Fail, format!("{name} {value:.2}, expected at most {most}"))
                }
                (None, None) => (Standing::Holds, format!("{name} {value:.2}")),
            }
        }
    };
    Finding { name: name.to_owned(), standing, line }
}

/// Runs a seed again to tell its story.
fn tell(scenario: &Scenario, case: &Case, violation: &Violation) -> Story {
    let simulated = simulate(&case.plan, violation.seed);
    let outcome = judge(case, violation.seed, &simulated);
    let also = outcome
        .verdicts
        .iter()
        .filter(|(name, verdict)| *name != violation.invariant && verdict.witness().is_some())
        .map(|(name, _)| (*name).to_owned())
        .collect();
    Story {
        seed: violation.seed,
        hash: simulated.hash,
        violated: Some((violation.invariant.clone(), violation.witness.clone())),
        also,
        history: simulated.run.history,
        replay: replay_command(scenario, case, violation.seed),
    }
}

/// The command that shows a run again.
pub fn replay_command(scenario: &Scenario, case: &Case, seed: u64) -> String {
    format!("picklock replay {} --case {} --seed {seed}", scenario.name, case.name)
}

fn seeds(number: u64) -> String {
    if number == 1 { "1 seed".to_owned() } else { format!("{number} seeds") }
}
