//! A hunt: the search that aims, until something breaks.

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::{Evidence, Nearness, Verdict, invariants};
use picklock_sim::Simulated;
use picklock_sim::plan::Plan;

use super::aim;
use super::portfolio::{Portfolio, Share, Way};
use super::scouts::World;
use crate::kind::FaultKind;
use crate::scenario::{Case, Expectation, Want};

/// What a hunt came to.
#[derive(Default)]
pub struct Hunted {
    /// Runs, those without faults too.
    pub runs: u64,
    /// The first violation of each promise, in the order in which they were found.
    pub found: Vec<Quarry>,
    /// What each way to search has come to.
    pub shares: Vec<Share>,
}

/// A run that breaks a promise.
pub struct Quarry {
    /// The promise.
    pub invariant: &'static str,
    /// The case with the plan that ran, and without what no lock can keep under it.
    pub case: Case,
    /// What chance decided.
    pub choices: Vec<u32>,
    /// How many runs it took to find.
    pub after: u64,
    /// How it was found.
    pub way: Way,
}

/// Searches the world of a case without its faults for runs that break a promise, with faults of these kinds and in
/// these ways, which share the runs. It goes on until so many runs are done, or every promise that the case looks at is
/// broken. Each run has the next seed.
pub fn hunt(
    case: &Case,
    (kinds, ways): (&[FaultKind], &[Way]),
    first: u64,
    limit: u64,
    stop: &AtomicBool,
) -> Hunted {
    let base = calm(case);
    let (plan, open) = (base.plan.clone(), base.open.clone().unwrap_or_default());
    let mut portfolio = Portfolio::new(ways, &World { plan, open }, kinds);
    let mut hunt = Hunt {
        base,
        hunted: Hunted::default(),
        limit,
        stop,
    };
    let mut seed = first;
    while !hunt.is_over() {
        let (way, plan, simulated) = portfolio.run(seed);
        let (nearness, found) = hunt.look(way, &plan, simulated);
        portfolio.learn(way, &plan, nearness, &found);
        seed = seed.wrapping_add(1);
    }
    let shares = portfolio.shares();
    Hunted {
        shares,
        ..hunt.hunted
    }
}

/// The case without its faults, and without faults that seeds would draw.
fn calm(case: &Case) -> Case {
    let mut calm = case.clone();
    calm.plan = aim::calm(&case.plan);
    calm.recorded = None;
    if let Some(open) = &mut calm.open {
        open.faults = None;
    }
    calm
}

struct Hunt<'a> {
    base: Case,
    hunted: Hunted,
    limit: u64,
    stop: &'a AtomicBool,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        let promises = self.base.expectations.iter().filter(looked_at).count();
        self.hunted.runs >= self.limit
            || self.hunted.found.len() >= promises
            || self.stop.load(Ordering::Relaxed)
    }

    /// Looks at a run for promises that were not broken before: how near it came to an overlap, and what it breaks.
    fn look(
        &mut self,
        way: Way,
        plan: &Plan,
        simulated: Simulated,
    ) -> (Nearness, Vec<&'static str>) {
        self.hunted.runs += 1;
        let case = self.base.with_plan(plan.clone());
        let evidence = Evidence::of(&simulated.run);
        let known: Vec<&str> = self.hunted.found.iter().map(|old| old.invariant).collect();
        let new = case.expectations.iter().filter(looked_at);
        let new = new.filter(|it| !known.contains(&it.invariant));
        let rows: Vec<_> = new
            .filter_map(|it| invariants::find(it.invariant))
            .collect();
        let mut found = Vec::new();
        for (invariant, verdict) in invariants::check_evidence(&evidence, rows) {
            if let Verdict::Violated(_) = verdict {
                found.push(invariant);
                self.hunted.found.push(Quarry {
                    invariant,
                    case: case.clone(),
                    choices: simulated.choices.clone(),
                    after: self.hunted.runs,
                    way,
                });
            }
        }
        (Nearness::of(&evidence), found)
    }
}

fn looked_at(expectation: &&Expectation) -> bool {
    !matches!(expectation.want, Want::Unchecked { .. })
}
