//! Several faults of one victim at once: each lasts as long as it says, whatever ends meanwhile.

use crate::common;
use crate::common::first;

use std::time::Duration;

use common::{A, FIRST, history_on, plan_on, planned, seconds};
use first::first;
use picklock_checker::{Event, EventKind, History, VirtualTime};
use picklock_sim::plan::lease_server::LeaseServer;
use picklock_sim::plan::{
    Deployment, Direction, Ensemble, Fault, Fsync, Persistence, Plan, PlannedFault, Rate,
    ServerName, Service, Trigger,
};
use picklock_sim::simulate;

const SERVER: ServerName = ServerName::Number(0);

fn ensemble() -> Service {
    Service::ZooKeeper(Ensemble::default())
}

fn redis() -> Service {
    Service::Redis(Deployment {
        persistence: Persistence::Log(Fsync::Always),
        ..Deployment::default()
    })
}

fn at(millis: u64, inject: Fault) -> PlannedFault {
    planned(Trigger::At(Duration::from_millis(millis)), inject)
}

fn pause(length: u64) -> Fault {
    Fault::Pause {
        target: FIRST,
        length: seconds(length).into(),
    }
}

fn crash(restart_after: u64) -> Fault {
    Fault::Crash {
        target: FIRST,
        restart_after: Some(seconds(restart_after)),
    }
}

fn resumes(history: &History) -> Vec<VirtualTime> {
    let events = history.events.iter();
    let resumes = events.filter(|event| event.what == EventKind::Resumed { by: A });
    resumes.map(|event| event.at).collect()
}

fn after(secs: u64) -> VirtualTime {
    VirtualTime::ZERO + seconds(secs)
}

#[test]
fn a_process_goes_on_when_the_last_of_its_pauses_is_over() {
    for faults in [[at(1_000, pause(20)), at(2_000, pause(1))], {
        [at(1_000, pause(3)), at(2_000, pause(19))]
    }] {
        let history = history_on(ensemble(), "zk-hardened", faults.to_vec());
        assert_eq!(resumes(&history), [after(21)]);
    }
}

#[test]
fn a_process_that_was_started_again_is_paused_by_later_pauses() {
    let faults = vec![
        at(1_000, pause(9)),
        at(2_000, crash(1)),
        at(4_000, pause(20)),
    ];
    let history = history_on(ensemble(), "zk-hardened", faults);
    let restarted = |what: &EventKind| matches!(what, EventKind::Restarted { by: A });
    assert_eq!(first(&history, restarted), Some(after(3)));
    assert_eq!(resumes(&history), [after(24)], "the first pause died");
}

/// A kind of fault that heals, on a service where it can be seen; it lasts so long.
struct Row {
    service: fn() -> Service,
    algorithm: &'static str,
    fault: fn(Duration) -> Fault,
}

const ON_ZOOKEEPER: [fn(Duration) -> Fault; 12] = [
    |length| Fault::Pause {
        target: FIRST,
        length: length.into(),
    },
    |length| Fault::BlockEvents {
        target: FIRST,
        length: length.into(),
    },
    |length| Fault::BlackHole {
        target: FIRST,
        direction: Direction::ToServer,
        length: length.into(),
    },
    |length| Fault::SlowLink {
        target: FIRST,
        direction: Direction::Both,
        by: seconds(1),
        length: length.into(),
    },
    |length| Fault::LosePackets {
        target: FIRST,
        direction: Direction::Both,
        rate: Rate::percent(60),
        length,
    },
    |length| Fault::ClockDrift {
        target: FIRST,
        parts_per_million: 300_000,
        length: Some(length),
    },
    |length| Fault::CrashServer {
        target: SERVER,
        restart_after: Some(length),
    },
    |length| Fault::HangServer {
        target: SERVER,
        length: length.into(),
    },
    |length| Fault::IsolateServer {
        target: SERVER,
        length: length.into(),
    },
    |length| Fault::Partition {
        servers: vec![SERVER],
        contenders: vec![FIRST],
        length: length.into(),
    },
    |length| Fault::LagServer {
        target: SERVER,
        by: seconds(1),
        length: length.into(),
    },
    |length| Fault::SlowDisk {
        target: SERVER,
        fsync: seconds(2),
        length: length.into(),
    },
];

