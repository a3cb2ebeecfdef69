//! The safety envelope of a lease: how often a pause lets a second contender in, over lease, pause, drift, and latency.
//!
//! Each run has a holder that works, and a second contender that waits for the lock. The holder's process stands still
//! once, from a random moment of its work on, for a random time. What is counted are beliefs that overlap and stale
//! writes that a resource without a check of tokens accepts.

mod closed_form;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_checker::{Evidence, Invariant, invariants};
use picklock_sim::plan::{
    Arrival, ContenderName, ContenderSettings, Fault, Hold, Network, Plan, PlannedFault, Resource,
    Section, Service, Trigger, Workload,
};
use picklock_sim::simulate;

use crate::generate::draw::{Draw, Substream};
use crate::services::supported;

pub use closed_form::closed_form;

/// Runs between two looks at the intervals.
const BATCH: u64 = 1_000;
const HOLDER: ContenderName = ContenderName(0);
const WAITER: ContenderName = ContenderName(1);
/// The part of the lease after which the waiter comes: no lease of a holder that stands still is over before.
const WAITER_COMES: f64 = 0.6;
/// The waiter's moment is spread over this, so that its attempts keep no step with the lease.
const SPREAD: Duration = Duration::from_millis(60);

/// A point of the envelope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// How long the lock stays with a holder that gives no sign of life: a lease, or the timeout of a session.
    pub lease: Duration,
    /// How long the holder's work takes.
    pub work: Duration,
    /// How long its process stands still, on average: exponentially distributed.
    pub pause: Duration,
    /// By how many parts per million the holder's clocks run fast or slow at most: evenly distributed.
    pub drift: u32,
    /// A round trip between a contender and a server.
    pub latency: Duration,
}

/// How often something happens in the runs of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// In so many runs.
    pub hits: u64,
    /// Of so many.
    pub runs: u64,
}

/// What the runs of a point have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Two contenders believe at once that they hold the lock.
    pub overlap: Proportion,
    /// The resource accepts a write of a holder after one of its successor.
    pub stale: Proportion,
}

/// When an estimate is good enough: a sequential stopping rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Both intervals reach at most so far to either side.
    pub half_width: f64,
    /// There are at most so many runs, however wide the intervals are.
    pub runs: u64,
}

impl Proportion {
    /// The part of the runs.
    pub fn probability(self) -> f64 {
        self.hits as f64 / self.runs.max(1) as f64
    }

    /// The interval that holds the true probability with 95 % confidence (Wilson's, which also stands at 0 and 1).
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_963_984_540_054;
        if self.runs == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.runs as f64, self.probability());
        let scale = 1.0 + Z * Z / n;
        let middle = (p + Z * Z / (2.0 * n)) / scale;
        let reach = Z / scale * libm::sqrt(p * (1.0 - p) / n + Z * Z / (4.0 * n * n));
        let low = if self.hits == 0 {
            0.0
        } else {
            (middle - reach).max(0.0)
        };
        let high = if self.hits == self.runs {
            1.0
        } else {
            (middle + reach).min(1.0)
        };
        (low, high)
    }

    fn half_width(self) -> f64 {
        let (low, high) = self.interval();
        (high - low) / 2.0
    }

    fn count(&mut self, hit: bool) {
        self.runs += 1;
        self.hits += u64::from(hit);
    }

    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.hits += other.hits;
    }
}

impl Estimate {
    /// Whether the rule ends the runs.
    fn meets(self, rule: StoppingRule) -> bool {
        let widest = self.overlap.half_width().max(self.stale.half_width());
        self.overlap.runs >= rule.runs || widest <= rule.half_width
    }
}

/// Runs a point with the seeds from `from` on, until the rule ends them. `None`, if `stop` is set. If a
/// run breaks off, so does whatever was begun with [`caught`](picklock_sim::broken::caught).
pub fn estimate(
    recipe: &Recipe,
    point: &Point,
    from: u64,
    rule: StoppingRule,
    stop: &AtomicBool,
) -> Option<Estimate> {
    let service = (supported(recipe.build.service()).measured)(recipe, point.lease);
    let mut estimate = Estimate::default();
    let mut seed = from;
    while !estimate.meets(rule) {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let runs = BATCH.min(rule.runs - estimate.overlap.runs);
        let batch = batch(recipe, &service, point, seed..seed.saturating_add(runs));
        estimate.overlap.add(batch.overlap);
        estimate.stale.add(batch.stale);
        seed = seed.wrapping_add(runs);
    }
    Some(estimate)
}

fn batch(
    recipe: &Recipe,
    service: &Service,
    point: &Point,
    seeds: std::ops::Range<u64>,
) -> Estimate {
    let [overlap, stale] = ["mutual-exclusion", "no-stale-effect"].map(invariants::find);
    let mut estimate = Estimate::default();
    for seed in seeds {
        let simulated = simulate(&plan(recipe, service, point, seed), seed).whole();
        let evidence = Evidence::of(&simulated.run);
        let is_broken = |invariant: Option<&Invariant>| {
            invariant.is_some_and(|invariant| invariant.violation(&evidence).is_some())
        };
        estimate.overlap.count(is_broken(overlap));
        estimate.stale.count(is_broken(stale));
    }
    estimate
}

