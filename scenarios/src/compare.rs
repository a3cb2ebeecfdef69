//! Locks beside each other: what each costs alone and in a crowd, and which promises it breaks under which faults.

pub mod claims;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_algorithms::registry::lines_of_code;
use picklock_algorithms::{FaultClass, LockKind, Recipe};
use picklock_checker::{EventKind, Run};
use picklock_sim::plan::{Arrival, Hold, Network, Plan, Resource, Section, Workload};
use picklock_sim::simulate;

use crate::cost::{self, Cost};
use crate::herd::Quantiles;
use crate::matrix::{self, Standing, Word};
use crate::scenario::Scenario;
use crate::services::supported;

/// The crowds: so many contenders come at once.
pub const CROWDS: [u32; 2] = [10, 100];
/// Hand-overs of two contenders that are measured of each lock.
const HANDOVERS: u64 = 20;
/// How long each of a crowd holds the lock.
const HOLD: Duration = Duration::from_millis(10);
/// One way between a client and a server: a round trip takes a millisecond.
const ONE_WAY: Duration = Duration::from_micros(500);
/// No lease ends while a crowd waits.
const LEASE: Duration = Duration::from_secs(30);

/// What was measured of a lock.
#[derive(Clone)]
pub struct Entry {
    /// The lock.
    pub recipe: Recipe,
    /// Lines of code of its own file; `None`, if it is a variant of another.
    pub lines: Option<u32>,
    /// What it costs alone, and with one that waits; `None`, if a contender does not get so far.
    pub cost: Option<Cost>,
    /// What it costs in each of the [`CROWDS`].
    pub crowds: [Crowd; 2],
    /// The promises that runs broke, with the class of their faults.
    pub broken: Vec<BrokenPromise>,
}

/// What a lock costs when many want it at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crowd {
    /// How many come.
    pub contenders: u32,
    /// How many of them got the lock.
    pub served: u32,
    /// Requests that servers get for each hand-over.
    pub requests: f64,
    /// Notifications that servers send for each release.
    pub notifications: f64,
    /// From the call of a release until the next contender has the lock, in microseconds.
    pub handover: Quantiles,
    /// From the call of an acquire until it returns, in microseconds.
    pub waiting: Quantiles,
}

/// A promise that runs of a lock broke under faults of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenPromise {
    /// The class of the faults.
    pub class: FaultClass,
    /// The invariant.
    pub invariant: &'static str,
    /// In a word.
    pub word: Word,
    /// Whether no lock keeps it under the faults that were drawn.
    pub is_excused: bool,
    /// In so many of the runs in which a fault struck.
    pub runs: u64,
}

impl Entry {
    /// Measures a lock, with so many seeds for each class of faults. `None`, if `stop` is set. If a run breaks off, so
    /// does whatever was begun with [`caught`](picklock_sim::broken::caught).
    pub fn measure(
        recipe: &Recipe,
        swarms: &[Scenario],
        seeds: u64,
        stop: &AtomicBool,
    ) -> Option<Self> {
        let mut broken = Vec::new();
        for class in FaultClass::ALL {
            broken.extend(broken_under(recipe, class, swarms, seeds, stop)?);
        }
        Some(Self {
            recipe: *recipe,
            lines: lines_of_code(recipe.name),
            cost: cost::measure(recipe, HANDOVERS),
            crowds: CROWDS.map(|contenders| Crowd::measure(recipe, contenders)),
            broken,
        })
    }

    /// The promises that were broken although faults of that kind leave a lock a way to keep them.
    pub fn inexcusable(&self) -> impl Iterator<Item = &BrokenPromise> {
        self.broken.iter().filter(|broken| !broken.is_excused)
    }

    /// The classes of faults under which two contenders held the lock, whether any lock keeps them apart or not.
    pub fn breaks_exclusion(&self) -> Vec<FaultClass> {
        claims::exclusion(&self.broken)
    }

    /// What the best lock of a family has least of: promises that were broken, and classes of faults that break
    /// exclusion; then contenders that were not served, round trips, and requests in a crowd.
    fn demerits(&self) -> impl Ord + use<> {
        let [_, crowd] = self.crowds;
        let trips = self.cost.map_or(f64::INFINITY, |cost| {
            cost.acquire.round_trips + cost.release.round_trips
        });
        (
            self.inexcusable().count(),
            self.breaks_exclusion().len(),
            crowd.contenders - crowd.served,
            (trips * 10.0).round() as u64,
            (crowd.requests * 10.0).round() as u64,
        )
    }
}

/// The best lock of each family, in the order of the families: the one that breaks the fewest promises, and of these
/// the cheapest.
pub fn best_of_each_family(entries: &[Entry]) -> Vec<&Entry> {
    let mut best: Vec<&Entry> = Vec::new();
    for entry in entries {
        let family = entry.recipe.build.service();
        match best
            .iter_mut()
            .find(|other| other.recipe.build.service() == family)
        {
            Some(other) if entry.demerits() < other.demerits() => *other = entry,
            Some(_) => {}
            None => best.push(entry),
        }
    }
    best
}

/// Whether a lock is one that is compared unasked: a mutex without a known flaw that has a world in the matrix.
pub fn is_compared(recipe: &Recipe, swarms: &[Scenario]) -> bool {
    recipe.flaw.is_none()
        && recipe.ownership.kind == LockKind::Mutex
        && matrix::case(recipe, FaultClass::None, swarms).is_some()
}

