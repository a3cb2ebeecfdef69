//! Servers without a leader that answer reads, and contenders that believe them.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{ContenderId, EventKind, Run, Verdict, invariants};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    ServerName, Service, Trigger, Workload,
};
use picklock_sim::simulate;

const FIRST: ContenderName = ContenderName(0);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// When the first has the lock.
fn planned(inject: Fault) -> PlannedFault {
    PlannedFault {
        when: Trigger::Acquired { by: FIRST, nth: 1 },
        after: Duration::ZERO,
        repeat: None,
        text: String::new(),
        inject,
    }
}

/// The first holder dies while its server is cut off, and comes back when another has had the lock for long.
fn run(algorithm: &str, read_only: bool, seed: u64) -> Run {
    let isolate = Fault::IsolateServer {
        target: ServerName::Of(FIRST),
        length: seconds(60).into(),
    };
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: Some(seconds(15)),
    };
    let plan = Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble {
            sync_limit: 2,
            read_only,
            ..Ensemble::default()
        }),
        network: Network::default(),
        workload: Workload {
            contenders: 3,
            arrive: Arrival::InOrder,
            hold: Hold::For(seconds(20)),
            section: Section::Write,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: vec![planned(isolate), planned(crash)],
        event_budget: 1_000_000,
    };
    simulate(&plan, seed).run
}

#[test]
fn only_a_read_only_server_shows_what_was_before_the_last_session_ended() {
    let invariant = invariants::find("mutual-exclusion").expect("an invariant");
    let violated = |read_only| {
        let violated = |seed: &u64| {
            let run = run("zk-known-by-name", read_only, *seed);
            matches!(invariant.verdict(&run), Verdict::Violated(_))
        };
        (0..30).filter(violated).count()
    };
    assert!(violated(true) > 0);
    assert_eq!(violated(false), 0);
}

#[test]
fn a_client_that_began_at_a_read_only_server_gets_the_lock_from_one_with_a_leader() {
    let by = ContenderId(0);
    let mut seen = 0;
    for seed in 0..30 {
        let history = run("zk-same-name", true, seed).history;
        let mut events = history.events.iter().map(|event| &event.what);
        if !events.any(|what| *what == EventKind::ConnectedReadOnly { by }) {
            continue;
        }
        seen += 1;
        assert!(
            events.any(|what| *what == EventKind::Reconnected { by }),
            "seed {seed}"
        );
        assert!(
            events.any(
                |what| matches!(what, EventKind::Acquired { by: contender, .. } if *contender == by)
            ),
            "seed {seed}"
        );
    }
    assert!(seen > 0, "no client came to the read-only server");
}
