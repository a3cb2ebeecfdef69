//! Servers that run and do not serve: what it does to a lock.

use crate::common;
use crate::common::failovers;
use crate::common::moments;

use std::time::Duration;

use common::{A, acquired, history_on, planned, seconds};
use failovers::{crash, owned};
use moments::{fired, later, times};
use picklock_checker::{EventKind, History, VirtualTime};
use picklock_sim::plan::{
    Deployment, Fault, Fsync, Persistence, PlannedFault, Sentinels, ServerName, Service, Trigger,
};

const SERVER: ServerName = ServerName::Number(0);

fn full_disk(length: u64) -> Fault {
    Fault::FullDisk {
        target: SERVER,
        length: seconds(length).into(),
    }
}

fn on(deployment: Deployment, algorithm: &str, faults: Vec<PlannedFault>) -> History {
    history_on(Service::Redis(deployment), algorithm, faults)
}

fn logging() -> Deployment {
    Deployment {
        persistence: Persistence::Log(Fsync::EverySecond),
        ..Deployment::default()
    }
}

fn entered(history: &History) -> Vec<VirtualTime> {
    times(history, |what| matches!(what, EventKind::Acquired { .. }))
}

fn release_fails(history: &History) -> bool {
    let failed = |what: &EventKind| matches!(what, EventKind::ReleaseFailed { by: A, .. });
    !times(history, failed).is_empty()
}

#[test]
fn without_memory_a_lock_that_counts_holds_is_not_given_back_and_one_that_is_a_key_is() {
    let full = |algorithm| {
        let inject = Fault::FullMemory {
            target: SERVER,
            length: seconds(7).into(),
        };
        on(
            Deployment::default(),
            algorithm,
            vec![planned(acquired(), inject)],
        )
    };
    assert!(!release_fails(&full("redis-compare-and-delete")));
    let counted = full("redisson-lock");
    assert!(release_fails(&counted));
    // Its lease of ten seconds is the end of it.
    let second = entered(&counted)[1].since(VirtualTime::ZERO);
    assert!(second >= seconds(10), "{second:?}");
}

#[test]
fn with_a_full_disk_no_holder_gives_the_lock_back() {
    let early = planned(Trigger::At(Duration::ZERO), full_disk(8));
    let history = on(logging(), "redis-compare-and-delete", vec![early]);
    assert!(release_fails(&history));
    assert!(entered(&history)[1] >= VirtualTime::ZERO + seconds(10));
}

#[test]
fn sentinels_replace_a_primary_whose_disk_is_full_for_it_does_not_say_that_it_is_there() {
    let deployment = Deployment {
        replicas: 1,
        lease: seconds(30),
        sentinels: Some(Sentinels {
            down_after: seconds(1),
            failover_timeout: seconds(6),
            ..Sentinels::of(3)
        }),
        ..logging()
    };
    let faults = vec![later(500, acquired(), full_disk(20))];
    let history = on(deployment, "redis-fencing-token", faults);
    let full = fired(&history)[0];
    // The lock that the replica has is owned there, too, and the second has it long before the disk is free.
    assert!(owned(&history).iter().any(|at| at.since(full) > seconds(1)));
    assert!(entered(&history)[1] < full + seconds(20));
}

#[test]
fn a_loading_server_has_the_lock_and_grants_it_to_no_client() {
    let loading = |load_time| Deployment {
        persistence: Persistence::Log(Fsync::Always),
        load_time,
        lease: seconds(3),
        ..Deployment::default()
    };
    let second = |load_time| {
        let faults = vec![later(100, acquired(), crash(SERVER, 1))];
        let history = on(loading(load_time), "redis-compare-and-delete", faults);
        entered(&history)[1].since(fired(&history)[0])
    };
    assert!(second(Duration::ZERO) < seconds(4));
    assert!(second(seconds(6)) >= seconds(7));
}

/// A script of another client, half a second after the first has the lock.
fn slow_script(algorithm: &str, deployment: Deployment, length: u64) -> History {
    let inject = Fault::SlowScript {
        target: SERVER,
        length: seconds(length),
    };
    on(deployment, algorithm, vec![later(500, acquired(), inject)])
}

#[test]
fn while_a_script_runs_others_wait_and_then_they_are_refused() {
    let threshold = |busy_reply_threshold| Deployment {
        busy_reply_threshold,
        lease: seconds(30),
        timeout: seconds(10),
        ..Deployment::default()
    };
    let told = slow_script("redis-compare-and-delete", threshold(seconds(1)), 8);
    assert!(release_fails(&told));
    // No client gets `BUSY`, and one that waits for long enough is served when the script has ended.
    let waits = slow_script("redis-compare-and-delete", threshold(seconds(9)), 8);
    assert!(!release_fails(&waits));
    assert!(entered(&waits)[1].since(fired(&waits)[0]) >= seconds(8));
}

#[test]
fn while_a_script_runs_no_lease_is_renewed() {
    let short = Deployment {
        lease: seconds(3),
        busy_reply_threshold: seconds(1),
        ..Deployment::default()
    };
    let history = slow_script("redisson-lock", short, 8);
    assert!(entered(&history)[1].since(fired(&history)[0]) < seconds(10));
}
