//! What the simulator costs on this machine, on one core.

mod jobs;

use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_algorithms::registry::RECIPES;
use picklock_checker::check_all;
use picklock_sim::plan::{
    Arrival, ContenderName, Fault, Hold, Network, Plan, PlannedFault, Resource, Section, Service,
    Trigger, Workload,
};
use picklock_sim::{engine_benches, simulate};

use crate::clock::Stopwatch;
use crate::format::parse;
use crate::herd::Experiment;
use crate::library::BUILT_IN;
use crate::scenario::{Case, Catalogue};
use crate::search::throughput::share_of_plain_runs;

pub use jobs::{JOBS, Job};

/// A figure of this machine, and what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it should be at least, or at most.
    pub goal: Goal,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Figure {
    /// Whether it is what it should be.
    pub fn reached(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.value >= least,
            Goal::AtMost(most) => self.value <= most,
        }
    }
}

/// Measures everything but searches and the large herd, each for about this long.
pub fn figures(each: Duration) -> Vec<Figure> {
    let (futures, loops) = in_turns(
        each,
        engine_benches::with_futures,
        engine_benches::without_futures,
    );
    let short = short_run();
    let mut seconds = 0.0;
    let lease = lease_run();
    let watch = Stopwatch::start();
    per_second(each, |seed| {
        let simulated = simulate(&lease, seed).whole();
        seconds += simulated.run.counts.virtual_time_micros as f64 / 1e6;
        simulated.hash
    });
    let times_real = seconds / watch.elapsed().as_secs_f64();
    let (shorts, acquisitions) = checked(each, &short);
    let (_, of_redis) = checked(each, &redis_run());
    let figure = |what: &str, value, unit, goal| Figure {
        what: what.to_owned(),
        value,
        unit,
        goal,
    };
    vec![
        figure(
            "bare engine: 3 servers, 5 clients, 100 messages",
            futures,
            "simulations/s",
            Goal::AtLeast(200_000.0),
        ),
        figure(
            "the same against a loop without futures",
            loops / futures,
            "times",
            Goal::AtMost(1.5),
        ),
        figure(
            "short runs: 3 servers, 5 contenders, 10 acquisitions each, checked",
            shorts,
            "runs/s",
            Goal::AtLeast(4_500.0),
        ),
        figure(
            "acquisitions under contention, checked",
            acquisitions,
            "acquisitions/s",
            Goal::AtLeast(250_000.0),
        ),
        figure(
            "the same of Redis: one server, SET NX PX and DEL, nothing else",
            of_redis,
            "acquisitions/s",
            Goal::AtLeast(500_000.0),
        ),
        figure(
            "simulated time on a scenario of leases",
            times_real,
            "times real time",
            Goal::AtLeast(500_000.0),
        ),
    ]
}

/// Runs and checks a plan for about this long: how many runs a second, and how many acquisitions.
fn checked(each: Duration, plan: &Plan) -> (f64, f64) {
    let mut acquisitions = 0_u64;
    let watch = Stopwatch::start();
    let runs = per_second(each, |seed| {
        let simulated = simulate(plan, seed).whole();
        acquisitions += simulated.run.counts.grants;
        simulated.hash ^ check_all(&simulated.run).len() as u64
    });
    (runs, acquisitions as f64 / watch.elapsed().as_secs_f64())
}

/// Measures what a search costs besides its runs, each figure for about this long.
pub fn searches(each: Duration) -> Vec<Figure> {
    let worlds = [
        (
            "a search in all ways, against its runs alone",
            "zookeeper/waiter-death",
        ),
        (
            "the same where each run has another world",
            "zookeeper/swarm",
        ),
    ];
    let figures = worlds.map(|(what, scenario)| Figure {
        what: what.to_owned(),
        value: explored(scenario).map_or(0.0, |case| share_of_plain_runs(&case, each)),
        unit: "of their rate",
        goal: Goal::AtLeast(0.8),
    });
    figures.into()
}

