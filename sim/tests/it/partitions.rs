//! Partitions that leave some clients on each side.

use crate::common;
use crate::common::moments;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use moments::{fired, later, times};
use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_sim::plan::{
    Cluster, ContenderName, Deployment, Ensemble, Fault, PlannedFault, Sentinels, ServerName,
    Service, Trigger,
};
use picklock_sim::simulate;

const SECOND: ContenderName = ContenderName(1);

fn cut_off(servers: &[ServerName], contenders: &[ContenderName], length: u64) -> PlannedFault {
    let inject = Fault::Partition {
        servers: servers.to_vec(),
        contenders: contenders.to_vec(),
        length: seconds(length).into(),
    };
    planned(Trigger::At(Duration::ZERO), inject)
}

fn sentinels() -> Deployment {
    Deployment {
        replicas: 2,
        lease: seconds(30),
        sentinels: Some(Sentinels {
            down_after: seconds(1),
            failover_timeout: seconds(6),
            ..Sentinels::of(3)
        }),
        ..Deployment::default()
    }
}

fn on_redis(deployment: Deployment, partition: PlannedFault) -> History {
    let service = Service::Redis(deployment);
    history_on(service, "redis-compare-and-delete", vec![partition])
}

/// When each of the two enters, in the order of their names.
fn entered(history: &History) -> [VirtualTime; 2] {
    [0, 1].map(|index| {
        let entered = times(
            history,
            |what| matches!(what, EventKind::Acquired { by, .. } if *by == ContenderId(index)),
        );
        entered[0]
    })
}

#[test]
fn each_side_with_a_primary_gives_the_lock_to_its_own_clients() {
    let old_side = [ServerName::Number(0), ServerName::Sentinel(0)];
    let partition = PlannedFault {
        when: acquired(),
        ..cut_off(&old_side, &[FIRST], 20)
    };
    let deployment = Deployment {
        lease: seconds(6),
        ..sentinels()
    };
    let mut plan = plan_on(
        Service::Redis(deployment),
        "redis-compare-and-delete",
        vec![partition],
    );
    plan.workload.rounds = 3;
    let history = simulate(&plan, 1).run.history;
    let over = fired(&history)[0] + seconds(20);
    let entered = |index| {
        let enters =
            |what: &EventKind| matches!(what, EventKind::Acquired { by, .. } if by.0 == index);
        times(&history, enters)
            .into_iter()
            .filter(|at| *at < over)
            .count()
    };
    assert_eq!(entered(0), 3, "on the side of the old primary");
    assert!(entered(1) > 1, "on the side of the new one");
}

#[test]
fn a_primary_that_must_have_replicas_takes_writes_in_a_minority_only_for_the_lag_that_it_allows() {
    let deployment = |replicas| Deployment {
        min_replicas_to_write: replicas,
        min_replicas_max_lag: seconds(1),
        ..sentinels()
    };
    let old_side = [ServerName::Number(0), ServerName::Sentinel(0)];
    let partition = cut_off(&old_side, &[FIRST, SECOND], 20);
    let alone = later(3_000, partition.when, partition.inject);
    // The first has the lock until 5 s; the second waits for it on the same side.
    let takes = |replicas| on_redis(deployment(replicas), alone.clone());
    let [first, second] = entered(&takes(0));
    assert!(second.since(first) < seconds(6));
    let refused = takes(1);
    let [first, second] = entered(&refused);
    assert!(
        second.since(first) >= seconds(20),
        "{:?}",
        second.since(first)
    );
}

#[test]
fn a_minority_of_independent_servers_grants_no_lock() {
    let deployment = Deployment {
        servers: 5,
        ..Deployment::default()
    };
    let two = [ServerName::Number(0), ServerName::Number(1)];
    let service = Service::Redis(deployment);
    let history = history_on(service, "redlock", vec![cut_off(&two, &[FIRST], 8)]);
    let [minority, majority] = entered(&history).map(|at| at.since(VirtualTime::ZERO));
    assert!(majority < seconds(8), "{majority:?}");
    assert!(minority >= seconds(8), "{minority:?}");
}

#[test]
fn in_a_cluster_the_minority_stops_and_the_clients_of_the_others_go_on() {
    let cluster = Deployment {
        lease: seconds(30),
        cluster: Some(Cluster {
            node_timeout: seconds(2),
            ..Cluster::of(3, 1)
        }),
        ..Deployment::default()
    };
    // The primary of the lock's slot.
    let minority = [ServerName::Number(1)];
    let history = on_redis(cluster, cut_off(&minority, &[FIRST], 15));
    let [old, new] = entered(&history).map(|at| at.since(VirtualTime::ZERO));
    assert!(old < seconds(1), "{old:?}");
    assert!((seconds(2)..seconds(8)).contains(&new), "{new:?}");
}

#[test]
fn a_client_that_is_cut_off_with_a_follower_loses_its_session_to_one_on_the_other_side() {
    let inject = Fault::Partition {
        servers: vec![ServerName::Follower(0)],
        contenders: vec![SECOND],
        length: seconds(30).into(),
    };
    let ensemble = Ensemble {
        session_timeout: seconds(6),
        ..Ensemble::default()
    };
    let service = Service::ZooKeeper(ensemble);
    let history = history_on(
        service,
        "zk-predecessor-watch",
        vec![planned(acquired(), inject)],
    );
    let struck = fired(&history)[0];
    let expired = times(
        &history,
        |what| matches!(what, EventKind::SessionExpired { by, .. } if *by == ContenderId(1)),
    );
    let lasted = expired[0].since(struck);
    assert!((seconds(4)..seconds(10)).contains(&lasted), "{lasted:?}");
    let left = times(&history, |what| {
        matches!(what, EventKind::Released { by: A, .. })
    });
    assert!(
        left[0].since(struck) < seconds(6),
        "the first is on the side of the leader"
    );
}
