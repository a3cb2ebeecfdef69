//! A cell of the matrix: what the runs of an algorithm under a class of faults have shown.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use picklock_algorithms::{FaultClass, hazards};
use picklock_checker::{Broken, Evidence, Invariant, Verdict, Witness, invariants, vacuity};
use picklock_sim::broken::caught;
use picklock_sim::simulate;
use picklock_sim::watchdog::Named;

use super::word::Word;
use crate::excuses::excuses;
use crate::replay_command::job;
use crate::scenario::{Case, Scenario, Want};

/// With fewer runs that can tell, a cell is undecided, unless something was seen.
const LEAST: u64 = 8;

/// What was seen beside what is claimed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The algorithm claims that it does not happen.
    ClaimBroken,
    /// The algorithm does not claim to keep this under faults of this class.
    NotClaimed {
        /// The scenario of the library that shows it, if it is a hazard of it; else its swarm says so.
        scenario: Option<&'static str>,
        /// Why not.
        because: String,
    },
    /// No lock keeps it under the faults that were drawn.
    Excused,
}

/// A promise that some runs of a cell broke.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// In a word.
    pub word: Word,
    /// The promise.
    pub invariant: &'static str,
    /// Beside what is claimed.
    pub standing: Standing,
    /// In how many runs.
    pub runs: u64,
    /// The run to look at: of those with the fewest faults, the first.
    pub seed: u64,
    /// Its hash.
    pub hash: u64,
    /// What happened in it, in one line.
    pub summary: String,
    /// Its faults, in words.
    pub faults: Vec<String>,
}

/// What the runs of an algorithm under a class of faults have shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// How many runs there were.
    pub seeds: u64,
    /// How many of them tell something: a fault of the class has struck, and a contender has waited.
    pub told: u64,
    /// What was seen: the worst first.
    pub findings: Vec<Finding>,
    /// Why the cell is undecided, if it is.
    pub undecided: Option<String>,
    /// The first run that broke off, and why.
    pub broken_off: Option<(u64, Broken)>,
}

impl Cell {
    /// The word of the cell: of what the algorithm claims, the worst that was seen; else of everything.
    pub fn word(&self) -> Word {
        let broken = |finding: &&Finding| finding.standing == Standing::ClaimBroken;
        let worst = self.findings.iter().find(broken).or(self.findings.first());
        match (worst, &self.undecided) {
            (Some(finding), _) => finding.word,
            (None, Some(_)) => Word::Undecided,
            (None, None) => Word::Safe,
        }
    }
}

/// A promise that a run breaks.
struct Broke {
    invariant: &'static str,
    is_excused: bool,
    summary: String,
}

/// What one run has shown.
#[derive(Default)]
struct Seen {
    seed: u64,
    hash: u64,
    struck: bool,
    idle: Option<String>,
    broke: Vec<Broke>,
    /// Which invariants it decides.
    decided: Vec<&'static str>,
    faults: Vec<String>,
    broken_off: Option<Broken>,
}

/// Runs the seeds of a cell, on this thread. `None`, if `stop` is set.
pub fn measure(
    scenario: &Scenario,
    case: &Case,
    class: FaultClass,
    seeds: Range<u64>,
    stop: &AtomicBool,
) -> Option<Cell> {
    let job = Arc::new(job(scenario, case));
    let seen = seeds.map(|seed| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let _named = Named::new(&job, seed);
        let seen = caught(|| look(case, class, seed));
        Some(seen.unwrap_or_else(|why| Seen {
            seed,
            broken_off: Some(why),
            ..Seen::default()
        }))
    });
    Some(sum(case, class, &seen.collect::<Option<Vec<_>>>()?))
}

fn look(case: &Case, class: FaultClass, seed: u64) -> Seen {
    let plan = case.plan_for(seed);
    let simulated = simulate(&plan, seed).whole();
    let evidence = Evidence::of(&simulated.run);
    let mut seen = Seen {
        seed,
        hash: simulated.hash,
        struck: class == FaultClass::None || !evidence.faults.is_empty(),
        idle: vacuity::idle(&evidence),
        faults: plan.faults.iter().map(|fault| fault.text.clone()).collect(),
        ..Seen::default()
    };
    let excused: Vec<&str> = excuses(&plan, &plan.faults)
        .iter()
        .map(|row| row.invariant)
        .collect();
    for expectation in &case.expectations {
        let Some(invariant) = invariants::find(expectation.invariant) else {
            continue;
        };
        match (invariant.check)(&evidence) {
            Verdict::Holds => seen.decided.push(invariant.name),
            Verdict::Undecided(_) => {}
            Verdict::Violated(witness) => {
                let may = excused.contains(&invariant.name);
                seen.broke
                    .push(weighed(&evidence, invariant, may, *witness));
            }
        }
    }
    seen
}

