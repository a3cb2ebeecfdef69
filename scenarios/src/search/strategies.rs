//! Search strategies: each chooses the next plan to run in a way of its own.

use picklock_sim::engine::Tape;
use picklock_sim::plan::{FaultKind, Plan, Strategy};
use picklock_sim::{SeenMoment, Simulated, simulate_seen};

use super::aftermath::Aftermath;
use super::candidate::Candidate;
use super::fault_targets::depends_on_server;
use super::next_run::NextRun;
use super::profile::Profile;
use super::targeted::{self, CandidatePlans, TOGETHER, TryOrder};
use crate::generate;
use crate::sampled_parameters::{AnyFaults, SampledParameters};

/// Learns from a run without faults which moments there are, tries faults at them, and begins again when all were
/// tried. Where the world is open, another is drawn after two, and a third before it learns again: what a world is like
/// matters as much as what breaks, and what fits one mostly fits the next. Two lessons of three are of the busiest
/// worlds there are: without contention, little breaks.
pub(super) struct Aimed {
    world: BasePlan,
    kinds: Vec<FaultKind>,
    /// The most promising of what there is to try: as many as were worked out so far.
    pub(super) shots: Vec<Candidate>,
    /// In which order they are tried.
    order: TryOrder,
    /// What more of them are worked out from, if more than one is to be tried.
    lesson: Option<Lesson>,
    /// What chance is like in the world.
    drawn: Strategy,
    /// How many come before everything has had its turn.
    sample: usize,
    /// How many runs have taught.
    lessons: usize,
    /// How many have been tried since.
    tried: usize,
    /// The seed of the run that taught.
    taught: u64,
    /// What comes after one fault; every second turn, when the most promising have had theirs.
    aftermath: Aftermath,
    /// Turns so far.
    turns: usize,
}

/// So many single faults are tried before what comes after one is.
const FIRST_LOOK: usize = 8;

/// A world without faults, the moments of a run of it, and what may be tried at them.
struct Lesson {
    world: Plan,
    seen: Vec<SeenMoment>,
    kinds: Vec<FaultKind>,
    /// So many plans are worked out at most.
    most: usize,
}

impl Lesson {
    /// The plans, the most promising first.
    fn shots(&self) -> CandidatePlans {
        let profile = Profile::of(&self.world, &self.seen);
        targeted::shots(&profile, &self.kinds, self.most)
    }
}

/// A plan without faults, and what else of it is left open.
#[derive(Clone)]
pub(super) struct BasePlan {
    pub(super) plan: Plan,
    pub(super) open: SampledParameters,
}

impl Aimed {
    pub(super) fn new(world: BasePlan, kinds: Vec<FaultKind>) -> Self {
        Self {
            world,
            kinds,
            shots: Vec::new(),
            order: TryOrder::nothing(),
            lesson: None,
            drawn: Strategy::Even,
            sample: 0,
            lessons: 0,
            tried: 0,
            taught: 0,
            aftermath: Aftermath::default(),
            turns: 0,
        }
    }

    /// The next run: the plan, and what came of it.
    pub(super) fn run(&mut self, seed: u64) -> (Plan, Simulated) {
        self.next(seed).run()
    }

    /// What comes next. What teaches is run at once.
    pub(super) fn next(&mut self, seed: u64) -> NextRun {
        self.turns += 1;
        let looked_around = self.lessons > 1 || self.tried >= FIRST_LOOK;
        if looked_around
            && self.turns.is_multiple_of(2)
            && let Some(next) = self.aftermath.next(&self.kinds, self.drawn, seed)
        {
            return next;
        }
        if let Some(shot) = self.next_shot() {
            let again = shot.as_seen && self.tried == 0;
            let mut plan = shot.plan;
            if !again {
                plan.network.chance = self.chance(shot.depends_on_server);
            }
            self.tried += 1;
            return NextRun::Planned(plan, if again { self.taught } else { seed });
        }
        let BasePlan { plan, open } = &self.world;
        let mut world = match self.other() {
            None => generate::settle(plan, &open.busiest(), seed),
            Some(_) => generate::settle(plan, open, seed),
        };
        self.drawn = world.network.chance;
        if open.is_open()
            && self.tried == 1
            && let Some(shot) = self.shots.first().filter(|shot| shot.fits(&world))
        {
            world.faults.extend(shot.plan.faults.iter().cloned());
            world.network.chance = self.chance(shot.depends_on_server);
            self.tried += 1;
            return NextRun::Planned(world, seed);
        }
        self.learn(world, seed)
    }

