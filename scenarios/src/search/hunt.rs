//! A hunt: the search that aims, until something breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picklock_checker::{Broken, Evidence, Nearness, Verdict, Witness, invariants};
use picklock_sim::Simulated;
use picklock_sim::broken::caught;
use picklock_sim::watchdog::{self, Named};
use rayon::prelude::*;

use super::cause::Cause;
use super::findings::Sorter;
use super::next_run::NextRun;
use super::portfolio::{Portfolio, SearchStrategy, StrategyShare};
use super::strategies::BasePlan;
use super::targeted;
use crate::clock::Stopwatch;
use crate::excuses::excuses;
use crate::scenario::{Case, Expectation, Want};
use crate::shrink::Mechanism;
use picklock_sim::plan::FaultKind;

pub use super::counterexample::{BrokenRun, Counterexample};

/// What a hunt came to.
#[derive(Default)]
pub struct Hunted {
    /// Runs, those without faults too.
    pub runs: u64,
    /// The first violation of each promise by each cause, in the order in which they were found.
    pub found: Vec<Counterexample>,
    /// How many runs broke a promise in further ways, of which none was kept, by promise.
    pub others: BTreeMap<&'static str, u64>,
    /// What each way to search has come to.
    pub shares: Vec<StrategyShare>,
    /// The promises that some run was looked at for: no lock keeps the others under faults like those.
    pub looked_at: BTreeSet<&'static str>,
    /// The first run that broke off, if any did.
    pub broken: Option<BrokenRun>,
}

/// When a hunt is over, and how much it keeps.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// After so many runs.
    pub runs: u64,
    /// After so long in real time, if that is not for ever: then what is found depends on the machine.
    pub time: Option<Duration>,
    /// So many findings of each promise are kept at most; when there are as many of every promise, nothing is left to
    /// find.
    pub findings: usize,
}

impl Bounds {
    /// How many findings of each promise are kept by default.
    pub const FINDINGS: usize = 4;

    /// So many runs.
    pub fn runs(runs: u64) -> Self {
        Self {
            runs,
            time: None,
            findings: Self::FINDINGS,
        }
    }
}

/// So many runs are chosen before it is looked at what comes of them, whatever the number of threads: what is found
/// must not depend on it.
pub(super) const BATCH: u64 = 16;

/// Searches the world of a case without its faults for runs that break a promise, with faults of these kinds and in
/// these ways, which share the runs. It goes on until so many runs are done, or so long, or as many findings as may be
/// kept are there of every promise that the case looks at. Each run has the next seed, and `progress` hears of it when
/// it is done. They run on the threads of the current rayon pool.
pub fn hunt(
    case: &Case,
    (kinds, ways): (&[FaultKind], &[SearchStrategy]),
    first: u64,
    bounds: Bounds,
    stop: &AtomicBool,
    progress: &(dyn Fn() + Sync),
) -> Hunted {
    let mut chase = Campaign::new(case, kinds, ways, first);
    chase.tells_causes = true;
    let promises = case.expectations.iter().filter(is_checked);
    let mut hunt = HuntState {
        promises: promises.map(|row| row.invariant).collect(),
        hunted: Hunted::default(),
        sorter: Sorter::new(bounds.findings),
        bounds,
        stop,
    };
    let watch = Stopwatch::start();
    let is_over = || {
        let in_time = bounds.time.is_none_or(|time| watch.elapsed() < time);
        !in_time || stop.load(Ordering::Relaxed)
    };
    while !(hunt.has_all() || is_over()) {
        let size = BATCH.min(bounds.runs - hunt.hunted.runs);
        for looked in chase.batch(size, &is_over, progress) {
            if hunt.has_all() {
                break;
            }
            let found = hunt.take(&looked);
            chase.learn(&looked, &found);
        }
    }
    Hunted {
        shares: chase.portfolio.shares(),
        found: hunt.sorter.found,
        others: hunt.sorter.others,
        ..hunt.hunted
    }
}

