//! A hunt: the search that aims, until something breaks.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::{Broken, Evidence, Nearness, invariants};
use picklock_sim::Simulated;
use picklock_sim::broken::caught;
use picklock_sim::watch::{self, Named};
use rayon::prelude::*;

use super::portfolio::{Portfolio, SearchStrategy, Share};
use super::strategies::{NextRun, World};
use super::targeted;
use crate::excuses::excuses;
use crate::scenario::{Case, Expectation, Want};
use picklock_sim::plan::FaultKind;

/// What a hunt came to.
#[derive(Default)]
pub struct Hunted {
    /// Runs, those without faults too.
    pub runs: u64,
    /// The first violation of each promise, in the order in which they were found.
    pub found: Vec<Counterexample>,
    /// What each way to search has come to.
    pub shares: Vec<Share>,
    /// The promises that some run was looked at for: no lock keeps the others under faults like those.
    pub looked_at: BTreeSet<&'static str>,
    /// The first run that broke off, if any did.
    pub broken: Option<BrokenRun>,
}

/// A run that breaks a promise.
pub struct Counterexample {
    /// The promise.
    pub invariant: &'static str,
    /// The case with the plan that ran, and without what no lock can keep under it.
    pub case: Case,
    /// What chance decided.
    pub choices: Vec<u32>,
    /// How many runs it took to find.
    pub after: u64,
    /// How it was found.
    pub way: SearchStrategy,
}

/// A run that broke off.
pub struct BrokenRun {
    /// The case with the plan that ran.
    pub case: Case,
    /// The seed that filled the tape.
    pub seed: u64,
    /// The run.
    pub simulated: Simulated,
    /// Why it broke off.
    pub why: Broken,
    /// How many runs it took to find.
    pub after: u64,
    /// How it was found.
    pub way: SearchStrategy,
    /// How many runs broke off, this one included.
    pub runs: u64,
}

/// So many runs are chosen before it is looked at what comes of them, whatever the number of threads: what is found
/// must not depend on it.
pub(super) const BATCH: u64 = 16;

