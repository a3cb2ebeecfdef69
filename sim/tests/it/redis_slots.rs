//! The slot of the lock's key moves from one primary of a cluster to another, and the lock with it.

use crate::common;
use crate::common::disowned;
use crate::common::failovers;
use crate::common::moments;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use disowned::disowned;
use failovers::{crash, owned};
use moments::{fired, later, times};
use picklock_checker::{Disowned, EventKind, History};
use picklock_sim::plan::{Cluster, Deployment, Fault, PlannedFault, ServerName, Service, Trigger};
use picklock_sim::simulate;

/// The primary of the lock's slot at first, another one, and the replica of the first.
const SOURCE: ServerName = ServerName::Number(1);
const TARGET: ServerName = ServerName::Number(0);
const REPLICA: ServerName = ServerName::Number(4);

fn service() -> Service {
    Service::Redis(Deployment {
        lease: seconds(30),
        cluster: Some(Cluster {
            node_timeout: seconds(2),
            ..Cluster::of(3, 1)
        }),
        ..Deployment::default()
    })
}

fn with(algorithm: &str, faults: Vec<PlannedFault>) -> History {
    history_on(service(), algorithm, faults)
}

fn moves(length: u64) -> Fault {
    Fault::MoveSlot {
        to: TARGET,
        length: seconds(length),
    }
}

#[test]
fn the_owner_of_a_lock_stays_the_same_though_its_key_goes_elsewhere() {
    for length in [1, 4, 8, 20] {
        let history = with(
            "redis-compare-and-delete",
            vec![planned(acquired(), moves(length))],
        );
        let ends = [Disowned::Released, Disowned::Released];
        assert_eq!(disowned(&history), ends, "for {length} s");
        assert!(history.not_modelled.is_none(), "{:?}", history.not_modelled);
    }
}

#[test]
fn the_key_goes_ahead_of_its_slot() {
    // The lock has no owner from the moment at which the server with its key dies.
    let has_key = |target, at: u64| {
        let slot = planned(acquired(), moves(4));
        let death = later(at, acquired(), crash(target, 60));
        let history = with("redis-compare-and-delete", vec![slot, death]);
        let gone = times(&history, |what| matches!(what, EventKind::Disowned { .. }));
        gone[0] == fired(&history)[1]
    };
    // It goes after a second, and the slot after four.
    assert!(has_key(SOURCE, 700));
    assert!(!has_key(TARGET, 700));
    assert!(!has_key(SOURCE, 2_000));
    assert!(has_key(TARGET, 2_000));
}

#[test]
fn a_replica_of_the_source_lets_a_second_owner_in_if_the_key_had_gone_ahead() {
    let faults = vec![
        planned(acquired(), moves(8)),
        later(2_500, acquired(), crash(SOURCE, 60)),
    ];
    let history = with("redis-compare-and-delete", faults);
    let second = owned(&history)[1];
    // Long before the lease of the first is over.
    assert!(second < fired(&history)[1] + seconds(5), "{second:?}");
    let lost = times(&history, |what| {
        matches!(what, EventKind::ReleaseFailed { by: A, .. })
    });
    assert_eq!(lost.len(), 1);
}

#[test]
fn a_release_that_waits_for_the_source_to_do_something_else_is_the_owners() {
    let full = Fault::FullMemory {
        target: TARGET,
        length: seconds(30).into(),
    };
    // The key is sent after 4.9 s and comes back after 5.1 s, for there is no room for it; the release comes between.
    let faults = vec![
        planned(acquired(), full),
        later(3_900, acquired(), moves(4)),
    ];
    let mut plan = plan_on(service(), "redis-set-nx-px-del", faults);
    let far = Duration::from_millis(100);
    plan.network.server_latency = (far, far);
    let history = simulate(&plan, 1).run.history;
    let released = times(&history, |what| matches!(what, EventKind::Disowned { .. }))[0];
    let asked = times(&history, |what| {
        matches!(what, EventKind::ReleaseStarted { .. })
    })[0];
    assert!(released > asked + Duration::from_millis(50), "{released:?}");
    assert_eq!(disowned(&history)[0], Disowned::Released);
}

#[test]
fn a_release_whose_script_names_several_keys_waits_until_the_slot_has_arrived() {
    // Redisson's release comes after five seconds, and is asked for again for some three quarters of a second.
    let done = |length| {
        let slot = planned(acquired(), moves(length));
        disowned(&with("redisson-lock", vec![slot]))[0]
    };
    assert_eq!(done(5), Disowned::Released);
    assert_eq!(done(8), Disowned::Expired);
}

#[test]
fn a_slot_that_is_where_it_is_to_go_or_goes_to_a_replica_stays() {
    for to in [SOURCE, REPLICA] {
        let length = seconds(4);
        let fault = planned(acquired(), Fault::MoveSlot { to, length });
        let history = with("redis-fencing-token", vec![fault]);
        assert_eq!(disowned(&history), [Disowned::Released; 2], "{to:?}");
        let healed = times(&history, |what| {
            matches!(what, EventKind::FaultHealed { .. })
        });
        assert_eq!(healed, [], "{to:?}");
    }
}

#[test]
fn a_source_that_dies_on_the_way_and_comes_back_before_it_is_given_up_goes_on_moving() {
    let restarts = Fault::CrashServer {
        target: SOURCE,
        restart_after: Some(Duration::from_millis(500)),
    };
    let faults = vec![
        planned(Trigger::At(Duration::ZERO), moves(2)),
        later(600, Trigger::At(Duration::ZERO), restarts),
        // By then the slot is the other's, and no contender needs the first.
        planned(Trigger::Released { by: FIRST, nth: 1 }, crash(SOURCE, 60)),
    ];
    let history = with("redis-compare-and-delete", faults);
    let gone = disowned(&history);
    assert_eq!(gone.last(), Some(&Disowned::Released), "{gone:?}");
    let refused = times(&history, |what| {
        matches!(what, EventKind::ReleaseFailed { .. })
    });
    assert_eq!(refused, []);
}
