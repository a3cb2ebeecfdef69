//! How many events of the engine a run may take if its file does not say.

use std::time::Duration;

use picklock_sim::plan::{Hold, Service, Workload};

/// So often a waiter asks at most, in a second: a few requests, each of a few events.
const ASKED: u128 = 100;

/// So many events it takes at most to show during a lease that one is alive: to a server, or to another server.
const ALIVE: u128 = 60;

/// Servers talk to each other that often, however long the lease is.
const LONGEST_LEASE: Duration = Duration::from_secs(10);

/// A file cannot say more.
const MOST: u64 = u64::MAX / 2;

/// Engine events after which a run gives up if the file does not say.
pub(crate) fn default_budget(workload: &Workload, service: &Service) -> u64 {
    let budget = in_rounds(workload).max(in_time(workload, service));
    budget.min(MOST)
}

/// Enough for every contender to ask a few hundred things in each round, and for a herd to be woken by every release.
fn in_rounds(workload: &Workload) -> u64 {
    let contenders = u64::from(workload.contenders);
    let turns = u64::from(workload.sections()).saturating_mul(workload.locks_at_once.into());
    let asked = turns.saturating_mul(2_000);
    let woken = turns.saturating_mul(contenders).saturating_mul(20);
    let read = u64::from(workload.bystanders).saturating_mul(100_000);
    1_000_000_u64
        .saturating_add(asked)
        .saturating_add(woken)
        .saturating_add(read)
}

/// Enough for all to ask again and again while one after the other holds the lock, and to show that they are alive
/// until the last has come as often as it wants.
fn in_time(workload: &Workload, service: &Service) -> u64 {
    let times = workload.each(|name| {
        let rounds = u128::from(workload.rounds_of(name));
        let hold = match workload.hold_of(name) {
            Hold::For(hold) => hold,
            Hold::Settled => Duration::ZERO,
        };
        let (_, think) = workload.think_of(name);
        let arrives = workload.settings_of(name).and_then(|own| own.arrive_after);
        let arrives = arrives.unwrap_or_default().as_micros();
        (
            rounds * hold.as_micros(),
            arrives + rounds * think.as_micros(),
        )
    });
    let (mut held, mut thought) = (0, 0);
    for ((hold, think), of) in times {
        held += hold * u128::from(of);
        thought = think.max(thought);
    }
    let contenders = u128::from(workload.contenders);
    let servers = u128::from(service.servers());
    let nodes = servers + u128::from(service.sentinels());
    let asked = held * contenders * servers * ASKED / 1_000_000;
    let lease = service.lease().min(LONGEST_LEASE).as_micros().max(1);
    let alive = (held + thought) * (contenders + nodes * nodes) * ALIVE / lease;
    u64::try_from(asked + alive).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use picklock_sim::simulate;

    use super::*;
    use crate::parse;
    use crate::scenario::{Case, Catalogue};

    fn case(service: &str, workload: &str, algorithm: &str) -> Case {
        let text =
            format!("{service}\n[workload]\n{workload}\n[[case]]\nalgorithm = \"{algorithm}\"\n");
        let parsed = parse("long", &text, &Catalogue::EVERYTHING);
        let scenario = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
        scenario.cases[0].clone()
    }

    #[test]
    fn a_budget_grows_with_the_time_that_rounds_take() {
        let sentinels = "[service.redis]\nreplicas = 2\nsentinels = 3";
        let long_lease = "[service.redis]\nlease = \"1h\"";
        let redlock = "[service.redis]\nservers = 5\nlease = \"1h\"";
        let (hold, think) = ("10ms", "59m");
        for (service, algorithm, (hold, think)) in [
            ("", "zk-predecessor-watch", ("1m", think)),
            (
                "[service.zookeeper]\nservers = 5",
                "zk-hardened",
                (hold, think),
            ),
            (sentinels, "redisson-lock", (hold, think)),
            (long_lease, "redis-compare-and-delete", ("1m", "1s")),
            (redlock, "redlock", ("1m", "1s")),
        ] {
            let of = |rounds: u32| {
                let times = format!("hold = \"{hold}\"\nthink = \"{think}\"");
                case(service, &format!("rounds = {rounds}\n{times}"), algorithm)
            };
            let few = simulate(&of(4).plan, 0).run;
            let events = few.counts.engine_events;
            let budget = of(120).plan.event_budget;
            assert!(budget > events * 30, "{algorithm}: {events}, {budget}");
        }
    }

    #[test]
    fn a_run_that_takes_as_long_as_usual_has_a_budget_of_rounds() {
        let case = case("", "contenders = 50\nrounds = 100", "zk-hardened");
        assert_eq!(case.plan.event_budget, in_rounds(&case.plan.workload));
    }
}