/// Searches the world of a case without its faults for runs that break a promise, with faults of these kinds and in
/// these ways, which share the runs. It goes on until so many runs are done, or every promise that the case looks at is
/// broken. Each run has the next seed. They run on the threads of the current rayon pool.
pub fn hunt(
    case: &Case,
    (kinds, ways): (&[FaultKind], &[SearchStrategy]),
    first: u64,
    limit: u64,
    stop: &AtomicBool,
) -> Hunted {
    let mut chase = Campaign::new(case, kinds, ways, first);
    let mut hunt = Hunt {
        promises: case.expectations.iter().filter(looked_at).count(),
        hunted: Hunted::default(),
        limit,
        stop,
    };
    while !hunt.is_over() {
        for looked in chase.batch(BATCH.min(limit - hunt.hunted.runs)) {
            if hunt.is_over() {
                break;
            }
            let found = hunt.take(&looked);
            chase.learn(&looked, &found);
        }
    }
    Hunted {
        shares: chase.portfolio.shares(),
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
        let portfolio = Portfolio::new(ways, &World { plan, open }, kinds);
        let seed = first;
        Self {
            base,
            shown: shown(case),
            portfolio,
            seed,
        }
    }

    /// The next so many runs.
    pub(super) fn batch(&mut self, size: u64) -> Vec<Looked> {
        let seeds = (0..size).map(|place| self.seed.wrapping_add(place));
        let turns: Vec<(SearchStrategy, NextRun, u64)> = seeds
            .map(|seed| {
                let (way, turn) = self.portfolio.next(seed);
                (way, turn, seed)
            })
            .collect();
        self.seed = self.seed.wrapping_add(size);
        let (base, shown) = (&self.base, &self.shown);
        let job = watch::current().map(|(job, _)| job);
        let turns = turns.into_par_iter();
        let looked = turns.map(|(way, turn, seed)| {
            let _named = job.as_ref().map(|job| Named::new(job, seed));
            look(base, shown, (way, turn), seed)
        });
        looked.collect()
    }

    /// Learns what came of a run, and what it was the first to break.
    pub(super) fn learn(&mut self, looked: &Looked, found: &[&'static str]) {
        let Looked { way, nearness, .. } = looked;
        let plan = &looked.case.plan;
        self.portfolio.learn(*way, plan, *nearness, found);
    }
}

/// A run, how near it came to an overlap, and what it breaks.
pub(super) struct Looked {
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
}

/// Runs what comes next, and looks at it.
fn look(base: &Case, shown: &[&str], (way, turn): (SearchStrategy, NextRun), next: u64) -> Looked {
    let seed = match turn {
        NextRun::Planned(_, seed) => seed,
        NextRun::Ran(..) => next,
    };
    let (plan, simulated) = turn.run();
    let case = base.with_plan_but(plan, shown);
    let judged = match simulated.broken() {
        Some(why) => Err(why.clone()),
        None => caught(|| broken(&case, &simulated)),
    };
    match judged {
        Ok((broken, nearness)) => Looked {
            way,
            broken,
            nearness,
            case,
            seed,
            choices: simulated.choices,
            off: None,
        },
        Err(why) => Looked {
            way,
            broken: Vec::new(),
            nearness: Nearness::default(),
            case,
            seed,
            choices: simulated.choices.clone(),
            off: Some(Box::new((simulated, why))),
        },
    }
}

/// The promises that a run breaks, and how near it came to an overlap.
fn broken(case: &Case, simulated: &Simulated) -> (Vec<&'static str>, Nearness) {
    let evidence = Evidence::of(&simulated.run);
    let wanted = case.expectations.iter().filter(looked_at);
    let rows = wanted.filter_map(|it| invariants::find(it.invariant));
    let verdicts = invariants::check_evidence(&evidence, rows).into_iter();
    let broken = verdicts.filter(|(_, verdict)| verdict.witness().is_some());
    let broken = broken.map(|(invariant, _)| invariant).collect();
    (broken, Nearness::of(&evidence))
}

/// What a case expects to be violated though no lock can keep it under the faults of the file.
pub(super) fn shown(case: &Case) -> Vec<&'static str> {
    let excused = excuses(&case.plan, &case.plan.faults);
    let violated = case.expectations.iter();
    violated
        .filter(|it| matches!(it.want, Want::Violated { .. }))
        .map(|it| it.invariant)
        .filter(|name| excused.iter().any(|it| it.invariant == *name))
        .collect()
}

/// The case without its faults, and without faults that seeds would draw.
fn calm(case: &Case) -> Case {
    let mut calm = case.clone();
    calm.plan = targeted::calm(&case.plan);
    calm.recorded = None;
    if let Some(open) = &mut calm.open {
        open.faults = None;
    }
    calm
}

struct Hunt<'a> {
    /// How many promises the case looks at.
    promises: usize,
    hunted: Hunted,
    limit: u64,
    stop: &'a AtomicBool,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        self.hunted.runs >= self.limit
            || self.hunted.found.len() >= self.promises
            || self.stop.load(Ordering::Relaxed)
    }

    /// Notes a run that broke off.
    fn broke_off(&mut self, looked: &Looked) {
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

    /// Takes a run for those promises that were not broken before. Answers which.
    fn take(&mut self, looked: &Looked) -> Vec<&'static str> {
        self.hunted.runs += 1;
        self.broke_off(looked);
        let wanted = looked.case.expectations.iter().filter(looked_at);
        self.hunted.looked_at.extend(wanted.map(|it| it.invariant));
        let known: Vec<&str> = self.hunted.found.iter().map(|old| old.invariant).collect();
        let mut found = looked.broken.clone();
        found.retain(|invariant| !known.contains(invariant));
        for &invariant in &found {
            self.hunted.found.push(Counterexample {
                invariant,
                case: looked.case.clone(),
                choices: looked.choices.clone(),
                after: self.hunted.runs,
                way: looked.way,
            });
        }
        found
    }
}

fn looked_at(expectation: &&Expectation) -> bool {
    !matches!(
        expectation.want,
        Want::Excused { .. } | Want::Undecided { .. } | Want::Unchecked { .. }
    )
}
