//! The points on which simulations of ZooKeeper tend to be wrong that need contenders, with their numbers in the list.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{ContenderId, EventKind, Run, Verdict, invariants};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    Service, Trigger, Workload,
};
use picklock_sim::simulate;

/// A run in which something happens to one of three contenders.
fn run(algorithm: &str, fenced: bool, when: Trigger, inject: Fault) -> Run {
    let plan = Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble::default()),
        network: Network::default(),
        workload: Workload {
            contenders: 3,
            arrive: Arrival::InOrder,
            hold: Hold::For(Duration::from_secs(2)),
            section: Section::Write,
            ..Workload::default()
        },
        resource: Resource { fenced },
        faults: vec![PlannedFault {
            when,
            after: Duration::ZERO,
            repeat: None,
            text: String::new(),
            inject,
        }],
        event_budget: 1_000_000,
    };
    simulate(&plan, 1).run
}

/// The verdicts on a run in which the holder stands still before it writes, for longer than its session lives.
fn paused(fenced: bool) -> impl Fn(&str) -> Verdict {
    let holder = ContenderName(0);
    let when = Trigger::Writing { by: holder, nth: 1 };
    let pause = Fault::Pause {
        target: holder,
        length: Duration::from_secs(20).into(),
    };
    let run = run("zk-predecessor-watch", fenced, when, pause);
    move |name| {
        let invariant = invariants::find(name).expect("an invariant");
        invariant.verdict(&run)
    }
}

/// D25.
#[test]
fn two_can_believe_while_one_owns_and_a_token_keeps_the_effect_safe() {
    let unfenced = paused(false);
    assert!(matches!(unfenced("mutual-exclusion"), Verdict::Violated(_)));
    assert_eq!(unfenced("exclusive-ownership"), Verdict::Holds);
    assert!(matches!(unfenced("no-stale-effect"), Verdict::Violated(_)));
    let fenced = paused(true);
    assert!(matches!(fenced("mutual-exclusion"), Verdict::Violated(_)));
    assert_eq!(fenced("no-stale-effect"), Verdict::Holds);
}

/// D30.
#[test]
fn a_library_that_retries_goes_on_in_a_new_session_and_says_nothing() {
    let expired = |algorithm| {
        let waiter = ContenderName(2);
        let when = Trigger::Waiting { by: waiter, nth: 1 };
        let history = run(
            algorithm,
            false,
            when,
            Fault::ExpireSession { target: waiter },
        )
        .history;
        let by = ContenderId(2);
        let count = |wanted: &dyn Fn(&EventKind) -> bool| {
            let events = history.events.iter();
            events.filter(|event| wanted(&event.what)).count()
        };
        (
            count(
                &|what| matches!(what, EventKind::SessionLost { by: contender } if *contender == by),
            ),
            count(
                &|what| matches!(what, EventKind::AcquireFailed { by: contender, .. } if *contender == by),
            ),
            count(
                &|what| matches!(what, EventKind::Acquired { by: contender, .. } if *contender == by),
            ),
        )
    };
    assert_eq!(expired("zk-predecessor-watch"), (1, 1, 1));
    assert_eq!(expired("curator-mutex"), (1, 0, 1));
}
