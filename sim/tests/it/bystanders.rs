//! Bystanders read something else on the same service, and feel what the lock does to it.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_sim::plan::{
    Arrival, Cluster, Deployment, Ensemble, Hold, Network, Plan, ReadFrom, Resource, Section,
    Sentinels, Service, Workload,
};
use picklock_sim::{Simulated, simulate};

const LATENCY: Duration = Duration::from_millis(2);

fn run(service: Service, algorithm: &str, contenders: u32) -> Simulated {
    let plan = Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service,
        network: Network {
            client_latency: (LATENCY, LATENCY),
            ..Network::default()
        },
        workload: Workload {
            contenders,
            arrive: Arrival::Together,
            hold: Hold::For(Duration::from_millis(200)),
            section: Section::Nothing,
            bystanders: 3,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: 10_000_000,
    };
    simulate(&plan, 1)
}

fn redis(deployment: Deployment) -> Service {
    Service::Redis(deployment)
}

fn to_and_fro() -> u64 {
    LATENCY.as_micros() as u64 * 2
}

#[test]
fn on_every_kind_of_service_what_bystanders_read_is_measured_before_and_while_the_queue_drains() {
    let plain = "redis-compare-and-delete";
    let replicated = Deployment {
        replicas: 2,
        ..Deployment::default()
    };
    let table = [
        (
            "an ensemble",
            Service::ZooKeeper(Ensemble::default()),
            "zk-hardened",
        ),
        ("one server", redis(Deployment::default()), plain),
        (
            "servers that know nothing of each other",
            redis(Deployment {
                servers: 5,
                ..Deployment::default()
            }),
            "redlock",
        ),
        ("replicas", redis(replicated.clone()), plain),
        (
            "reads from replicas",
            redis(Deployment {
                read_from: ReadFrom::Replicas,
                ..replicated.clone()
            }),
            plain,
        ),
        (
            "Sentinels",
            redis(Deployment {
                sentinels: Some(Sentinels::of(3)),
                ..replicated
            }),
            plain,
        ),
        (
            "a cluster",
            redis(Deployment {
                cluster: Some(Cluster::of(3, 1)),
                ..Deployment::default()
            }),
            plain,
        ),
    ];
    for (name, service, algorithm) in table {
        let samples = run(service, algorithm, 4).samples;
        for measured in [&samples.bystander_idle, &samples.bystander] {
            assert!(measured.len() > 10, "{name}: {}", measured.len());
            assert!(measured.iter().all(|took| *took >= to_and_fro()), "{name}");
        }
    }
}

#[test]
fn a_bystander_of_redis_waits_behind_polling_contenders() {
    let slow = Deployment {
        command_time: Duration::from_millis(3),
        ..Deployment::default()
    };
    let mean = |contenders| {
        let simulated = run(redis(slow.clone()), "redis-compare-and-delete", contenders);
        let measured = simulated.samples.bystander;
        measured.iter().sum::<u64>() / measured.len() as u64
    };
    let (few, many) = (mean(2), mean(40));
    assert!(many > few + 1_000, "{few} and {many}");
}
