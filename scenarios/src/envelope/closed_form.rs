//! The probabilities in closed form, where there is one: of locks by a lease that is never renewed, and that waiters
//! ask for again and again.

use std::time::Duration;

use picklock_algorithms::Recipe;

use super::Point;

/// Steps of each sum.
const STEPS: u32 = 200;

/// A lock whose probabilities are known.
struct KnownLock {
    recipe: &'static str,
    /// The part of the lease at which the holder leaves by its own clock, and by how much sooner.
    deadline: (f64, Duration),
    /// Between an answer and the next attempt of the waiter: at least this, and evenly up to as much again.
    asks_again_after: Duration,
}

/// SET NX PX and the like: what they wait for stands in `redis::leased`.
const KNOWN: &[KnownLock] = &[
    of_redis("redis-compare-and-delete"),
    of_redis("redis-fencing-token"),
];

const fn of_redis(recipe: &'static str) -> KnownLock {
    KnownLock {
        recipe,
        deadline: (0.99, Duration::from_millis(2)),
        asks_again_after: Duration::from_millis(20),
    }
}

/// The probabilities of an overlap and of a stale write, if they are known of the recipe, and the work ends before the
/// holder's own deadline however its clock drifts.
///
/// The holder stands still from `a` on, evenly distributed over its work, for an exponential time of average `m`. The
/// waiter is let in when the lease `L` is over and its next attempt comes: after `r`, the rest of the time between two
/// attempts. So both believe if the pause is longer than `L + r - a`: with probability `exp(-(L + r - a) / m)`. The
/// write of the holder is stale if it comes after the waiter's, which takes its work `W` more. Latencies cancel out,
/// but for those between two attempts; drift moves a deadline that the work does not reach.
pub fn closed_form(recipe: &Recipe, point: &Point) -> Option<(f64, f64)> {
    let known = KNOWN.iter().find(|known| known.recipe == recipe.name)?;
    let times = [point.lease, point.work, point.pause, point.latency];
    let [lease, work, pause, latency] = times.map(|time| time.as_secs_f64());
    let fast = 1.0 + f64::from(point.drift) / 1e6;
    let (part, sooner) = known.deadline;
    if latency + work >= (lease * part - sooner.as_secs_f64()) / fast {
        return None;
    }
    let more = known.asks_again_after.as_secs_f64();
    let least = more + latency;
    let average = least + more / 2.0;
    let (mut overlap, mut stale) = (0.0, 0.0);
    for rest in middles(least + more) {
        // Such a rest is as likely as a time between two attempts that is longer.
        let longer = ((least + more - rest) / more).min(1.0);
        let likely = longer * (least + more) / average;
        for begins in middles(work) {
            let longer_than = |time: f64| likely * libm::exp(-time / pause);
            overlap += longer_than(lease + rest - begins);
            stale += longer_than(lease + rest + work - begins);
        }
    }
    let terms = f64::from(STEPS) * f64::from(STEPS);
    Some((overlap / terms, stale / terms))
}

/// The middles of the steps of a sum from zero on.
fn middles(until: f64) -> impl Iterator<Item = f64> {
    (0..STEPS).map(move |step| (f64::from(step) + 0.5) / f64::from(STEPS) * until)
}
