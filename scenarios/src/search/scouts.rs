//! Scouts: each comes by the plans of a search in a way of its own, one run after the other.

use picklock_sim::engine::Tape;
use picklock_sim::plan::{Plan, Strategy};
use picklock_sim::{Simulated, simulate, simulate_seen};

use super::aim;
use crate::generate;
use crate::kind::FaultKind;
use crate::open::{AnyFaults, Open};

/// Learns from a run without faults which moments there are, tries faults at them, and begins anew when all were tried.
pub(super) struct Aimed {
    world: World,
    kinds: Vec<FaultKind>,
    shots: Vec<Plan>,
    /// The places of those that are still to come.
    next: std::vec::IntoIter<usize>,
    /// How many come before everything has had its turn.
    sample: usize,
}

/// A plan without faults, and what else of it is left open.
#[derive(Clone)]
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) open: Open,
}

/// Shots in one world before another is drawn, where the world is open: what it is like matters as much as what breaks.
const SHOTS: usize = 4;

impl Aimed {
    pub(super) fn new(world: World, kinds: Vec<FaultKind>) -> Self {
        Self {
            world,
            kinds,
            shots: Vec::new(),
            next: Vec::new().into_iter(),
            sample: 0,
        }
    }

    /// The next run: the plan, and what came of it.
    pub(super) fn run(&mut self, seed: u64) -> (Plan, Simulated) {
        if let Some(place) = self.next.next() {
            let plan = self.shots[place].clone();
            let simulated = simulate(&plan, seed);
            return (plan, simulated);
        }
        let World { plan, open } = &self.world;
        let world = generate::draw(plan, open, seed);
        let (simulated, seen) = simulate_seen(&world, Tape::explored(world.network.chance, seed));
        let possible = FaultKind::possible_in(&world, &self.kinds);
        let shots = aim::shots(&world, &seen, &possible);
        let most = if open.is_open() { SHOTS } else { usize::MAX };
        let order: Vec<usize> = shots.order().take(most).collect();
        self.sample = shots.sample.min(order.len());
        self.next = order.into_iter();
        self.shots = shots.plans;
        (world, simulated)
    }

    /// How many runs a first look at everything takes, the one that teaches apart.
    pub(super) fn sample(&self) -> usize {
        self.sample
    }
}

/// Draws faults of some kinds anew for each run, with one strategy of chance.
pub(super) struct Drawn {
    world: World,
}

impl Drawn {
    pub(super) fn new(mut world: World, kinds: Vec<FaultKind>, chance: Strategy) -> Self {
        let at_most = AnyFaults::AT_MOST;
        world.open.faults = Some(AnyFaults { kinds, at_most });
        world.open.chance.clear();
        world.plan.network.chance = chance;
        Self { world }
    }

    /// The next run: the plan, and what came of it.
    pub(super) fn run(&mut self, seed: u64) -> (Plan, Simulated) {
        let World { plan, open } = &self.world;
        let plan = generate::draw(plan, open, seed);
        let simulated = simulate(&plan, seed);
        (plan, simulated)
    }
}
