//! What lasts long and in which little happens costs little: the engine's events are counted, and not the time.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{Ended, EventKind};
use picklock_sim::plan::{
    Cluster, ContenderName, Deployment, Ensemble, Fault, Hold, Network, Plan, PlannedFault,
    Resource, Sentinels, ServerName, Service, Trigger, Workload,
};
use picklock_sim::simulate;

const LONG: u64 = 900;
const FIRST: ContenderName = ContenderName(0);

/// Three contenders on a service, the first of which has got the lock when the faults strike.
fn plan_on(service: Service, algorithm: &str, faults: Vec<Fault>) -> Plan {
    let planned = |inject: Fault| PlannedFault {
        when: Trigger::Acquired { by: FIRST, nth: 1 },
        after: Duration::ZERO,
        repeat: None,
        text: format!("{inject:?}"),
        inject,
    };
    Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service,
        network: Network::default(),
        workload: Workload::default(),
        resource: Resource { fenced: false },
        faults: faults.into_iter().map(planned).collect(),
        event_budget: 50_000_000,
    }
}

/// The events of the engine in a run that comes to its end.
fn events(plan: Plan) -> u64 {
    let run = simulate(&plan, 1).run;
    let last = run.history.events.last().map(|event| &event.what);
    let over = Some(&EventKind::Ended {
        why: Ended::OutOfBudget,
    });
    assert_ne!(last, over, "{:?}", plan.faults);
    run.counts.engine_events
}

/// Four times the time is four times the events at most, and there are not more than so many in a quarter of an hour.
fn costs_what_happens(most: u64, plan: impl Fn(u64) -> Plan) {
    let (one, four) = (events(plan(LONG)), events(plan(4 * LONG)));
    assert!(one <= most, "{one} events");
    assert!(
        four <= one * 4 + one / 2,
        "{one} events, and {four} in four times as long"
    );
}

fn server(number: u32) -> ServerName {
    ServerName::Number(number)
}

fn hangs(servers: u32, length: u64) -> Vec<Fault> {
    let hang = |number| Fault::HangServer {
        target: server(number),
        length: Duration::from_secs(length).into(),
    };
    (0..servers).map(hang).collect()
}

fn ensemble() -> Service {
    Service::ZooKeeper(Ensemble::default())
}

fn sentinels() -> Service {
    Service::Redis(Deployment {
        replicas: 2,
        sentinels: Some(Sentinels::of(3)),
        ..Deployment::default()
    })
}

fn cluster() -> Service {
    Service::Redis(Deployment {
        cluster: Some(Cluster::of(3, 1)),
        ..Deployment::default()
    })
}

#[test]
fn servers_of_zookeeper_that_stand_still_for_long_cost_what_clients_try() {
    for servers in 1..=3 {
        costs_what_happens(100_000, |length| {
            plan_on(ensemble(), "zk-predecessor-watch", hangs(servers, length))
        });
    }
}

#[test]
fn a_client_that_stands_still_for_long_costs_what_the_others_do() {
    costs_what_happens(200_000, |length| {
        let pause = Fault::Pause {
            target: FIRST,
            length: Duration::from_secs(length).into(),
        };
        plan_on(ensemble(), "zk-predecessor-watch", vec![pause])
    });
}

#[test]
fn a_redis_server_that_stands_still_for_long_costs_what_clients_try() {
    for service in [
        Service::Redis(Deployment::default()),
        sentinels(),
        cluster(),
    ] {
        costs_what_happens(1_000_000, |length| {
            plan_on(
                service.clone(),
                "redis-compare-and-delete",
                hangs(1, length),
            )
        });
    }
}

#[test]
fn a_lock_that_is_held_for_long_costs_its_signs_of_life() {
    let held = |service: Service, algorithm: &str, length| {
        let mut plan = plan_on(service, algorithm, Vec::new());
        plan.workload.hold = Hold::For(Duration::from_secs(length));
        plan
    };
    costs_what_happens(200_000, |length| {
        held(ensemble(), "zk-predecessor-watch", length)
    });
    let redis = || Service::Redis(Deployment::default());
    costs_what_happens(50_000, |length| held(redis(), "redisson-lock", length));
    costs_what_happens(1_000_000, |length| {
        held(sentinels(), "redisson-lock", length)
    });
    costs_what_happens(1_000_000, |length| held(cluster(), "redisson-lock", length));
}
