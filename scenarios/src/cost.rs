//! What a lock costs while nothing breaks: requests and round trips of a call, a hand-over, and waiting.

use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_checker::{ContenderId, EventKind, Run, VirtualTime};
use picklock_sim::engine::Tape;
use picklock_sim::plan::{Arrival, Hold, Network, Plan, Resource, Section, Workload};
use picklock_sim::simulate_traced;
use picklock_sim::trace::{MessageDirection, MessageStep, TracedMessage};

use crate::herd::Quantiles;
use crate::services::supported;

/// One way between a client and a server: a round trip takes a millisecond.
const ONE_WAY: Duration = Duration::from_micros(500);
/// A round trip.
const ROUND_TRIP: Duration = Duration::from_millis(1);
/// For how long the lock is held while another waits for it.
const HOLD: Duration = Duration::from_secs(5);
/// The holder's renewals are none of the waiter's costs, and no lease ends meanwhile.
const LEASE: Duration = Duration::from_secs(30);

/// What a lock costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// An acquire without contention, when all connections and nodes are there.
    pub acquire: Call,
    /// The release after that.
    pub release: Call,
    /// From the call of a release until the only waiter has the lock, in microseconds.
    pub handover: Quantiles,
    /// Requests per second of a waiter, signs of life apart.
    pub waiting: f64,
}

/// What a call costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Requests that are sent to servers until it returns.
    pub requests: u64,
    /// How many round trips it takes, one after the other.
    pub round_trips: f64,
}

/// Measures a recipe with so many seeds. `None`, if a contender does not get so far, or does not wait. If a run breaks
/// off, so does the [`caught`](picklock_sim::broken::caught) around it.
pub fn measure(recipe: &Recipe, seeds: u64) -> Option<Cost> {
    let (alone, trace) = run(&alone(recipe), 0);
    let mut calls = calls_of(&alone, ContenderId(0));
    let last = calls.pop()?;
    let cost = |from: Place, until: Place| Call {
        requests: sent(trace.iter(), from, until),
        round_trips: (until.at - from.at).as_secs_f64() / ROUND_TRIP.as_secs_f64(),
    };
    let mut handovers = Vec::new();
    let (mut requests, mut seconds) = (0, 0.0);
    let contended = contended(recipe);
    for seed in 0..seeds {
        let (run, trace) = run(&contended, seed);
        let [holder, waiter] = [0, 1].map(|index| calls_of(&run, ContenderId(index)).pop());
        let (holder, waiter) = (holder?, waiter?);
        if waiter.acquired.index < holder.releases.index {
            return None;
        }
        let micros = (waiter.acquired.at - holder.releases.at).as_micros();
        handovers.push(u64::try_from(micros).unwrap_or(u64::MAX));
        // A contender that has just come asks more than one that has waited for long.
        let settled = |message: &TracedMessage| message.at - waiter.calls.at >= HOLD / 5;
        let of_waiter = |message: &&TracedMessage| {
            settled(message) && message.process().is_some_and(|process| process.0 == 1)
        };
        let late = trace.iter().filter(of_waiter);
        requests += sent(late, waiter.calls, holder.releases);
        seconds += (holder.releases.at - waiter.calls.at).as_secs_f64() - (HOLD / 5).as_secs_f64();
    }
    Some(Cost {
        acquire: cost(last.calls, last.acquired),
        release: cost(last.releases, last.released),
        handover: Quantiles::of(handovers),
        waiting: requests as f64 / seconds,
    })
}

fn run(plan: &Plan, seed: u64) -> (Run, Vec<TracedMessage>) {
    let tape = Tape::explored(plan.network.chance, seed);
    let (simulated, trace) = simulate_traced(plan, tape);
    (simulated.whole().run, trace)
}

/// An event: its index, and its time.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    at: VirtualTime,
}

/// An acquire and the release after it.
#[derive(Clone, Copy)]
struct Calls {
    calls: Place,
    acquired: Place,
    releases: Place,
    released: Place,
}

/// The calls of a contender, one pair after the other.
fn calls_of(run: &Run, of: ContenderId) -> Vec<Calls> {
    let mut calls = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    for (index, event) in run.history.events.iter().enumerate() {
        let is_next = match event.what {
            EventKind::AcquireStarted { by, .. } => by == of && places.is_empty(),
            EventKind::Acquired { by, .. } => by == of && places.len() == 1,
            EventKind::ReleaseStarted { by, .. } => by == of && places.len() == 2,
            EventKind::Released { by, .. } => by == of && places.len() == 3,
            _ => false,
        };
        if !is_next {
            continue;
        }
        places.push(Place {
            index,
            at: event.at,
        });
        if let [calls_at, acquired, releases, released] = places[..] {
            calls.push(Calls {
                calls: calls_at,
                acquired,
                releases,
                released,
            });
            places.clear();
        }
    }
    calls
}

/// How many of these are requests that are sent between two events.
fn sent<'t>(messages: impl Iterator<Item = &'t TracedMessage>, from: Place, until: Place) -> u64 {
    let is_request = |message: &&TracedMessage| {
        message.step == MessageStep::Sent
            && message.direction() == MessageDirection::ToServer
            && !message.is_sign_of_life
            && (from.index + 1..=until.index).contains(&message.after)
    };
    messages.filter(is_request).count() as u64
}

/// One contender, that comes three times: the third time everything is there that is made once.
fn alone(recipe: &Recipe) -> Plan {
    plan(recipe, 1, 3, Duration::from_millis(10))
}

/// One holds the lock, and another waits for it.
fn contended(recipe: &Recipe) -> Plan {
    plan(recipe, 2, 1, HOLD)
}

fn plan(recipe: &Recipe, contenders: u32, rounds: u32, hold: Duration) -> Plan {
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
            arrive: Arrival::InOrder,
            rounds,
            hold: Hold::For(hold),
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
    use picklock_algorithms::registry::RECIPES;

    fn cost_of(name: &str) -> Cost {
        let recipe = RECIPES.iter().find(|recipe| recipe.name == name);
        measure(recipe.expect("a recipe"), 3).expect("it is acquired and released")
    }

    #[test]
    fn a_queue_costs_a_create_and_a_look_and_its_waiters_ask_nothing() {
        let cost = cost_of("zk-predecessor-watch");
        let (create_and_list, delete) = (2, 1);
        assert_eq!(cost.acquire.requests, create_and_list);
        assert_eq!(cost.release.requests, delete);
        assert_eq!(cost.waiting, 0.0);
        // The delete, and half a round trip later the notification; then one more look.
        assert!(cost.handover.p50 < 3_000, "{cost:?}");
    }

    #[test]
    fn a_lock_that_is_asked_for_again_costs_requests_while_it_is_waited_for() {
        let cost = cost_of("redis-compare-and-delete");
        assert_eq!(cost.acquire.requests, 1);
        assert!((cost.acquire.round_trips - 1.0).abs() < 0.1, "{cost:?}");
        assert!(cost.waiting > 10.0, "{cost:?}");
    }

    #[test]
    fn a_majority_costs_a_request_to_each_and_one_round_trip() {
        let cost = cost_of("redlock");
        assert_eq!((cost.acquire.requests, cost.release.requests), (5, 5));
        assert!((cost.acquire.round_trips - 1.0).abs() < 0.1, "{cost:?}");
    }
}
