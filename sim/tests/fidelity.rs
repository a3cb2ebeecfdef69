//! The points on which simulations of ZooKeeper tend to be wrong that need contenders, with their numbers in the list.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{Verdict, invariants};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    Service, Trigger, Workload,
};
use picklock_sim::simulate;

/// The verdicts on a run in which the holder stands still before it writes, for longer than its session lives.
fn paused(fenced: bool) -> impl Fn(&str) -> Verdict {
    let holder = ContenderName(0);
    let plan = Plan {
        recipe: *registry::find("zk-predecessor-watch").expect("a registered algorithm"),
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
            when: Trigger::Writing { by: holder, nth: 1 },
            after: Duration::ZERO,
            text: String::new(),
            inject: Fault::Pause {
                target: holder,
                length: Duration::from_secs(20),
            },
        }],
        event_budget: 1_000_000,
    };
    let run = simulate(&plan, 1).run;
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