/// The run of a seed.
pub fn plan(recipe: &Recipe, service: &Service, point: &Point, seed: u64) -> Plan {
    let mut draw = Draw::substream(seed, Substream::Envelope);
    let pause = Fault::Pause {
        target: HOLDER,
        length: exponential(&mut draw, point.pause).into(),
    };
    let pause = strikes(
        Trigger::Acquired { by: HOLDER, nth: 1 },
        part(&mut draw, point.work),
        pause,
    );
    let mut faults = vec![pause];
    if point.drift > 0 {
        let most = i64::from(point.drift);
        let drawn = i64::from(draw.below(2 * point.drift + 1)) - most;
        let drift = Fault::ClockDrift {
            target: HOLDER,
            parts_per_million: i32::try_from(drawn).unwrap_or_default(),
            length: Some(point.lease * 10 + point.work * 2),
        };
        faults.push(strikes(Trigger::At(Duration::ZERO), Duration::ZERO, drift));
    }
    let comes = point.lease.mul_f64(WAITER_COMES) + part(&mut draw, SPREAD);
    let waiter = ContenderSettings {
        arrive_after: Some(comes),
        ..ContenderSettings::default()
    };
    Plan {
        recipe: *recipe,
        service: service.clone(),
        network: Network {
            client_latency: (point.latency / 2, point.latency / 2),
            ..Network::default()
        },
        workload: Workload {
            contenders: 2,
            arrive: Arrival::Together,
            rounds: 1,
            hold: Hold::For(point.work),
            section: Section::Write,
            contender_settings: [(WAITER, waiter)].into(),
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults,
        event_budget: u64::MAX,
    }
}

fn strikes(when: Trigger, after: Duration, inject: Fault) -> PlannedFault {
    PlannedFault {
        when,
        after,
        repeat: None,
        inject,
        text: String::new(),
    }
}

/// A random part of a time: any is as likely as any other.
fn part(draw: &mut Draw, whole: Duration) -> Duration {
    let share = f64::from(draw.share()) / 2_f64.powi(32);
    Duration::from_micros((whole.as_micros() as f64 * share) as u64)
}

/// A time that is distributed exponentially around an average.
fn exponential(draw: &mut Draw, average: Duration) -> Duration {
    // Never zero, of which there is no logarithm.
    let share = (f64::from(draw.share()) + 1.0) / 2_f64.powi(32);
    Duration::from_micros((average.as_micros() as f64 * -libm::log(share)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use picklock_algorithms::registry::RECIPES;

    fn recipe(name: &str) -> &'static Recipe {
        RECIPES
            .iter()
            .find(|recipe| recipe.name == name)
            .expect("a recipe")
    }

    fn point(lease: u64, pause: u64) -> Point {
        Point {
            lease: Duration::from_secs(lease),
            work: Duration::from_secs(1),
            pause: Duration::from_secs(pause),
            drift: 0,
            latency: Duration::from_millis(1),
        }
    }

    fn estimated(name: &str, point: &Point, runs: u64) -> Estimate {
        let rule = StoppingRule {
            half_width: 0.0,
            runs,
        };
        estimate(recipe(name), point, 0, rule, &AtomicBool::new(false)).expect("not stopped")
    }

    #[test]
    fn an_interval_holds_what_a_table_of_wilsons_says() {
        let share = Proportion { hits: 5, runs: 100 };
        let (low, high) = share.interval();
        assert!((low - 0.021_54).abs() < 1e-4 && (high - 0.111_75).abs() < 1e-4);
        let none = Proportion { hits: 0, runs: 100 };
        assert_eq!(none.interval().0, 0.0);
        assert!((none.interval().1 - 0.036_99).abs() < 1e-4);
        assert_eq!(Proportion::default().interval(), (0.0, 1.0));
    }

    #[test]
    fn what_is_known_in_closed_form_lies_in_the_intervals() {
        let slow = Point {
            work: Duration::from_millis(2_500),
            drift: 50_000,
            latency: Duration::from_millis(20),
            ..point(3, 2)
        };
        let too_long = Point {
            work: Duration::from_secs(3),
            ..slow
        };
        let lock = recipe("redis-compare-and-delete");
        assert_eq!(closed_form(lock, &too_long), None);
        for point in [point(2, 1), point(2, 5), slow] {
            let seen = estimated("redis-compare-and-delete", &point, 4_000);
            let known = closed_form(lock, &point).expect("known");
            for (share, known) in [(seen.overlap, known.0), (seen.stale, known.1)] {
                // Six intervals of 95 %: each is given twice its width.
                let (low, high) = share.interval();
                let width = high - low;
                let range = low - width / 2.0..=high + width / 2.0;
                assert!(range.contains(&known), "{point:?}: {share:?}, {known}");
            }
        }
    }

    #[test]
    fn a_longer_lease_is_safer_and_a_longer_pause_is_not() {
        let of = |lease, pause| {
            let seen = estimated("redis-compare-and-delete", &point(lease, pause), 1_000);
            seen.overlap.probability()
        };
        assert!(of(2, 2) > of(8, 2) && of(2, 8) > of(2, 2));
    }

    #[test]
    fn it_stops_when_the_intervals_are_narrow_enough() {
        let rule = StoppingRule {
            half_width: 0.02,
            runs: 1_000_000,
        };
        let lock = recipe("redis-compare-and-delete");
        let seen = estimate(lock, &point(2, 2), 0, rule, &AtomicBool::new(false));
        let seen = seen.expect("not stopped");
        assert!(seen.meets(rule) && seen.overlap.runs < 5_000, "{seen:?}");
        let stopped = estimate(lock, &point(2, 2), 0, rule, &AtomicBool::new(true));
        assert_eq!(stopped, None);
    }

    #[test]
    fn a_lock_by_a_session_has_an_envelope_too() {
        let seen = estimated("zk-predecessor-watch", &point(4, 8), 300);
        assert!((0.3..0.9).contains(&seen.overlap.probability()), "{seen:?}");
    }
}
