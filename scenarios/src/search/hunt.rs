//! A hunt: the search that aims, until something breaks.

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_checker::{Evidence, Verdict, invariants};
use picklock_sim::engine::Tape;
use picklock_sim::plan::Plan;
use picklock_sim::{Simulated, simulate_seen, simulate_with};

use super::aim;
use crate::kind::FaultKind;
use crate::scenario::{Case, Want};

/// What a hunt came to.
#[derive(Default)]
pub struct Hunted {
    /// Runs, those without faults too.
    pub runs: u64,
    /// The first violation of each promise, in the order in which they were found.
    pub found: Vec<Quarry>,
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
}

/// Learns from a run of the world of a case without its faults which moments there are, tries faults of these kinds at
/// them, the most promising first, and begins anew with the next seed when all were tried. It goes on until so many
/// runs are done, or every promise that the case looks at is broken.
pub fn hunt(case: &Case, kinds: &[FaultKind], first: u64, limit: u64, stop: &AtomicBool) -> Hunted {
    let mut hunt = Hunt {
        base: calm(case),
        hunted: Hunted::default(),
        limit,
        stop,
    };
    let mut seed = first;
    while !hunt.is_over() {
        let world = hunt.base.plan_for(seed).into_owned();
        let (simulated, seen) = simulate_seen(&world, Tape::explored(world.network.chance, seed));
        hunt.look(&world, simulated);
        let possible = FaultKind::possible_in(&world, kinds);
        let shots = aim::shots(&world, &seen, &possible);
        for shot in shots.order().map(|place| &shots.plans[place]) {
            if hunt.is_over() {
                break;
            }
            seed += 1;
            let simulated = simulate_with(shot, Tape::explored(shot.network.chance, seed));
            hunt.look(shot, simulated);
        }
        seed += 1;
    }
    hunt.hunted
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
        let looked_at =
            |it: &&crate::scenario::Expectation| !matches!(it.want, Want::Unchecked { .. });
        let promises = self.base.expectations.iter().filter(looked_at).count();
        self.hunted.runs >= self.limit
            || self.hunted.found.len() >= promises
            || self.stop.load(Ordering::Relaxed)
    }

    /// Looks at a run for promises that were not broken before.
    fn look(&mut self, plan: &Plan, simulated: Simulated) {
        self.hunted.runs += 1;
        let case = self.base.with_plan(plan.clone());
        let evidence = Evidence::of(&simulated.run);
        let looked_at = case.expectations.iter();
        let looked_at = looked_at.filter(|it| !matches!(it.want, Want::Unchecked { .. }));
        let new = looked_at.filter(|it| {
            self.hunted
                .found
                .iter()
                .all(|old| old.invariant != it.invariant)
        });
        let rows: Vec<_> = new
            .filter_map(|it| invariants::find(it.invariant))
            .collect();
        for (invariant, verdict) in invariants::check_evidence(&evidence, rows) {
            if let Verdict::Violated(_) = verdict {
                self.hunted.found.push(Quarry {
                    invariant,
                    case: case.clone(),
                    choices: simulated.choices.clone(),
                    after: self.hunted.runs,
                });
            }
        }
    }
}
