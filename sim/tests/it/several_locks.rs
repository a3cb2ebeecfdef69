//! Several locks in one run: each has a queue, an owner, and a resource of its own.

use crate::common;
use crate::common::violated;

use std::collections::BTreeSet;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_checker::{ContenderId, Disowned, EventKind, LockId, Run};
use picklock_sim::plan::{
    Cluster, ContenderName, ContenderSettings, Deployment, Ensemble, Fault, Hold, LockName, Plan,
    Section, ServerName, Service, Trigger,
};
use picklock_sim::simulate;
use violated::violated;

const TWO: [LockId; 2] = [LockId(0), LockId(1)];

/// Four contenders that take two locks in turn.
fn plan(service: Service, recipe: &str) -> Plan {
    let mut plan = plan_on(service, recipe, Vec::new());
    plan.workload.contenders = 4;
    plan.workload.locks = 2;
    plan.workload.rounds = 4;
    plan.workload.hold = Hold::For(seconds(1));
    plan.workload.section = Section::Count;
    plan
}

fn zookeeper() -> Service {
    Service::ZooKeeper(Ensemble::default())
}

fn redis() -> Service {
    Service::Redis(Deployment::default())
}

fn cluster() -> Service {
    Service::Redis(Deployment {
        cluster: Some(Cluster::of(3, 0)),
        ..Deployment::default()
    })
}

/// The locks of events of a kind.
fn locks_of(run: &Run, is: impl Fn(&EventKind) -> bool) -> BTreeSet<LockId> {
    let events = run.history.events.iter().filter(|event| is(&event.what));
    events.filter_map(|event| event.what.lock()).collect()
}

#[test]
fn each_lock_has_an_owner_and_a_resource_of_its_own_on_every_service() {
    for (service, recipe, names) in [
        (zookeeper(), "zk-hardened", ["/locks/a", "/locks/b"]),
        (zookeeper(), "zk-same-name", ["/locks/a", "/locks/b"]),
        (zookeeper(), "curator-mutex", ["/locks/a", "/locks/b"]),
        (redis(), "redis-fencing-token", ["lock:a", "lock:b"]),
        (redis(), "redisson-lock", ["lock:a", "lock:b"]),
        (cluster(), "redis-fencing-token", ["lock:a", "lock:b"]),
    ] {
        for seed in 0..5 {
            let run = simulate(&plan(service.clone(), recipe), seed).run;
            assert_eq!(run.history.locks, names, "{recipe}");
            let what = format!("{recipe} at seed {seed}");
            assert_eq!(violated(&run), [], "{what}");
            let both = BTreeSet::from(TWO);
            let owned = locks_of(&run, |what| matches!(what, EventKind::Owned { .. }));
            assert_eq!(owned, both, "{what}");
            for lock in TWO {
                let last = run.history.events.iter().rev();
                let value = { last }.find_map(|event| match event.what {
                    EventKind::Final { lock: of, value } if of == lock => Some(value),
                    _ => None,
                });
                assert_eq!(value, Some(8), "{what}: every other section is of one lock");
            }
        }
    }
}

#[test]
fn where_nothing_is_said_there_is_one_lock() {
    let history = history_on(zookeeper(), "zk-hardened", Vec::new());
    assert_eq!(history.locks, ["/locks/a"]);
    let of_others = |what: &EventKind| what.lock().is_some_and(|lock| lock != LockId(0));
    assert!(!history.events.iter().any(|event| of_others(&event.what)));
}

#[test]
fn two_are_inside_at_once_in_two_locks() {
    let run = simulate(&plan(zookeeper(), "zk-hardened"), 1).run;
    let mut inside = 0_u32;
    let mut most = 0;
    for event in &run.history.events {
        match event.what {
            EventKind::Acquired { .. } => inside += 1,
            EventKind::ReleaseStarted { .. } => inside -= 1,
            _ => {}
        }
        most = most.max(inside);
    }
    assert_eq!(most, 2);
}

#[test]
fn a_contender_takes_the_locks_that_are_said_of_it_in_turn() {
    let mut plan = plan(zookeeper(), "zk-hardened");
    let own = ContenderSettings {
        locks: vec![LockName(1), LockName(1), LockName(0)],
        ..ContenderSettings::default()
    };
    plan.workload.contender_settings.insert(FIRST, own);
    let run = simulate(&plan, 1).run;
    let taken = |who: ContenderId| -> Vec<u32> {
        let events = run.history.events.iter();
        let acquired = events.filter_map(|event| match event.what {
            EventKind::Acquired { by, lock, .. } if by == who => Some(lock.0),
            _ => None,
        });
        acquired.collect()
    };
    assert_eq!(taken(A), [1, 1, 0, 1]);
    assert_eq!(taken(ContenderId(1)), [1, 0, 1, 0]);
    assert_eq!(taken(ContenderId(2)), [0, 1, 0, 1]);
}