    /// The next of what there is to try, worked out if it was not yet.
    fn next_shot(&mut self) -> Option<Candidate> {
        let index = self.order.next(|most| {
            if let Some(lesson) = self.lesson.as_mut().filter(|lesson| lesson.most < most) {
                lesson.most = most;
                self.shots = lesson.shots().plans;
            }
            self.shots.len()
        })?;
        self.shots.get(index).cloned()
    }

    /// Learns what there is to try in a world from a run of it.
    fn learn(&mut self, mut world: Plan, seed: u64) -> NextRun {
        let mut kinds = self.kinds.iter();
        world.network.chance = self.chance(kinds.all(|kind| depends_on_server(&world, *kind)));
        let (simulated, seen) = simulate_seen(&world, Tape::explored(world.network.chance, seed));
        let kinds = FaultKind::tried_in(&world, &self.kinds);
        let run = NextRun::Ran(world.clone(), Box::new(simulated));
        let other = self.other().unwrap_or_default();
        let is_open = self.world.open.is_open();
        let shots = if is_open && kinds.len() > TOGETHER {
            let one = one_shot(&world, &seen, &kinds, other);
            let plans: Vec<Candidate> = one.into_iter().collect();
            let sample = plans.len();
            CandidatePlans { plans, sample }
        } else {
            let most = CandidatePlans::sample_at_most(kinds.len()).max(other + 1);
            let lesson = Lesson {
                world,
                seen,
                kinds,
                most,
            };
            let shots = lesson.shots();
            if self.lessons == 0 && !is_open {
                let profile = Profile::of(&lesson.world, &lesson.seen);
                self.aftermath = Aftermath::of(&profile, &lesson.kinds);
            }
            self.lesson = Some(lesson).filter(|_| !is_open);
            shots
        };
        let all = shots.plans.len();
        self.order = match (is_open, other.checked_rem(all)) {
            (true, None) => TryOrder::nothing(),
            (true, Some(index)) => TryOrder::once(index),
            (false, _) => TryOrder::of(&shots),
        };
        self.lessons += 1;
        self.sample = shots.sample.min(self.order.first_look(all));
        (self.tried, self.taught) = (0, seed);
        self.shots = shots.plans;
        run
    }

    /// In an open world, one lesson of three is for others than the most promising: for the one at this place.
    fn other(&self) -> Option<usize> {
        (self.lessons % 3 == 2).then_some(self.lessons / 3)
    }

    /// What chance is to be like. What needs luck besides a fault mostly needs delays that differ, unless it is the
    /// luck to come to a certain server.
    fn chance(&self, depends_on_server: bool) -> Strategy {
        match self.drawn {
            Strategy::Even if !depends_on_server => Strategy::Extremes,
            drawn => drawn,
        }
    }

    /// How many runs a first look at everything takes, the one that teaches apart.
    pub(super) fn sample(&self) -> usize {
        self.sample
    }
}

/// The one to try of many kinds in a turn: of the kind whose turn it is, or of the next with which there is something
/// to try. That takes a fraction of the time that all take.
fn one_shot(
    world: &Plan,
    seen: &[SeenMoment],
    kinds: &[FaultKind],
    turn: usize,
) -> Option<Candidate> {
    let (from, nth) = (turn % kinds.len(), turn / kinds.len());
    let mut in_turn = kinds[from..].iter().chain(&kinds[..from]);
    in_turn.find_map(|kind| targeted::shot(world, seen, *kind, nth))
}

/// Draws faults of some kinds for each run, with one strategy of chance.
pub(super) struct Drawn {
    world: BasePlan,
}

impl Drawn {
    pub(super) fn new(mut world: BasePlan, kinds: Vec<FaultKind>, chance: Strategy) -> Self {
        let at_most = AnyFaults::AT_MOST;
        world.open.faults = Some(AnyFaults {
            kinds,
            except: Vec::new(),
            at_most,
        });
        world.open.chance.clear();
        world.plan.network.chance = chance;
        Self { world }
    }

    /// What comes next.
    pub(super) fn next(&self, seed: u64) -> NextRun {
        let BasePlan { plan, open } = &self.world;
        NextRun::Planned(generate::settle(plan, open, seed), seed)
    }
}