/// A portfolio at work in the world of a case.
pub(super) struct Campaign {
    base: Case,
    /// What the faults of the file take from every lock, as the case expects: that is what it shows.
    shown: Vec<&'static str>,
    portfolio: Portfolio,
    seed: u64,
    /// Whether it is worked out how a run breaks a promise.
    tells_causes: bool,
}

impl Campaign {
    pub(super) fn new(
        case: &Case,
        kinds: &[FaultKind],
        ways: &[SearchStrategy],
        first: u64,
    ) -> Self {
        let base = calm(case);
        let (plan, open) = (base.plan.clone(), base.open.clone().unwrap_or_default());
        let portfolio = Portfolio::new(ways, &BasePlan { plan, open }, kinds);
        let seed = first;
        Self {
            base,
            shown: shown(case),
            portfolio,
            seed,
            tells_causes: false,
        }
    }

    /// The next so many runs; those before the first that was not done, if it is over meanwhile. `progress` hears of
    /// each when it is done.
    pub(super) fn batch(
        &mut self,
        size: u64,
        is_over: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn() + Sync),
    ) -> Vec<RunResult> {
        let seeds = (0..size).map(|index| self.seed.wrapping_add(index));
        let turns: Vec<(SearchStrategy, NextRun, u64)> = seeds
            .take_while(|_| !is_over())
            .map(|seed| {
                let (way, turn) = self.portfolio.next(seed);
                (way, turn, seed)
            })
            .collect();
        self.seed = self.seed.wrapping_add(size);
        let (base, shown, causes) = (&self.base, &self.shown, self.tells_causes);
        let job = watchdog::current().map(|(job, _)| job);
        let turns = turns.into_par_iter();
        let looked = turns.map(|(way, turn, seed)| {
            // What had to run already is done.
            if matches!(turn, NextRun::Planned(..)) && is_over() {
                return None;
            }
            let _named = job.as_ref().map(|job| Named::new(job, seed));
            let looked = run_next((base, shown, causes), (way, turn), seed);
            progress();
            Some(looked)
        });
        let looked: Vec<Option<RunResult>> = looked.collect();
        looked.into_iter().map_while(|looked| looked).collect()
    }

    /// Learns what came of a run, and what it was the first to break.
    pub(super) fn learn(&mut self, looked: &RunResult, found: &[&'static str]) {
        let RunResult { way, nearness, .. } = looked;
        let plan = &looked.case.plan;
        self.portfolio.learn(*way, plan, *nearness, found);
    }
}

/// A run, how near it came to an overlap, and what it breaks.
pub(super) struct RunResult {
    way: SearchStrategy,
    /// The case with the plan that ran.
    pub(super) case: Case,
    /// The seed that filled the tape.
    pub(super) seed: u64,
    choices: Vec<u32>,
    nearness: Nearness,
    /// The run, if it broke off.
    pub(super) off: Option<Box<(Simulated, Broken)>>,
    /// The promises that it breaks, of those that the case looks at.
    pub(super) broken: Vec<&'static str>,
    /// How it breaks each, if that was asked for.
    causes: Vec<Cause>,
}

/// Runs what comes next, and looks at it.
fn run_next(
    (base, shown, causes): (&Case, &[&str], bool),
    (way, turn): (SearchStrategy, NextRun),
    next: u64,
) -> RunResult {
    let seed = match turn {
        NextRun::Planned(_, seed) => seed,
        NextRun::Ran(..) => next,
    };
    let (plan, simulated) = turn.run();
    let case = base.with_plan_but(plan, shown);
    let judged = match simulated.broken() {
        Some(why) => Err(why.clone()),
        None => caught(|| broken(&case, &simulated, causes)),
    };
    match judged {
        Ok((broken, causes, nearness)) => RunResult {
            way,
            broken,
            causes,
            nearness,
            case,
            seed,
            choices: simulated.choices,
            off: None,
        },
        Err(why) => RunResult {
            way,
            broken: Vec::new(),
            causes: Vec::new(),
            nearness: Nearness::default(),
            case,
            seed,
            choices: simulated.choices.clone(),
            off: Some(Box::new((simulated, why))),
        },
    }
}

