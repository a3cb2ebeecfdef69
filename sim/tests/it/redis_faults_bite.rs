//! Every fault that can strike Redis does what it says: for each, a run in which it can be seen at work.

use crate::common;
use crate::common::disowned;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use disowned::disowned;
use picklock_checker::{Disowned, EventKind, Failure, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::engine::Tape;
use picklock_sim::plan::{
    Arrival, ContenderName, Deployment, Direction, Fault, Fsync, Hold, Persistence, PlannedFault,
    Section, ServerName, Service, Trigger,
};
use picklock_sim::{simulate, simulate_with};

const SERVER: ServerName = ServerName::Number(0);
const SECOND: ContenderName = ContenderName(1);

/// Two contenders, one after the other, each for five seconds of a lease of ten; the fault strikes at `when`.
fn run(algorithm: &str, when: Trigger, inject: Fault) -> History {
    with_faults(algorithm, vec![planned(when, inject)])
}

fn with_faults(algorithm: &str, faults: Vec<PlannedFault>) -> History {
    history_on(Service::Redis(Deployment::default()), algorithm, faults)
}

fn setting() -> Trigger {
    Trigger::Sent {
        request: RequestKind::Set,
        by: FIRST,
        nth: 1,
        at: None,
    }
}

fn times(history: &History, wanted: impl Fn(&EventKind) -> bool) -> Vec<VirtualTime> {
    let found = history.events.iter().filter(|event| wanted(&event.what));
    found.map(|event| event.at).collect()
}

fn owned(history: &History) -> Vec<VirtualTime> {
    times(history, |what| matches!(what, EventKind::Owned { .. }))
}

/// When the first contender was told that its call of `acquire` had failed for this reason.
fn failed(history: &History, reason: Failure) -> Vec<VirtualTime> {
    times(
        history,
        |what| matches!(what, EventKind::AcquireFailed { by: A, why, .. } if *why == reason),
    )
}

#[test]
fn without_a_fault_both_hold_one_after_the_other() {
    let history = run(
        "redis-compare-and-delete",
        Trigger::At(seconds(60)),
        Fault::Cut { target: FIRST },
    );
    assert_eq!(disowned(&history), [Disowned::Released, Disowned::Released]);
}

#[test]
fn a_clock_that_jumps_forward_ends_a_lease() {
    let jump = Fault::ServerClockJump {
        target: SERVER,
        by_millis: 20_000,
    };
    let history = run("redis-compare-and-delete", acquired(), jump);
    assert_eq!(disowned(&history)[0], Disowned::Expired);
    assert!(owned(&history)[1] < VirtualTime::ZERO + seconds(1));
}

#[test]
fn a_clock_that_jumps_back_makes_the_lease_of_the_dead_longer() {
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: None,
    };
    let jump = Fault::ServerClockJump {
        target: SERVER,
        by_millis: -5_000,
    };
    let faults = vec![
        planned(acquired(), crash),
        planned(Trigger::Fired { fault: 0 }, jump),
    ];
    let history = with_faults("redis-compare-and-delete", faults);
    assert!(owned(&history)[1] >= VirtualTime::ZERO + seconds(15));
}

#[test]
fn an_evicted_key_has_no_owner() {
    let history = run(
        "redis-compare-and-delete",
        acquired(),
        Fault::EvictKey { target: SERVER },
    );
    assert_eq!(disowned(&history)[0], Disowned::RemovedFromOutside);
}

#[test]
fn a_lease_that_is_over_expired_though_another_takes_the_key_in_the_same_instant() {
    let pause = Fault::Pause {
        target: FIRST,
        length: seconds(30).into(),
    };
    let mut in_the_same_instant = 0;
    for millis in 9_990..10_010 {
        let delay = Fault::DelayRequest {
            target: SECOND,
            by: Duration::from_millis(millis),
        };
        let sent = Trigger::Sent {
            request: RequestKind::Set,
            by: SECOND,
            nth: 1,
            at: None,
        };
        let faults = vec![planned(acquired(), pause.clone()), planned(sent, delay)];
        let service = Service::Redis(Deployment::default());
        let mut plan = plan_on(service, "redis-set-nx-px-del", faults);
        plan.workload.arrive = Arrival::Together;
        plan.network.client_latency = (Duration::from_millis(1), Duration::from_millis(1));
        // Which asks first is chance: with this seed it is the first.
        let history = simulate(&plan, 1).run.history;
        assert_eq!(disowned(&history)[0], Disowned::Expired, "{millis} ms");
        let ends = times(&history, |what| matches!(what, EventKind::Disowned { .. }));
        in_the_same_instant += usize::from(owned(&history)[1] == ends[0]);
    }
    assert_eq!(in_the_same_instant, 1);
}

