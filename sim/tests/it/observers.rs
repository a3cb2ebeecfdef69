//! Servers that do not vote: they are no help when voters are missing, and no harm when they are missing themselves.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{EventKind, VirtualTime};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    ServerName, Service, Trigger, Workload,
};
use picklock_sim::simulate;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// When the last contender waits.
fn planned(inject: Fault) -> PlannedFault {
    PlannedFault {
        when: Trigger::Waiting {
            by: ContenderName(2),
            nth: 1,
        },
        after: Duration::ZERO,
        repeat: None,
        text: String::new(),
        inject,
    }
}

fn dies(target: ServerName) -> PlannedFault {
    planned(Fault::CrashServer {
        target,
        restart_after: Some(seconds(20)),
    })
}

/// When the second contender gets the lock, which the first gives back after two seconds.
fn second_grant((servers, observers): (u8, u8), faults: Vec<PlannedFault>, seed: u64) -> Duration {
    let plan = Plan {
        recipe: *registry::find("zk-hardened").expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble {
            servers,
            observers,
            session_timeout: seconds(40),
            ..Ensemble::default()
        }),
        network: Network::default(),
        workload: Workload {
            contenders: 3,
            arrive: Arrival::InOrder,
            hold: Hold::For(seconds(2)),
            section: Section::Write,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults,
        event_budget: 1_000_000,
    };
    let history = simulate(&plan, seed).run.history;
    let mut grants = history.events.iter().filter_map(|event| match event.what {
        EventKind::Acquired { .. } => Some(event.at),
        _ => None,
    });
    let second = grants.nth(1).expect("the second contender gets the lock");
    second.since(VirtualTime::ZERO)
}

#[test]
fn two_of_three_voters_are_missed_and_two_of_five_are_not() {
    let dead = || vec![dies(ServerName::Number(0)), dies(ServerName::Leader)];
    for seed in 0..20 {
        // Five servers run in both cases, and two of them die.
        let without_quorum = second_grant((3, 2), dead(), seed);
        assert!(
            without_quorum > seconds(20),
            "seed {seed}: {without_quorum:?}"
        );
        let with_quorum = second_grant((5, 0), dead(), seed);
        assert!(with_quorum < seconds(10), "seed {seed}: {with_quorum:?}");
    }
}

#[test]
fn the_death_of_all_observers_holds_up_only_their_clients() {
    let dead = || (0..2).map(|nth| dies(ServerName::Observer(nth))).collect();
    for seed in 0..20 {
        let second = second_grant((3, 2), dead(), seed);
        assert!(second < seconds(10), "seed {seed}: {second:?}");
    }
}