/// The promises that a run breaks, how it does if that is asked for, and how near it came to an overlap.
fn broken(
    case: &Case,
    simulated: &Simulated,
    causes: bool,
) -> (Vec<&'static str>, Vec<Cause>, Nearness) {
    let evidence = Evidence::of(&simulated.run);
    let wanted = case.expectations.iter().filter(is_checked);
    let rows = wanted.filter_map(|row| invariants::find(row.invariant));
    let verdicts = invariants::check_evidence(&evidence, rows).into_iter();
    let violated =
        |(invariant, verdict): (_, Verdict)| Some((invariant, verdict.witness()?.clone()));
    let (broken, witnesses): (Vec<_>, Vec<Witness>) = verdicts.filter_map(violated).unzip();
    let cause = |witness| Cause::of(&Mechanism::of(&case.plan, simulated, witness));
    let causes = match causes {
        true => witnesses.iter().map(cause).collect(),
        false => Vec::new(),
    };
    (broken, causes, Nearness::of(&evidence))
}

/// What a case expects to be violated though no lock can keep it under the faults of the file.
pub(super) fn shown(case: &Case) -> Vec<&'static str> {
    let excused = excuses(&case.plan, &case.plan.faults);
    let violated = case.expectations.iter();
    violated
        .filter(|row| matches!(row.want, Want::Violated { .. }))
        .map(|row| row.invariant)
        .filter(|name| excused.iter().any(|excuse| excuse.invariant == *name))
        .collect()
}

/// The case without its faults, and without faults that seeds would draw. A bound on progress that a file gives is
/// meant for the faults of the file: others may need time to recover from besides.
fn calm(case: &Case) -> Case {
    let mut calm = case.clone();
    calm.plan = targeted::calm(&case.plan);
    let bound = calm.plan.workload.progress_bound;
    let recovers = calm.plan.time_to_recover();
    calm.plan.workload.progress_bound = bound.map(|bound| bound + recovers);
    calm.recorded = None;
    if let Some(open) = &mut calm.open {
        open.faults = None;
    }
    calm
}

struct HuntState<'a> {
    /// The promises that the case looks at.
    promises: Vec<&'static str>,
    hunted: Hunted,
    sorter: Sorter,
    bounds: Bounds,
    stop: &'a AtomicBool,
}

impl HuntState<'_> {
    /// Whether there are as many runs, or findings, as there may be.
    fn has_all(&self) -> bool {
        let mut promises = self.promises.iter();
        self.hunted.runs >= self.bounds.runs || promises.all(|promise| self.sorter.is_full(promise))
    }

    /// Notes a run that broke off.
    fn broke_off(&mut self, looked: &RunResult) {
        let (Some(off), after) = (&looked.off, self.hunted.runs) else {
            return;
        };
        let broken = self.hunted.broken.get_or_insert_with(|| BrokenRun {
            case: looked.case.clone(),
            seed: looked.seed,
            simulated: off.0.clone(),
            why: off.1.clone(),
            after,
            way: looked.way,
            runs: 0,
        });
        broken.runs += 1;
    }

    /// Sorts a run by how it breaks promises. Answers which it breaks in a way that is new.
    fn take(&mut self, looked: &RunResult) -> Vec<&'static str> {
        self.hunted.runs += 1;
        self.broke_off(looked);
        let wanted = looked.case.expectations.iter().filter(is_checked);
        let looked_at = &mut self.hunted.looked_at;
        looked_at.extend(wanted.map(|row| row.invariant));
        let mut kept = Vec::new();
        for (invariant, cause) in looked.broken.iter().zip(&looked.causes) {
            let run = Counterexample {
                invariant,
                case: looked.case.clone(),
                choices: looked.choices.clone(),
                after: self.hunted.runs,
                way: looked.way,
                cause: cause.clone(),
                more: 0,
            };
            if self.sorter.sort(run, self.stop) {
                kept.push(*invariant);
            }
        }
        kept
    }
}

fn is_checked(expectation: &&Expectation) -> bool {
    !matches!(
        expectation.want,
        Want::Excused { .. } | Want::Undecided { .. } | Want::Unchecked { .. }
    )
}
