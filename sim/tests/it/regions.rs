//! Regions: messages take as long as it is far from where they leave to where they arrive.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_sim::plan::{
    Arrival, Cluster, ContenderName, Deployment, Ensemble, Hold, Network, Plan, Region, Regions,
    Resource, Sentinels, ServerName, Service, Workload,
};
use picklock_sim::simulate;

const A: ContenderId = ContenderId(0);
const B: ContenderId = ContenderId(1);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Two regions that are so far from each other; in the second lie these servers and contenders.
fn apart(far: Duration, servers: &[u32], contenders: &[u32], resource: bool) -> Regions {
    let near = Region {
        name: "near".to_owned(),
        servers: (0..9)
            .filter(|index| !servers.contains(index))
            .map(ServerName::Number)
            .collect(),
        contenders: vec![ContenderName(0)],
        resource: !resource,
    };
    let other = Region {
        name: "other".to_owned(),
        servers: servers.iter().copied().map(ServerName::Number).collect(),
        contenders: contenders.iter().copied().map(ContenderName).collect(),
        resource,
    };
    Regions {
        all: vec![near, other],
        between: [(Regions::pair("near", "other"), (far, far))].into(),
    }
}

fn history(service: Service, algorithm: &str, regions: Regions) -> History {
    let plan = Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service,
        network: Network {
            client_latency: (millis(1), millis(1)),
            server_latency: (millis(1), millis(1)),
            regions,
            ..Network::default()
        },
        workload: Workload {
            contenders: 2,
            arrive: Arrival::InOrder,
            hold: Hold::For(millis(5_000)),
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: 1_000_000,
    };
    simulate(&plan, 1).run.history
}

fn at(history: &History, is: impl Fn(&EventKind) -> bool) -> VirtualTime {
    let mut events = history.events.iter();
    events.find(|event| is(&event.what)).expect("it happens").at
}

/// From the call of `acquire` to its return.
fn takes(history: &History, who: ContenderId) -> Duration {
    let asked = at(
        history,
        |what| matches!(what, EventKind::AcquireStarted { by, .. } if *by == who),
    );
    let entered = at(
        history,
        |what| matches!(what, EventKind::Acquired { by, .. } if *by == who),
    );
    Duration::from_micros(entered.micros() - asked.micros())
}

fn on_redis(deployment: Deployment, algorithm: &str, regions: Regions) -> History {
    history(Service::Redis(deployment), algorithm, regions)
}

#[test]
fn one_server_across_an_ocean_is_far_from_one_contender_and_near_to_none() {
    let algorithm = "redis-compare-and-delete";
    let near = on_redis(Deployment::default(), algorithm, Regions::default());
    let far = on_redis(
        Deployment::default(),
        algorithm,
        apart(millis(50), &[0], &[], true),
    );
    assert!(takes(&near, A) < millis(20));
    // A connection, and one command.
    assert!(takes(&far, A) >= millis(100), "{:?}", takes(&far, A));
}

#[test]
fn a_contender_near_the_server_does_not_wait_for_the_ocean() {
    let algorithm = "redis-compare-and-delete";
    let regions = apart(millis(50), &[0], &[1], true);
    let history = on_redis(Deployment::default(), algorithm, regions);
    let left = at(&history, |what| {
        matches!(what, EventKind::Released { by: A, .. })
    });
    let entered = at(&history, |what| {
        matches!(what, EventKind::Acquired { by: B, .. })
    });
    // The holder hears of its release after the near contender has the lock, or much at the same time.
    assert!(entered.micros() < left.micros() + 200_000);
    assert!(takes(&history, A) >= millis(100));
}

#[test]
fn the_resource_lies_somewhere_too() {
    let algorithm = "redis-compare-and-delete";
    let write = |history: &History| {
        let begun = at(history, |what| {
            matches!(what, EventKind::Writing { by: A, .. })
        });
        let written = at(history, |what| {
            matches!(what, EventKind::Written { by: A, .. })
        });
        Duration::from_micros(written.micros() - begun.micros())
    };
    let near = on_redis(
        Deployment::default(),
        algorithm,
        apart(millis(70), &[], &[1], false),
    );
    let far = on_redis(
        Deployment::default(),
        algorithm,
        apart(millis(70), &[], &[1], true),
    );
    assert_eq!((write(&near), write(&far)), (millis(2), millis(140)));
}

#[test]
fn a_majority_across_an_ocean_is_waited_for_and_a_minority_is_not() {
    let five = || Deployment {
        servers: 5,
        timeout: Duration::from_secs(1),
        ..Deployment::default()
    };
    let minority = on_redis(five(), "redlock", apart(millis(100), &[3, 4], &[], false));
    let majority = on_redis(
        five(),
        "redlock",
        apart(millis(100), &[2, 3, 4], &[], false),
    );
    assert!(
        takes(&majority, A) >= millis(200),
        "{:?}",
        takes(&majority, A)
    );
    assert!(takes(&minority, A) <= takes(&majority, A));
}

#[test]
fn a_write_waits_for_a_quorum_wherever_it_lies() {
    let service = || Service::ZooKeeper(Ensemble::default());
    // Any leader needs one other server: with two across the ocean, that lies there, or the client is far away.
    let one = history(
        service(),
        "zk-hardened",
        apart(millis(80), &[2], &[], false),
    );
    let each = Regions {
        all: (0..3)
            .map(|index| Region {
                name: format!("region-{index}"),
                servers: vec![ServerName::Number(index)],
                ..Region::default()
            })
            .collect(),
        between: [(0, 1), (0, 2), (1, 2)]
            .map(|(one, other)| {
                let name = |index: i32| format!("region-{index}");
                (
                    Regions::pair(&name(one), &name(other)),
                    (millis(80), millis(80)),
                )
            })
            .into(),
    };
    let spread = history(service(), "zk-hardened", each);
    // Each contender has to make a node: a proposal there, and an acknowledgement back.
    assert!(takes(&spread, A) >= millis(160), "{:?}", takes(&spread, A));
    assert!(takes(&spread, A) >= takes(&one, A).min(millis(160)));
}

#[test]
fn replicas_sentinels_and_clusters_have_their_places() {
    let replicas = Deployment {
        replicas: 2,
        ..Deployment::default()
    };
    let sentinels = Deployment {
        sentinels: Some(Sentinels::of(3)),
        ..replicas.clone()
    };
    let cluster = Deployment {
        cluster: Some(Cluster::of(3, 1)),
        ..Deployment::default()
    };
    for deployment in [replicas, sentinels, cluster] {
        let algorithm = "redis-compare-and-delete";
        let here = on_redis(deployment.clone(), algorithm, Regions::default());
        let there = on_redis(
            deployment,
            algorithm,
            apart(millis(60), &[1, 2, 3, 4], &[1], false),
        );
        assert_ne!(here.events.len(), 0);
        let [here, there] = [here, there].map(|history| {
            let of_b = |what: &EventKind| matches!(what, EventKind::Acquired { by: B, .. });
            at(&history, of_b)
        });
        assert_ne!(here, there);
    }
}