const ON_REDIS: [fn(Duration) -> Fault; 7] = [
    ON_ZOOKEEPER[1],
    |length| Fault::CrashServer {
        target: SERVER,
        restart_after: Some(length),
    },
    |length| Fault::PowerLoss {
        target: SERVER,
        restart_after: Some(length),
    },
    |length| Fault::HangServer {
        target: SERVER,
        length: length.into(),
    },
    |length| Fault::FullMemory {
        target: SERVER,
        length: length.into(),
    },
    |length| Fault::FullDisk {
        target: SERVER,
        length: length.into(),
    },
    |length| Fault::SlowScript {
        target: SERVER,
        length,
    },
];

const ON_LEASE_SERVER: [fn(Duration) -> Fault; 2] = [ON_REDIS[1], ON_REDIS[3]];

fn rows() -> Vec<Row> {
    let row = |service: fn() -> Service, algorithm| {
        move |fault: &fn(Duration) -> Fault| Row {
            service,
            algorithm,
            fault: *fault,
        }
    };
    let lease_server = || Service::LeaseServer(LeaseServer::default());
    let zookeeper = { ON_ZOOKEEPER.iter() }.map(row(ensemble, "zk-hardened"));
    let redis = { ON_REDIS.iter() }.map(row(redis, "redis-compare-and-delete"));
    let lease = { ON_LEASE_SERVER.iter() }.map(row(lease_server, "lease-lock"));
    zookeeper.chain(redis).chain(lease).collect()
}

fn plan(row: &Row, faults: Vec<PlannedFault>) -> Plan {
    let mut plan = plan_on((row.service)(), row.algorithm, faults);
    plan.workload.rounds = 5;
    plan
}

/// What happens, but for faults: the same of both, if the second fault changes nothing.
fn happens(row: &Row, faults: Vec<PlannedFault>) -> Vec<Event> {
    let mut events = simulate(&plan(row, faults), 1).run.history.events;
    events.retain(|event| {
        !matches!(
            event.what,
            EventKind::FaultFired { .. } | EventKind::FaultHealed { .. }
        )
    });
    events
}

fn first_that_differs<'e>(one: &'e [Event], other: &'e [Event]) -> Option<(&'e Event, &'e Event)> {
    let mut pairs = one.iter().zip(other);
    pairs.find(|(one, other)| one != other)
}

#[test]
fn the_end_of_a_short_fault_does_not_end_a_long_one() {
    for row in rows() {
        let long = at(1_000, (row.fault)(seconds(12)));
        let short = at(2_000, (row.fault)(seconds(1)));
        let alone = happens(&row, vec![long.clone()]);
        let both = happens(&row, vec![long.clone(), short]);
        assert_eq!(first_that_differs(&both, &alone), None, "{}", long.text);
        let never = happens(&row, Vec::new());
        assert_ne!(first_that_differs(&never, &alone), None, "{}", long.text);
    }
}

#[test]
fn what_is_slow_by_two_faults_is_as_slow_as_the_worse() {
    let slow = |by| Fault::SlowLink {
        target: FIRST,
        direction: Direction::Both,
        by,
        length: seconds(10).into(),
    };
    let row = Row {
        service: redis,
        algorithm: "redis-compare-and-delete",
        fault: |_| pause(1),
    };
    let (less, more) = (Duration::from_millis(10), seconds(1));
    let alone = happens(&row, vec![at(1_000, slow(more))]);
    for both in [[less, more], [more, less]] {
        let faults = both.map(|by| at(1_000, slow(by)));
        let both = happens(&row, faults.to_vec());
        assert_eq!(first_that_differs(&both, &alone), None);
    }
}