#[test]
fn a_path_that_the_process_keeps_for_all_locks_lets_two_into_one() {
    let mut three = plan(zookeeper(), "zk-first-path");
    three.workload.contenders = 3;
    let run = simulate(&three, 1).run;
    let violated = violated(&run);
    let (_, summary) = { violated.iter() }
        .find(|(name, _)| *name == "mutual-exclusion")
        .expect("it is violated");
    assert!(summary.starts_with("/locks/"), "{summary}");
    // With one lock there is nothing to confuse.
    let mut one = plan(zookeeper(), "zk-first-path");
    one.workload.locks = 1;
    assert_eq!(self::violated(&simulate(&one, 1).run), []);
}

/// What a process keeps for all of its code goes with it.
#[test]
fn a_process_that_is_started_again_has_forgotten_its_path() {
    let mut plan = plan(zookeeper(), "zk-first-path");
    plan.workload.contenders = 1;
    plan.workload.rounds = 2;
    plan.faults = vec![planned(
        Trigger::Acquiring { by: FIRST, nth: 2 },
        Fault::Crash {
            target: FIRST,
            restart_after: Some(seconds(1)),
        },
    )];
    let run = simulate(&plan, 1).run;
    let owned = locks_of(&run, |what| matches!(what, EventKind::Owned { .. }));
    assert_eq!(owned, BTreeSet::from(TWO));
    plan.faults.clear();
    let run = simulate(&plan, 1).run;
    let owned = locks_of(&run, |what| matches!(what, EventKind::Owned { .. }));
    assert_eq!(owned, BTreeSet::from([LockId(0)]));
}

#[test]
fn a_counter_that_the_process_keeps_for_all_locks_is_a_lower_token_for_the_next() {
    let mut plan = plan(zookeeper(), "zk-token-of-process");
    plan.workload.contenders = 2;
    let first = |lock| ContenderSettings {
        locks: lock,
        ..ContenderSettings::default()
    };
    let settings = &mut plan.workload.contender_settings;
    let (a, b) = (LockName(0), LockName(1));
    settings.insert(FIRST, first(vec![a, a, a, b]));
    settings.insert(ContenderName(1), first(vec![b]));
    plan.workload
        .contender_settings
        .get_mut(&ContenderName(1))
        .unwrap()
        .hold = Some(Hold::For(seconds(4)));
    let found = violated(&simulate(&plan, 1).run);
    let [(name, summary)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(*name, "fencing-monotonic");
    assert!(summary.starts_with("/locks/b: "), "{summary}");
}

/// In a cluster the key of each lock is in a slot of its own: those of the first two are at the second primary, that of
/// the third at the third.
#[test]
fn the_death_of_a_primary_takes_the_locks_of_its_slots_and_no_others() {
    let mut taken = Vec::new();
    for server in 0..3 {
        let mut plan = plan(cluster(), "redis-compare-and-delete");
        plan.workload.contenders = 3;
        plan.workload.locks = 3;
        plan.workload.rounds = 1;
        plan.workload.hold = Hold::For(seconds(5));
        let dies = Fault::CrashServer {
            target: ServerName::Number(server),
            restart_after: None,
        };
        plan.faults = vec![planned(acquired(), dies)];
        plan.faults[0].after = seconds(2);
        let run = simulate(&plan, 1).run;
        let lost = |what: &EventKind| {
            let EventKind::Disowned { how, .. } = what else {
                return false;
            };
            *how == Disowned::LostByService
        };
        taken.push(locks_of(&run, lost));
    }
    let third = BTreeSet::from([LockId(2)]);
    assert_eq!(taken, [BTreeSet::new(), BTreeSet::from(TWO), third]);
}

#[test]
fn an_operator_recreates_every_lock_and_evicts_every_key() {
    let mut recreated = plan(zookeeper(), "zk-hardened");
    recreated.faults = vec![planned(acquired(), Fault::RecreateLock)];
    let mut evicted = plan(redis(), "redis-compare-and-delete");
    let target = ServerName::Number(0);
    evicted.faults = vec![planned(acquired(), Fault::EvictKey { target })];
    for plan in [&mut recreated, &mut evicted] {
        plan.faults[0].after = seconds(1) / 2;
        plan.workload.hold = Hold::For(seconds(2));
        let run = simulate(plan, 1).run;
        let removed = locks_of(&run, |what| {
            let EventKind::Disowned { how, .. } = what else {
                return false;
            };
            *how == Disowned::RemovedFromOutside
        });
        assert_eq!(removed, BTreeSet::from(TWO));
    }
}