#[test]
fn a_lease_that_ends_while_the_server_serves_another_has_expired() {
    let pause = Fault::Pause {
        target: SECOND,
        length: seconds(10).into(),
    };
    let hang = |millis| Fault::HangServer {
        target: SERVER,
        length: Duration::from_millis(millis).into(),
    };
    let at = |millis| Trigger::At(Duration::from_millis(millis));
    // The second gets the lock when the server comes to itself after 13 s; then that stands still until the last
    // millisecond of the lease, and sees that it is over while it serves the first, which asked meanwhile.
    let faults = vec![
        planned(at(0), hang(13_000)),
        planned(at(0), pause),
        planned(at(13_001), hang(5_999)),
    ];
    let service = Service::Redis(Deployment {
        lease: seconds(6),
        timeout: Duration::from_millis(500),
        retries: 0,
        ..Deployment::default()
    });
    let mut plan = plan_on(service, "redis-fencing-token", faults);
    let latency = Duration::from_micros(200);
    plan.network.client_latency = (latency, latency);
    plan.workload.hold = Hold::For(Duration::from_millis(50));
    plan.workload.section = Section::Nothing;
    let history = simulate_with(&plan, Tape::recorded(Vec::new())).run.history;
    let ends = times(&history, |what| matches!(what, EventKind::Disowned { .. }));
    assert_eq!(ends[0], VirtualTime::ZERO + seconds(19));
    assert_eq!(disowned(&history)[0], Disowned::Expired);
}

#[test]
fn a_server_that_restarts_has_forgotten_its_keys() {
    let crash = Fault::CrashServer {
        target: SERVER,
        restart_after: Some(seconds(1)),
    };
    let history = run("redis-compare-and-delete", acquired(), crash);
    assert_eq!(disowned(&history)[0], Disowned::LostByService);
    assert!(owned(&history)[1] < VirtualTime::ZERO + seconds(2));
}

#[test]
fn a_server_that_hangs_answers_when_it_goes_on() {
    let hang = Fault::HangServer {
        target: SERVER,
        length: seconds(3).into(),
    };
    let history = run("redis-compare-and-delete", setting(), hang);
    assert!(owned(&history)[0] >= VirtualTime::ZERO + seconds(3));
}

#[test]
fn a_lost_request_is_never_executed_and_a_lost_reply_was() {
    let grants = |inject| {
        let history = run("redis-set-nx-px-del", setting(), inject);
        let failed = failed(&history, Failure::ConnectionLoss);
        assert_eq!(failed.len(), 1);
        // A contender whose key was set without its knowledge is kept out by it until the lease is over.
        let first = times(&history, |what| matches!(what, EventKind::Acquired { .. }));
        first[0]
    };
    let lost_request = grants(Fault::LoseRequest { target: FIRST });
    let lost_reply = grants(Fault::LoseReply { target: FIRST });
    assert!(lost_request < VirtualTime::ZERO + seconds(1));
    assert!(lost_reply > VirtualTime::ZERO + seconds(9));
}

#[test]
fn a_request_that_is_held_up_is_executed_after_its_sender_has_given_up() {
    let delay = Fault::DelayRequest {
        target: FIRST,
        by: seconds(2),
    };
    let history = run("redis-set-nx-px-del", setting(), delay);
    let gave_up = failed(&history, Failure::TimedOut);
    let set = times(&history, |what| {
        matches!(what, EventKind::Owned { by: A, .. })
    });
    assert!(gave_up[0] < set[0], "{gave_up:?} {set:?}");
    assert!(set[0] >= VirtualTime::ZERO + seconds(2));
}

#[test]
fn nothing_gets_through_a_black_hole_until_it_is_over() {
    let hole = Fault::BlackHole {
        target: FIRST,
        direction: Direction::Both,
        length: seconds(4).into(),
    };
    let history = run("redis-compare-and-delete", setting(), hole);
    let entered = times(&history, |what| {
        matches!(what, EventKind::Acquired { by: A, .. })
    });
    assert!(entered[0] >= VirtualTime::ZERO + seconds(4));
}

#[test]
fn a_cut_breaks_every_connection_of_its_victim() {
    let cut = Trigger::Committed {
        request: RequestKind::Set,
        by: FIRST,
        nth: 1,
    };
    let history = run("redis-set-nx-px-del", cut, Fault::Cut { target: FIRST });
    let failed = failed(&history, Failure::ConnectionLoss);
    assert_eq!(failed.len(), 1);
}

