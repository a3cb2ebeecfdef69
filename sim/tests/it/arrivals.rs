//! How contenders come to the lock.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{EventKind, History};
use picklock_sim::plan::{
    Arrival, ContenderName, Deployment, Ensemble, Fault, Hold, Network, Plan, PlannedFault,
    Resource, Section, Service, Trigger, Workload,
};
use picklock_sim::simulate;

const CONTENDERS: u32 = 12;

fn plan(algorithm: &str, arrive: Arrival, fault: Option<Fault>) -> Plan {
    let faults = fault.map(|inject| PlannedFault {
        when: Trigger::At(Duration::ZERO),
        after: Duration::ZERO,
        repeat: None,
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

/// The contenders that have come to the lock, in order.
fn came(history: &History) -> Vec<u32> {
    let came = history.events.iter().filter_map(|event| match event.what {
        EventKind::AcquireStarted { by, .. } => Some(by.0),
        _ => None,
    });
    came.collect()
}

/// The contenders that have got the lock, in order.
fn got(history: &History) -> Vec<u32> {
    let got = history.events.iter().filter_map(|event| match event.what {
        EventKind::Acquired { by, .. } => Some(by.0),
        _ => None,
    });
    got.collect()
}

/// All contenders but one.
fn all_but(one: u32) -> Vec<u32> {
    (0..CONTENDERS).filter(|index| *index != one).collect()
}

/// How many had come before the lock was given back for the first time.
fn came_before_a_release(history: &History) -> usize {
    let mut events = history.events.iter();
    events
        .by_ref()
        .take_while(|event| !matches!(event.what, EventKind::ReleaseStarted { .. }))
        .filter(|event| matches!(event.what, EventKind::AcquireStarted { .. }))
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
fn a_dead_or_paused_contender_does_not_hold_up_the_next() {
    let dead = Fault::Crash {
        target: ContenderName(5),
        restart_after: None,
    };
    let still = Fault::Pause {
        target: ContenderName(5),
        length: Duration::from_secs(30).into(),
    };
    for fault in [dead, still] {
        let plan = plan("zk-same-name", Arrival::InOrderBehindHolder, Some(fault));
        let history = simulate(&plan, 1).run.history;
        let came: Vec<u32> = came(&history).into_iter().filter(|by| *by != 5).collect();
        assert_eq!(came, all_but(5));
        assert_eq!(came_before_a_release(&history), CONTENDERS as usize - 1);
    }
}

#[test]
fn a_contender_dead_at_its_turn_gets_the_lock_when_it_is_back() {
    let dead = Fault::Crash {
        target: ContenderName(5),
        restart_after: Some(Duration::from_secs(3)),
    };
    for arrive in [Arrival::BehindHolder, Arrival::InOrderBehindHolder] {
        let plan = plan("zk-same-name", arrive, Some(dead.clone()));
        let history = simulate(&plan, 1).run.history;
        let others = CONTENDERS as usize - 1;
        assert_eq!(came_before_a_release(&history), others, "{arrive:?}");
        let mut got = got(&history);
        got.sort_unstable();
        assert_eq!(got, Vec::from_iter(0..CONTENDERS), "{arrive:?}");
    }
}

#[test]
fn a_first_that_dies_for_good_as_it_comes_lets_the_others_come() {
    let dies = Fault::Crash {
        target: ContenderName(0),
        restart_after: None,
    };
    let (by, nth) = (ContenderName(0), 1);
    for arrive in [Arrival::BehindHolder, Arrival::InOrderBehindHolder] {
        let mut plan = plan("zk-same-name", arrive, Some(dies.clone()));
        plan.faults[0].when = Trigger::Acquiring { by, nth };
        let history = simulate(&plan, 1).run.history;
        let mut came = came(&history);
        if arrive == Arrival::BehindHolder {
            came.sort_unstable();
        }
        assert_eq!(came, Vec::from_iter(0..CONTENDERS), "{arrive:?}");
        let mut got = got(&history);
        got.sort_unstable();
        assert_eq!(got, all_but(0), "{arrive:?}");
    }
}

#[test]
fn a_lone_contender_does_not_wait() {
    for arrive in [Arrival::BehindHolder, Arrival::InOrderBehindHolder] {
        for hold in [Hold::For(Duration::from_secs(1)), Hold::Settled] {
            let mut plan = plan("zk-same-name", arrive, None);
            plan.workload.contenders = 1;
            plan.workload.hold = hold;
            let history = simulate(&plan, 1).run.history;
            assert_eq!((came(&history), got(&history)), (vec![0], vec![0]));
            let released = |what: &EventKind| matches!(what, EventKind::Released { .. });
            assert!(history.events.iter().any(|event| released(&event.what)));
        }
    }
}

#[test]
fn they_queue_up_in_order_at_a_lock_in_redis_too() {
    for algorithm in ["redis-compare-and-delete", "redisson-lock"] {
        let mut plan = plan(algorithm, Arrival::InOrderBehindHolder, None);
        plan.service = Service::Redis(Deployment::default());
        let history = simulate(&plan, 1).run.history;
        assert_eq!(came(&history), Vec::from_iter(0..CONTENDERS));
        assert_eq!(came_before_a_release(&history), CONTENDERS as usize);
        let mut got = got(&history);
        assert_eq!(got[0], 0);
        got.sort_unstable();
        assert_eq!(got, Vec::from_iter(0..CONTENDERS));
    }
}
