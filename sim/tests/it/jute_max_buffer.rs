//! A queue whose list is longer than clients read: no contender can go on, and the run says so and ends.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{Ended, EventKind, ListTooLong, Run};
use picklock_sim::plan::{
    Arrival, Ensemble, Hold, Network, Plan, Resource, Section, Service, Workload,
};
use picklock_sim::simulate;

/// Contenders in a queue, and how many bytes are read.
fn queue(algorithm: &str, contenders: u32, jute_max_buffer: u32, hold: Hold) -> Run {
    let latency = Duration::from_micros(500);
    let plan = Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble {
            servers: 1,
            jute_max_buffer,
            ..Ensemble::default()
        }),
        network: Network {
            client_latency: (latency, latency),
            ..Network::default()
        },
        workload: Workload {
            contenders,
            arrive: Arrival::BehindHolder,
            hold,
            section: Section::Nothing,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: 10_000_000,
    };
    simulate(&plan, 0).run
}

fn ended(run: &Run) -> Option<Ended> {
    let mut ends = run
        .history
        .events
        .iter()
        .filter_map(|event| match event.what {
            EventKind::Ended { why } => Some(why),
            _ => None,
        });
    ends.next_back()
}

#[test]
fn a_queue_too_long_to_list_ends_the_run_with_the_number() {
    for hold in [Hold::Settled, Hold::For(Duration::from_secs(5))] {
        let run = queue("zk-predecessor-watch", 100, 2_048, hold);
        assert_eq!(ended(&run), Some(Ended::BoundReached));
        let Some(ListTooLong { children, most }) = run.history.too_long else {
            panic!("the history names the list");
        };
        assert!((30..=100).contains(&children), "{children}");
        assert_eq!(most, 2_048);
        assert!(
            run.counts.engine_events < 500_000,
            "{}",
            run.counts.engine_events
        );
    }
}

#[test]
fn a_larger_buffer_lets_the_same_queue_drain() {
    let run = queue("zk-predecessor-watch", 100, 8_192, Hold::Settled);
    assert_eq!(ended(&run), Some(Ended::AllFinished));
    assert_eq!(run.history.too_long, None);
    assert_eq!(run.counts.grants, 100);
}

#[test]
fn a_queue_whose_list_fits_once_the_holder_has_gone_drains() {
    // The shortest list that is too long while the first holds the lock.
    let fits = |contenders| {
        let run = queue(
            "zk-predecessor-watch",
            contenders,
            2_048,
            Hold::For(Duration::from_secs(5)),
        );
        (ended(&run), run.history.too_long)
    };
    let drains = |contenders: &u32| fits(*contenders) == (Some(Ended::AllFinished), None);
    let longest = (20..100).take_while(drains).last();
    assert!(longest.is_some_and(|longest| longest < 60), "{longest:?}");
}