/// A violation, and whether the faults excuse it.
fn weighed(
    evidence: &Evidence<'_>,
    invariant: &Invariant,
    may_be_excused: bool,
    witness: Witness,
) -> Broke {
    let beyond = may_be_excused
        .then(|| invariant.violation_beyond_excuse(evidence))
        .flatten();
    Broke {
        invariant: invariant.name,
        is_excused: may_be_excused && beyond.is_none(),
        summary: beyond.unwrap_or(witness).summary,
    }
}

fn sum(case: &Case, class: FaultClass, seen: &[Seen]) -> Cell {
    let struck = || {
        seen.iter()
            .filter(|run| run.struck && run.broken_off.is_none())
    };
    let tells = |run: &&Seen| run.idle.is_none() || !run.broke.is_empty();
    let told = struck().filter(tells).count() as u64;
    let mut broke: BTreeMap<(&'static str, bool), Vec<(&Seen, &Broke)>> = BTreeMap::new();
    for run in struck() {
        for flaw in &run.broke {
            let of_kind = broke.entry((flaw.invariant, flaw.is_excused)).or_default();
            of_kind.push((run, flaw));
        }
    }
    let findings = broke
        .into_iter()
        .filter_map(|((invariant, excused), runs)| {
            let (run, broke) = runs
                .iter()
                .min_by_key(|(run, _)| (run.faults.len(), run.seed))?;
            Some(Finding {
                word: Word::of(invariant, excused)?,
                invariant,
                standing: standing(case, class, invariant, excused),
                runs: runs.len() as u64,
                seed: run.seed,
                hash: run.hash,
                summary: broke.summary.clone(),
                faults: run.faults.clone(),
            })
        });
    let mut findings: Vec<Finding> = findings.collect();
    findings.sort_by(|one, other| (one.word, &one.standing).cmp(&(other.word, &other.standing)));
    let broken_off = seen
        .iter()
        .find_map(|run| Some((run.seed, run.broken_off.clone()?)));
    Cell {
        seeds: seen.len() as u64,
        told,
        undecided: undecided(case, seen, told),
        findings,
        broken_off,
    }
}

fn standing(case: &Case, class: FaultClass, invariant: &str, excused: bool) -> Standing {
    let found = case
        .expectations
        .iter()
        .find(|expectation| expectation.invariant == invariant);
    match found.map(|expectation| &expectation.want) {
        _ if excused => Standing::Excused,
        Some(Want::Unchecked { because }) => Standing::NotClaimed {
            scenario: hazards::find(&case.algorithm, class, invariant).map(|row| row.scenario),
            because: because.clone().unwrap_or_default(),
        },
        _ => Standing::ClaimBroken,
    }
}

/// Why the runs cannot tell that everything held, if so.
fn undecided(case: &Case, seen: &[Seen], told: u64) -> Option<String> {
    let all = seen.len() as u64;
    let struck = seen.iter().filter(|run| run.struck).count();
    if told < LEAST.min(all).max(1) {
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for reason in seen
            .iter()
            .filter(|run| run.struck)
            .filter_map(|run| run.idle.as_deref())
        {
            *reasons.entry(reason).or_default() += 1;
        }
        let most = reasons.into_iter().max_by_key(|(_, runs)| *runs);
        return Some(match most {
            Some((reason, _)) => format!("only {told} of {all} runs tell: {reason}"),
            None => format!("a fault struck in only {struck} of {all} runs"),
        });
    }
    let decided: BTreeSet<&str> = seen
        .iter()
        .filter(|run| run.struck)
        .flat_map(|run| run.decided.iter().copied())
        .collect();
    let never = case.expectations.iter().map(|row| row.invariant);
    let never: Vec<&str> = never.filter(|name| !decided.contains(name)).collect();
    let main = ["mutual-exclusion", "progress", "barrier"];
    let lacks = never.iter().find(|name| main.contains(name))?;
    Some(format!("no run decides {lacks}"))
}