/// The world of a scenario that is searched: nothing is found in it, so the search goes on.
fn explored(scenario: &str) -> Option<Case> {
    let (name, text) = BUILT_IN.iter().find(|(name, _)| *name == scenario)?;
    let scenario = parse(name, text, &Catalogue::EVERYTHING).ok()?;
    scenario
        .cases
        .into_iter()
        .find(|case| case.name == "zk-hardened")
}

/// Measures a herd of so many contenders, for each of three algorithms.
pub fn herds(contenders: u32) -> Vec<Figure> {
    let compared = ["zk-same-name", "zk-children-watch", "zk-predecessor-watch"];
    RECIPES
        .iter()
        .filter(|recipe| compared.contains(&recipe.name))
        .map(|recipe| {
            let watch = Stopwatch::start();
            let experiment = Experiment::of(*recipe, contenders);
            let counts = experiment.run().counts;
            let notifications = counts.notifications_to_waiters + counts.notifications_to_releaser;
            Figure {
                what: format!(
                    "herd of {contenders}, {}, {notifications} notifications",
                    recipe.name
                ),
                value: watch.elapsed().as_secs_f64(),
                unit: "s",
                goal: Goal::AtMost(60.0),
            }
        })
        .collect()
}

/// Runs something with one seed after the other for about this long; answers how often a second. What it answers is
/// folded, so that nothing can be left out.
fn per_second(each: Duration, mut run: impl FnMut(u64) -> u64) -> f64 {
    let watch = Stopwatch::start();
    let mut runs = 0_u64;
    let mut folded = 0;
    while watch.elapsed() < each {
        for _ in 0..8 {
            folded ^= run(runs);
            runs += 1;
        }
    }
    let rate = runs as f64 / watch.elapsed().as_secs_f64();
    std::hint::black_box(folded);
    rate
}

/// How often a second each of two things runs: the medians of many short turns, so that what else the machine does
/// meanwhile slows both down alike.
fn in_turns(
    each: Duration,
    mut one: impl FnMut(u64) -> u64,
    mut other: impl FnMut(u64) -> u64,
) -> (f64, f64) {
    const TURNS: u32 = 40;
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ones.push(per_second(each / TURNS, &mut one));
        others.push(per_second(each / TURNS, &mut other));
    }
    (median(ones), median(others))
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

/// Five contenders that want the lock ten times each, on three servers.
pub fn short_run() -> Plan {
    plan(
        "zk-predecessor-watch",
        Workload {
            contenders: 5,
            rounds: 10,
            hold: Hold::For(Duration::from_millis(1)),
            section: Section::Count,
            ..Workload::default()
        },
        Vec::new(),
    )
}

/// Five contenders that want a key of one Redis server ten times each, hold it for a millisecond, and do nothing else.
pub fn redis_run() -> Plan {
    let workload = Workload {
        section: Section::Nothing,
        ..short_run().workload
    };
    plan("redis-set-nx-px-del", workload, Vec::new())
}

/// A holder that is paused for longer than its session lives.
pub fn lease_run() -> Plan {
    let target = ContenderName(0);
    plan(
        "zk-hardened",
        Workload {
            contenders: 2,
            arrive: Arrival::InOrder,
            hold: Hold::For(Duration::from_secs(5)),
            ..Workload::default()
        },
        vec![PlannedFault {
            when: Trigger::Acquired { by: target, nth: 1 },
            after: Duration::ZERO,
            repeat: None,
            inject: Fault::Pause {
                target,
                length: Duration::from_secs(20).into(),
            },
            text: "pause contender-1 for 20s".to_owned(),
        }],
    )
}

fn plan(algorithm: &str, workload: Workload, faults: Vec<PlannedFault>) -> Plan {
    let recipe: Recipe = RECIPES
        .iter()
        .find(|recipe| recipe.name == algorithm)
        .copied()
        .unwrap_or(RECIPES[0]);
    Plan {
        recipe,
        service: Service::for_build(recipe.build),
        network: Network::default(),
        workload,
        resource: Resource { fenced: false },
        faults,
        event_budget: 10_000_000,
    }
}
