//! How contenders come to the lock.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{History, What};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    Service, Trigger, Workload,
};
use picklock_sim::simulate;

const CONTENDERS: u32 = 12;

fn plan(algorithm: &str, arrive: Arrival, fault: Option<Fault>) -> Plan {
    let faults = fault.map(|inject| PlannedFault {
        when: Trigger::At(Duration::ZERO),
        after: Duration::ZERO,
        text: format!("{inject:?}"),
        inject,
    });
    Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble::default()),
        network: Network::default(),
        workload: Workload {
            contenders: CONTENDERS,
            arrive,
            hold: Hold::For(Duration::from_secs(1)),
            section: Section::Write,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: faults.into_iter().collect(),
        event_budget: 1_000_000,
    }
}

/// Who has come to the lock, in that order.
fn came(history: &History) -> Vec<u32> {
    let came = history.events.iter().filter_map(|event| match event.what {
        What::AcquireStarted { by, .. } => Some(by.0),
        _ => None,
    });
    came.collect()
}

/// How many had come before the lock was given back for the first time.
fn came_before_a_release(history: &History) -> usize {
    let mut events = history.events.iter();
    events
        .by_ref()
        .take_while(|event| !matches!(event.what, What::ReleaseStarted { .. }))
        .filter(|event| matches!(event.what, What::AcquireStarted { .. }))
        .count()
}

#[test]
fn behind_a_holder_all_others_queue_up_before_it_leaves() {
    for arrive in [Arrival::BehindHolder, Arrival::InOrderBehindHolder] {
        for algorithm in ["zk-same-name", "zk-predecessor-watch"] {
            let history = simulate(&plan(algorithm, arrive, None), 1).run.history;
            assert_eq!(came_before_a_release(&history), CONTENDERS as usize);
            assert_eq!(came(&history).len(), CONTENDERS as usize);
        }
    }
}

#[test]
fn they_do_so_in_their_own_order_if_that_is_wanted_and_else_in_any() {
    let in_order: Vec<u32> = (0..CONTENDERS).collect();
    let orders = |arrive| {
        let plan = plan("zk-same-name", arrive, None);
        (0..10).map(move |seed| came(&simulate(&plan, seed).run.history))
    };
    assert!(orders(Arrival::InOrderBehindHolder).all(|order| order == in_order));
    assert!(orders(Arrival::BehindHolder).all(|order| order != in_order));
}

#[test]
fn who_is_dead_or_stands_still_when_it_is_its_turn_holds_up_nobody_else() {
    let dead = Fault::Crash {
        target: ContenderName(5),
        restart_after: None,
    };
    let still = Fault::Pause {
        target: ContenderName(5),
        length: Duration::from_secs(30),
    };
    for fault in [dead, still] {
        let plan = plan("zk-same-name", Arrival::InOrderBehindHolder, Some(fault));
        let history = simulate(&plan, 1).run.history;
        let others: Vec<u32> = (0..CONTENDERS).filter(|place| *place != 5).collect();
        let came: Vec<u32> = came(&history).into_iter().filter(|by| *by != 5).collect();
        assert_eq!(came, others);
        assert_eq!(came_before_a_release(&history), others.len());
    }
}