#[test]
fn a_dead_primarys_lock_has_no_owner_until_a_replica_takes_over() {
    let replicated = Deployment {
        replicas: 1,
        ..Deployment::default()
    };
    let after = |when, after, inject| PlannedFault {
        after: seconds(after),
        ..planned(when, inject)
    };
    let crash = Fault::CrashServer {
        target: SERVER,
        restart_after: None,
    };
    let promote = Fault::Promote {
        target: ServerName::Number(1),
    };
    let faults = vec![
        after(acquired(), 1, crash),
        after(Trigger::Fired { fault: 0 }, 2, promote),
    ];
    let service = Service::Redis(replicated);
    let history = history_on(service, "redis-compare-and-delete", faults);
    let fired = times(&history, |what| {
        matches!(what, EventKind::FaultFired { .. })
    });
    let gone = times(&history, |what| matches!(what, EventKind::Disowned { .. }));
    assert_eq!(gone[0], fired[0]);
    assert_eq!(disowned(&history)[0], Disowned::LostByService);
    assert_eq!(owned(&history)[1], fired[1]);
}

/// A contender is sent its first message of a channel.
fn told(by: ContenderName) -> Trigger {
    Trigger::Told { by, nth: 1 }
}

#[test]
fn a_lost_message_wakes_no_waiter() {
    let second = |faults| {
        let history = with_faults("redisson-lock", faults);
        times(&history, |what| matches!(what, EventKind::Acquired { .. }))[1]
    };
    let woken = second(Vec::new());
    let lost = Fault::LoseMessage { target: SECOND };
    let slept = second(vec![planned(told(SECOND), lost)]);
    assert!(woken < VirtualTime::ZERO + seconds(6), "{woken:?}");
    // It has looked when the lease had ten seconds left, and looks again when those are over.
    assert!(slept > VirtualTime::ZERO + seconds(9), "{slept:?}");
}

/// When the second contender got the lock of the first, five seconds of which are left when the server ends so
/// and is back a second later.
fn second_after(persistence: Persistence, ends: impl Fn() -> Fault) -> VirtualTime {
    let deployment = Deployment {
        persistence,
        ..Deployment::default()
    };
    let faults = vec![PlannedFault {
        after: Duration::from_millis(300),
        ..planned(acquired(), ends())
    }];
    let service = Service::Redis(deployment);
    let history = history_on(service, "redis-compare-and-delete", faults);
    owned_by_another(&history)
}

fn owned_by_another(history: &History) -> VirtualTime {
    times(
        history,
        |what| matches!(what, EventKind::Owned { by, .. } if *by != A),
    )[0]
}

#[test]
fn a_power_loss_takes_what_was_not_on_the_disk() {
    let power_loss = || Fault::PowerLoss {
        target: SERVER,
        restart_after: Some(seconds(1)),
    };
    let kill = || Fault::CrashServer {
        target: SERVER,
        restart_after: Some(seconds(1)),
    };
    let early = |at: VirtualTime| at < VirtualTime::ZERO + seconds(3);
    let log = Persistence::Log;
    for (persistence, killed, unpowered) in [
        (Persistence::None, true, true),
        (Persistence::default_save_points(), true, true),
        (log(Fsync::Never), false, true),
        (log(Fsync::EverySecond), false, true),
        (log(Fsync::Always), false, false),
    ] {
        let lost = early(second_after(persistence.clone(), kill));
        assert_eq!(lost, killed, "{persistence:?}");
        let lost = early(second_after(persistence.clone(), power_loss));
        assert_eq!(lost, unpowered, "{persistence:?}");
    }
}

#[test]
fn no_client_sees_a_power_loss_before_the_power_is_back() {
    let (target, restart_after) = (SERVER, Some(seconds(3)));
    let run = |inject| run("redis-set-nx-px-del", setting(), inject);
    let killed = run(Fault::CrashServer {
        target,
        restart_after,
    });
    let dark = run(Fault::PowerLoss {
        target,
        restart_after,
    });
    assert!(failed(&killed, Failure::ConnectionLoss)[0] < VirtualTime::ZERO + seconds(1));
    assert_eq!(failed(&killed, Failure::TimedOut), []);
    let broken = failed(&dark, Failure::ConnectionLoss);
    assert!(broken.iter().all(|at| *at > VirtualTime::ZERO + seconds(3)));
    let timed_out = failed(&dark, Failure::TimedOut);
    assert_eq!(timed_out.len(), 5, "{timed_out:?}");
}
