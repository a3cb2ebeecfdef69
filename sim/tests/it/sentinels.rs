//! Sentinels in the world: what they do to a lock, and what can be done to them.

use crate::common;
use crate::common::failovers;
use crate::common::moments;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, planned, seconds};
use failovers::{crash, owned};
use moments::{fired, later, times};
use picklock_checker::{Disowned, EventKind, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    Deployment, Fault, PlannedFault, Sentinels, ServerName, Service, Trigger,
};

const PRIMARY: ServerName = ServerName::Number(0);

fn with_poll(poll: Option<Duration>, faults: Vec<PlannedFault>) -> History {
    let deployment = Deployment {
        replicas: 1,
        lease: seconds(30),
        sentinels: Some(Sentinels {
            down_after: seconds(1),
            failover_timeout: seconds(6),
            ..Sentinels::of(3)
        }),
        poll,
        ..Deployment::default()
    };
    let service = Service::Redis(deployment);
    history_on(service, "redis-compare-and-delete", faults)
}

fn with(faults: Vec<PlannedFault>) -> History {
    with_poll(None, faults)
}

/// The first sends its SET.
fn sent_by_first() -> Trigger {
    Trigger::Sent {
        request: RequestKind::Set,
        by: FIRST,
        nth: 1,
        at: None,
    }
}

fn hang(target: ServerName, length: u64) -> Fault {
    Fault::HangServer {
        target,
        length: seconds(length).into(),
    }
}

#[test]
fn without_a_fault_both_hold_in_turn_and_no_primary_is_replaced() {
    let history = with(Vec::new());
    let ends: Vec<_> = history
        .events
        .iter()
        .filter_map(|event| match event.what {
            EventKind::Disowned { how, .. } => Some(how),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [Disowned::Released, Disowned::Released]);
}

#[test]
fn a_dead_primary_is_replaced_and_a_lock_that_has_arrived_there_lives_on() {
    let history = with(vec![later(1_000, acquired(), crash(PRIMARY, 20))]);
    let (died, owned) = (fired(&history)[0], owned(&history));
    // The same lock, on the new primary.
    let replaced = owned[1] - died;
    assert!((seconds(1)..seconds(4)).contains(&replaced), "{replaced:?}");
    let failed = times(&history, |what| {
        matches!(what, EventKind::ReleaseFailed { by: A, .. })
    });
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn what_has_come_to_a_replica_that_stands_still_is_read_though_the_primary_is_dead() {
    let replica = ServerName::Number(1);
    let history = with(vec![
        planned(sent_by_first(), hang(replica, 1)),
        later(100, acquired(), crash(PRIMARY, 20)),
    ]);
    // The lock is on the new primary, and its holder gives it back there.
    let ends = times(&history, |what| {
        let released = Disowned::Released;
        matches!(what, EventKind::Disowned { by: A, how, .. } if *how == released)
    });
    assert_eq!(ends.len(), 1);
    let entered = times(&history, |what| matches!(what, EventKind::Acquired { .. }));
    assert!(entered[1] > ends[0]);
}

#[test]
fn without_a_majority_of_sentinels_no_primary_is_replaced() {
    let faults = vec![
        later(500, acquired(), crash(ServerName::Sentinel(1), 30)),
        later(500, acquired(), crash(ServerName::Sentinel(2), 30)),
        later(1_000, acquired(), crash(PRIMARY, 20)),
    ];
    let history = with(faults);
    let back = VirtualTime::ZERO + seconds(20);
    assert!(owned(&history)[1] > back);
}

#[test]
fn sentinels_that_hear_nothing_of_the_primary_replace_it_though_its_clients_still_do() {
    let silence = |to| Fault::HoldLink {
        from: vec![PRIMARY],
        to,
        length: seconds(20).into(),
    };
    let all = [0, 1, 2].map(ServerName::Sentinel).into_iter();
    let faults = all.chain([ServerName::Number(1)]);
    let faults = faults.map(|to| planned(Trigger::At(Duration::from_millis(1)), silence(to)));
    let history = with(faults.collect());
    // The key of the first is on the old primary alone, and the second is not kept out by it for long.
    assert!(owned(&history).len() >= 2);
    let entered = times(&history, |what| matches!(what, EventKind::Acquired { .. }));
    assert_eq!(entered.len(), 2);
}

#[test]
fn a_sentinel_whose_clock_jumps_does_nothing_for_a_while() {
    let jump = |target| Fault::ServerClockJump {
        target,
        by_millis: 60_000,
    };
    let all = [0, 1, 2].map(ServerName::Sentinel).into_iter();
    let jumps = all.map(|target| later(500, acquired(), jump(target)));
    let faults = jumps.chain([later(1_000, acquired(), crash(PRIMARY, 20))]);
    let history = with(faults.collect());
    assert!(owned(&history)[1] >= fired(&history)[3] + seconds(20));
}

/// How the first ceased to own the lock, and how long after the primary that had stood still went on.
fn end_of_first(history: &History) -> (Disowned, Duration) {
    let resumed = times(history, |what| {
        matches!(what, EventKind::FaultHealed { .. })
    })[0];
    let end = history.events.iter().find_map(|event| match event.what {
        EventKind::Disowned { by: A, how, .. } => Some((how, event.at)),
        _ => None,
    });
    let (how, at) = end.expect("an end");
    (how, at - resumed)
}

#[test]
fn a_primary_that_stood_still_is_made_a_replica_ten_seconds_after_it_goes_on() {
    // A polling client has released the lock at the new primary; at the old one it stays until that learns of it.
    let faults = vec![later(1_000, acquired(), hang(PRIMARY, 4))];
    let (how, after) = end_of_first(&with_poll(Some(seconds(1)), faults));
    assert_eq!(how, Disowned::LostByService);
    // Real: 10.02 s.
    let fits = Duration::from_millis(9_500)..Duration::from_millis(11_500);
    assert!(fits.contains(&after), "{after:?}");
}

#[test]
fn without_polling_a_released_lock_stays_at_the_new_primary() {
    let history = with(vec![later(1_000, acquired(), hang(PRIMARY, 4))]);
    let (how, after) = end_of_first(&history);
    assert_eq!(how, Disowned::Expired);
    assert!(after > seconds(20));
}

#[test]
fn redisson_waits_for_replicas_when_it_renews_a_lease_too() {
    let deployment = Deployment {
        replicas: 1,
        lease: seconds(3),
        ..Deployment::default()
    };
    let second_wait = Trigger::Sent {
        request: RequestKind::Wait,
        by: FIRST,
        nth: 2,
        at: None,
    };
    let faults = vec![planned(second_wait, hang(PRIMARY, 1))];
    let service = Service::Redis(deployment);
    let history = history_on(service, "redisson-lock-replicated", faults);
    // The first wait is that for the lock, and the release comes after five seconds.
    let entered = times(&history, |what| matches!(what, EventKind::Acquired { .. }));
    let renewed = fired(&history)[0].since(entered[0]);
    assert!(renewed < seconds(2), "{renewed:?}");
}
