//! Clients that read from the replicas of one primary, with and without Sentinels.

use crate::common;
use crate::common::failovers;
use crate::common::moments;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use failovers::{crash, owned};
use moments::{fired, later, times};
use picklock_checker::{
    Disowned, EventKind, History, INVARIANTS, ServiceAnswer, Verdict, VirtualTime,
};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    Deployment, Direction, Fault, PlannedFault, ReadFrom, Sentinels, ServerName, Service, Trigger,
};
use picklock_sim::simulate;

const PRIMARY: ServerName = ServerName::Number(0);
const REPLICA: ServerName = ServerName::Number(1);

/// A release of this recipe begins with GET, and does nothing if the key is not its own.
const LOOKS: &str = "redis-get-compare-del";

fn deployment(read_from: ReadFrom, sentinels: u8) -> Deployment {
    Deployment {
        replicas: 1,
        read_from,
        lease: seconds(30),
        sentinels: (sentinels > 0).then(|| Sentinels {
            down_after: seconds(1),
            failover_timeout: seconds(6),
            ..Sentinels::of(sentinels)
        }),
        ..Deployment::default()
    }
}

fn releases(history: &History) -> usize {
    let released = |what: &EventKind| {
        let how = match what {
            EventKind::Disowned { how, .. } => Some(*how),
            _ => None,
        };
        how == Some(Disowned::Released)
    };
    times(history, released).len()
}

fn with(deployment: Deployment, faults: Vec<PlannedFault>) -> History {
    history_on(Service::Redis(deployment), LOOKS, faults)
}

#[test]
fn a_read_from_a_replica_misses_what_it_has_not_heard_of() {
    let silence = Fault::HoldLink {
        from: vec![PRIMARY],
        to: REPLICA,
        length: seconds(20).into(),
    };
    for sentinels in [0, 3] {
        for (read_from, expected) in [(ReadFrom::Primary, 2), (ReadFrom::Replicas, 1)] {
            let faults = vec![planned(Trigger::At(Duration::ZERO), silence.clone())];
            let history = with(deployment(read_from, sentinels), faults);
            assert_eq!(releases(&history), expected, "{read_from:?}, {sentinels}");
        }
    }
}

#[test]
fn without_a_fault_replicas_and_primaries_are_as_good_as_each_other() {
    for sentinels in [0, 3] {
        for read_from in [ReadFrom::Replicas, ReadFrom::Any] {
            let history = with(deployment(read_from, sentinels), Vec::new());
            assert_eq!(releases(&history), 2, "{read_from:?}, {sentinels}");
        }
    }
}

#[test]
fn a_replica_that_is_gone_is_replaced_by_the_primary() {
    for sentinels in [0, 3] {
        let faults = vec![later(100, acquired(), crash(REPLICA, 60))];
        let history = with(deployment(ReadFrom::Replicas, sentinels), faults);
        assert_eq!(owned(&history).len(), 2, "{sentinels}");
        assert_eq!(releases(&history), 2, "{sentinels}");
        // The first to look finds it dead, or down for Sentinels, and is not kept waiting by that.
        let left = times(&history, |what| {
            matches!(what, EventKind::Released { by: A, .. })
        });
        let after = left[0] - fired(&history)[0];
        assert!(after < seconds(6), "{after:?}");
    }
}

#[test]
fn what_a_fault_has_a_server_say_comes_after_what_it_says_already() {
    // The answer goes out before the replica gets the write; the key goes in between, and the replica gets both in
    // turn.
    let when = Trigger::Answered {
        request: RequestKind::Set,
        by: FIRST,
        nth: 1,
        at: None,
    };
    let evict = Fault::EvictKey { target: PRIMARY };
    let history = with(
        deployment(ReadFrom::Replicas, 0),
        vec![planned(when, evict)],
    );
    // The first finds no key of its own at the replica when it looks.
    assert_eq!(releases(&history), 1);
    assert_eq!(owned(&history).len(), 2);
}

#[test]
fn a_lease_that_a_deposed_primary_ends_is_denied_at_one() {
    let denied = |by_millis: i64| {
        let back = Fault::ServerClockJump {
            target: REPLICA,
            by_millis,
        };
        let cut = Fault::BlackHole {
            target: FIRST,
            direction: Direction::ToServer,
            length: seconds(35).into(),
        };
        let promote = Fault::Promote { target: REPLICA };
        let faults = vec![
            planned(acquired(), promote),
            planned(Trigger::Fired { fault: 0 }, back),
            planned(Trigger::Fired { fault: 0 }, cut),
        ];
        let history = with(deployment(ReadFrom::Primary, 0), faults);
        let denied = |what: &EventKind| {
            let answer = match what {
                EventKind::Answered { by, answer, .. } if *by == A => Some(*answer),
                _ => None,
            };
            answer == Some(ServiceAnswer::DeniedAtOne)
        };
        times(&history, denied)
    };
    // The new primary's clock ends the lease in the same moment.
    assert_eq!(denied(0), []);
    let [at] = denied(-7_200_000)[..] else {
        panic!("one server has ended it");
    };
    let lease = at - VirtualTime::ZERO;
    assert!(lease > seconds(29) && lease < seconds(31), "{lease:?}");
}

#[test]
fn an_operator_who_promotes_brings_the_old_primary_in_line_for_good() {
    let promote = Fault::Promote { target: REPLICA };
    let faults = vec![
        planned(Trigger::At(Duration::from_millis(2)), promote),
        // It would be a primary again by its old configuration, and the new one would have no replica.
        planned(Trigger::At(seconds(11)), crash(PRIMARY, 1)),
    ];
    let service = Service::Redis(deployment(ReadFrom::Primary, 0));
    let mut plan = plan_on(service, "redis-wait", faults);
    plan.workload.rounds = 5;
    let run = simulate(&plan, 1).run;
    let calm = times(&run.history, |what| matches!(what, EventKind::CalmBegan));
    assert!(calm[0] >= VirtualTime::ZERO + seconds(10), "{calm:?}");
    let progress = INVARIANTS.iter().find(|known| known.name == "progress");
    let verdict = progress.expect("an invariant").verdict(&run);
    assert_eq!(verdict, Verdict::Holds);
}