/// The promises that a lock breaks under faults of a class. `None`, if `stop` is set.
fn broken_under(
    recipe: &Recipe,
    class: FaultClass,
    swarms: &[Scenario],
    seeds: u64,
    stop: &AtomicBool,
) -> Option<Vec<BrokenPromise>> {
    let scenario = matrix::scenario(class, std::slice::from_ref(recipe), swarms);
    let Some(case) = scenario.cases.first() else {
        return Some(Vec::new());
    };
    let cell = matrix::measure(&scenario, case, class, 0..seeds, stop)?;
    let broken = cell.findings.into_iter().map(|found| BrokenPromise {
        class,
        invariant: found.invariant,
        word: found.word,
        is_excused: found.standing == Standing::Excused,
        runs: found.runs,
    });
    Some(broken.collect())
}

impl Crowd {
    /// Measures what a lock costs when so many want it at once, each for ten milliseconds.
    pub fn measure(recipe: &Recipe, contenders: u32) -> Self {
        let simulated = simulate(&plan(recipe, contenders), 0).whole();
        let counts = simulated.run.counts;
        let waits = waits(&simulated.run);
        let served = waits.len() as u32;
        let handovers = f64::from(served.saturating_sub(1).max(1));
        let notifications = counts.notifications_to_waiters + counts.notifications_to_releaser;
        Self {
            contenders,
            served,
            requests: counts.requests as f64 / handovers,
            notifications: notifications as f64 / handovers,
            handover: Quantiles::of(simulated.samples.handover),
            waiting: Quantiles::of(waits),
        }
    }
}

/// How long each acquire took that was granted, in microseconds.
fn waits(run: &Run) -> Vec<u64> {
    let mut begun = std::collections::BTreeMap::new();
    let mut waits = Vec::new();
    for event in &run.history.events {
        match event.what {
            EventKind::AcquireStarted { by, .. } => {
                begun.entry(by).or_insert(event.at);
            }
            EventKind::Acquired { by, .. } => {
                if let Some(since) = begun.remove(&by) {
                    waits.push(event.at.micros() - since.micros());
                }
            }
            _ => {}
        }
    }
    waits
}

fn plan(recipe: &Recipe, contenders: u32) -> Plan {
    Plan {
        recipe: *recipe,
        service: (supported(recipe.build.service()).measured)(recipe, LEASE),
        network: Network {
            client_latency: (ONE_WAY, ONE_WAY),
            server_latency: (ONE_WAY, ONE_WAY),
            ..Network::default()
        },
        workload: Workload {
            contenders,
            arrive: Arrival::Together,
            rounds: 1,
            hold: Hold::For(HOLD),
            section: Section::Nothing,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Catalogue;
    use picklock_algorithms::registry::RECIPES;

    fn recipe(name: &str) -> &'static Recipe {
        RECIPES
            .iter()
            .find(|recipe| recipe.name == name)
            .expect("a recipe")
    }

    fn entry(name: &str) -> Entry {
        let swarms = matrix::swarms(&Catalogue::EVERYTHING).expect("no mistakes");
        let stop = AtomicBool::new(false);
        Entry::measure(recipe(name), &swarms, 8, &stop).expect("not stopped")
    }

    #[test]
    fn a_crowd_counts_what_a_queue_and_a_herd_cost() {
        let queue = Crowd::measure(recipe("zk-predecessor-watch"), 100);
        let herd = Crowd::measure(recipe("zk-children-watch"), 100);
        assert_eq!((queue.served, herd.served), (100, 100));
        assert!(queue.notifications <= 1.0 && herd.notifications > 40.0);
        assert!(queue.requests * 5.0 < herd.requests, "{queue:?} {herd:?}");
        // A hundred hold it for ten milliseconds, one after the other.
        assert!(queue.waiting.max >= 990_000 && queue.waiting.p50 < queue.waiting.max);
    }

    #[test]
    fn the_best_of_a_family_breaks_less_than_its_broken_siblings() {
        let entries = ["redis-set-nx-px-del", "redis-fencing-token", "zk-hardened"].map(entry);
        let best = best_of_each_family(&entries);
        let names: Vec<&str> = best.iter().map(|entry| entry.recipe.name).collect();
        assert_eq!(names, ["redis-fencing-token", "zk-hardened"]);
        let [flawed, ..] = &entries;
        assert!(flawed.inexcusable().count() > 0);
        assert!(flawed.lines.is_some_and(|lines| (10..200).contains(&lines)));
    }

    #[test]
    fn every_claim_is_judged_by_what_was_measured() {
        let swarms = matrix::swarms(&Catalogue::EVERYTHING).expect("no mistakes");
        let entries = [
            "redis-compare-and-delete",
            "zk-hardened",
            "sql-unique-key-expiring",
        ]
        .map(entry);
        let stop = AtomicBool::new(false);
        let judged = claims::judge(&entries, &swarms, 20, &stop).expect("every recipe is known");
        let verdict_on = |part: &str| {
            let found = judged.iter().find(|judged| judged.claim.contains(part));
            found.expect("it is claimed").verdict
        };
        assert_eq!(verdict_on("DEL without a look"), claims::Verdict::Right);
        assert_eq!(verdict_on("Sentinel or cluster"), claims::Verdict::Wrong);
        assert_eq!(verdict_on("(SET NX PX)"), claims::Verdict::Depends);
        assert_eq!(verdict_on("A release wakes one"), claims::Verdict::Right);
        assert!(judged.iter().all(|judged| !judged.because.is_empty()));
    }
}
