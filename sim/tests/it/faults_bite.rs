//! Every fault does what it says: for each, a run in which it can be seen at work.

use crate::common;
use crate::common::first;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use first::first;
use picklock_checker::{ContenderId, Disowned, EventKind, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    ContenderName, Deployment, Direction, Ensemble, Fault, Hold, LockCall, PlannedFault,
    ServerName, Service, Trigger,
};
use picklock_sim::simulate;

/// Two contenders, one after the other, each for five seconds; the fault strikes at `when`.
fn run(algorithm: &str, when: Trigger, inject: Fault) -> History {
    with_faults(algorithm, vec![planned(when, inject)])
}

fn with_faults(algorithm: &str, faults: Vec<PlannedFault>) -> History {
    history_on(Service::ZooKeeper(Ensemble::default()), algorithm, faults)
}

fn creating() -> Trigger {
    Trigger::Sent {
        request: RequestKind::Create,
        by: FIRST,
        nth: 1,
        at: None,
    }
}

fn count(history: &History, wanted: impl Fn(&EventKind) -> bool) -> usize {
    history
        .events
        .iter()
        .filter(|event| wanted(&event.what))
        .count()
}

fn queued(what: &EventKind) -> bool {
    matches!(what, EventKind::Queued { by: A, .. })
}

fn entered(what: &EventKind) -> bool {
    matches!(what, EventKind::Acquired { by: A, .. })
}

/// The epochs of the tokens that were handed out: one more for each leader.
fn epochs(history: &History) -> Vec<u64> {
    let epoch = |what: &EventKind| match what {
        EventKind::Acquired {
            token: Some(token), ..
        } => Some(token.0 >> 32),
        _ => None,
    };
    history
        .events
        .iter()
        .filter_map(|event| epoch(&event.what))
        .collect()
}

#[test]
fn a_paused_contender_says_nothing_until_it_is_resumed() {
    let pause = Fault::Pause {
        target: FIRST,
        length: seconds(20).into(),
    };
    let history = run("zk-predecessor-watch", acquired(), pause);
    let from = first(&history, |what| matches!(what, EventKind::Paused { by: A })).unwrap();
    let until = first(&history, |what| {
        matches!(what, EventKind::Resumed { by: A })
    })
    .unwrap();
    assert_eq!(until - from, seconds(20));
    let own = |what: &EventKind| {
        matches!(
            what,
            EventKind::Writing { by: A, .. } | EventKind::ReleaseStarted { by: A, .. }
        )
    };
    assert!(
        history
            .events
            .iter()
            .all(|event| !own(&event.what) || event.at >= until)
    );
    assert!(
        first(&history, |what| matches!(
            what,
            EventKind::SessionExpired { by: A }
        ))
        .is_some()
    );
}

#[test]
fn a_crashed_contender_is_gone_and_its_session_expires() {
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: None,
    };
    let history = run("zk-predecessor-watch", acquired(), crash);
    let crashed = first(&history, |what| {
        matches!(what, EventKind::Crashed { by: A })
    })
    .unwrap();
    let expired = first(&history, |what| {
        matches!(what, EventKind::SessionExpired { by: A })
    })
    .unwrap();
    assert!(expired - crashed > seconds(3) && expired - crashed <= seconds(9));
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::ReleaseStarted { by: A, .. }
        )),
        0
    );
}

#[test]
fn a_crashed_contender_comes_back_if_it_is_to_and_gets_the_lock() {
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: Some(seconds(2)),
    };
    let history = run("zk-predecessor-watch", acquired(), crash);
    let back = first(&history, |what| {
        matches!(what, EventKind::Restarted { by: A })
    })
    .unwrap();
    assert!(
        history
            .events
            .iter()
            .any(|event| event.at > back && entered(&event.what))
    );
}

#[test]
fn a_contender_dead_for_good_stays_so_after_another_crash() {
    let crash = |restart_after| Fault::Crash {
        target: FIRST,
        restart_after,
    };
    let twice = [None, Some(seconds(2))].map(|after| planned(acquired(), crash(after)));
    let history = with_faults("zk-predecessor-watch", twice.into());
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::Crashed { by: A }
        )),
        1
    );
    assert_eq!(
        count(&history, |what| matches!(what, EventKind::Restarted { .. })),
        0
    );
    assert_eq!(
        count(&history, |what| matches!(what, EventKind::Leftover { .. })),
        0
    );
}

#[test]
fn a_cancelled_acquire_never_returns() {
    let second = ContenderName(1);
    let when = Trigger::Waiting { by: second, nth: 1 };
    let history = run(
        "zk-hardened",
        when,
        Fault::Cancel {
            target: second,
            call: LockCall::Acquire,
        },
    );
    assert_eq!(
        count(&history, |what| matches!(what, EventKind::Cancelled { .. })),
        1
    );
    let by = ContenderId(1);
    assert_eq!(
        count(
            &history,
            |what| matches!(what, EventKind::Acquired { by: who, .. } if *who == by)
        ),
        0
    );
}

#[test]
fn an_expired_session_takes_its_node_with_it_and_its_client_learns_of_it() {
    let history = run(
        "zk-predecessor-watch",
        acquired(),
        Fault::ExpireSession { target: FIRST },
    );
    let expired = |what: &EventKind| {
        matches!(
            what,
            EventKind::Disowned {
                by: A,
                how: Disowned::Expired,
                ..
            }
        )
    };
    assert_eq!(count(&history, expired), 1);
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::SessionLost { by: A }
        )),
        1
    );
}

#[test]
fn a_cut_connection_comes_back_in_the_same_session() {
    let history = run(
        "zk-predecessor-watch",
        acquired(),
        Fault::Cut { target: FIRST },
    );
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::Disconnected { by: A }
        )),
        1
    );
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::Reconnected { by: A }
        )),
        1
    );
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::SessionExpired { by: A }
        )),
        0
    );
}

#[test]
fn behind_a_black_hole_a_client_notices_the_silence_before_its_session_expires() {
    let hole = Fault::BlackHole {
        target: FIRST,
        direction: Direction::Both,
        length: seconds(20).into(),
    };
    let history = run("zk-predecessor-watch", acquired(), hole);
    let noticed = first(&history, |what| {
        matches!(what, EventKind::Disconnected { by: A })
    })
    .unwrap();
    let expired = first(&history, |what| {
        matches!(what, EventKind::SessionExpired { by: A })
    })
    .unwrap();
    assert!(noticed < expired);
    let told = first(&history, |what| {
        matches!(what, EventKind::SessionLost { by: A })
    })
    .unwrap();
    assert!(told - noticed > seconds(10), "it could not learn it before");
}

#[test]
fn a_slow_link_makes_everything_late() {
    let slow = Fault::SlowLink {
        target: FIRST,
        direction: Direction::Both,
        by: seconds(1),
        length: seconds(30).into(),
    };
    let history = run(
        "zk-predecessor-watch",
        Trigger::Acquiring { by: FIRST, nth: 1 },
        slow,
    );
    assert!(first(&history, entered).unwrap() > VirtualTime::ZERO + seconds(2));
}

#[test]
fn a_lost_request_is_never_done_and_a_lost_reply_hides_that_it_was() {
    let lost = run(
        "zk-no-guid",
        creating(),
        Fault::LoseRequest { target: FIRST },
    );
    assert_eq!(count(&lost, queued), 1, "the first create never arrived");
    let hidden = run("zk-no-guid", creating(), Fault::LoseReply { target: FIRST });
    assert_eq!(
        count(&hidden, queued),
        2,
        "the first create was done, and its client did not know"
    );
    for history in [lost, hidden] {
        assert_eq!(
            count(&history, |what| matches!(
                what,
                EventKind::Disconnected { by: A }
            )),
            1
        );
    }
}

#[test]
fn a_late_request_is_done_late_and_a_late_reply_is_heard_late() {
    let by = seconds(3);
    let request = Fault::DelayRequest { target: FIRST, by };
    let late = run("zk-predecessor-watch", creating(), request);
    assert!(first(&late, queued).unwrap() >= VirtualTime::ZERO + by);
    let reply = Fault::DelayReply { target: FIRST, by };
    let heard = run("zk-predecessor-watch", creating(), reply);
    assert!(first(&heard, queued).unwrap() < VirtualTime::ZERO + seconds(1));
    assert!(first(&heard, entered).unwrap() >= VirtualTime::ZERO + by);
}

#[test]
fn a_process_whose_clock_runs_fast_leaves_early() {
    let drift = Fault::ClockDrift {
        target: FIRST,
        parts_per_million: 1_000_000,
        length: None,
    };
    let history = run("zk-predecessor-watch", acquired(), drift);
    let writes = |what: &EventKind| matches!(what, EventKind::Writing { by: A, .. });
    let held = first(&history, writes).unwrap() - first(&history, entered).unwrap();
    assert_eq!(
        held,
        seconds(5) / 2,
        "five seconds of a clock that is twice as fast"
    );
}

#[test]
fn a_sleeper_wakes_by_its_clock_though_that_changes_its_pace() {
    let held = |length| {
        let drift = PlannedFault {
            after: seconds(1),
            ..planned(
                acquired(),
                Fault::ClockDrift {
                    target: FIRST,
                    parts_per_million: 1_000_000,
                    length,
                },
            )
        };
        let history = with_faults("zk-predecessor-watch", vec![drift]);
        let writes = |what: &EventKind| matches!(what, EventKind::Writing { by: A, .. });
        let held = first(&history, writes).unwrap() - first(&history, entered).unwrap();
        held.as_millis()
    };
    assert_eq!(held(None), 3_000, "one right second, and four in two");
    assert_eq!(
        held(Some(seconds(1))),
        4_000,
        "and two in one, and two more"
    );
}

#[test]
fn a_leader_that_dies_hangs_or_is_isolated_is_followed_by_another() {
    let target = ServerName::Leader;
    for inject in [
        Fault::CrashServer {
            target,
            restart_after: Some(seconds(8)),
        },
        Fault::HangServer {
            target,
            length: seconds(15).into(),
        },
        Fault::IsolateServer {
            target,
            length: seconds(15).into(),
        },
    ] {
        let when = Trigger::At(Duration::ZERO);
        let history = run("zk-predecessor-watch", when, inject.clone());
        let highest = epochs(&history).into_iter().max();
        assert!(highest > Some(1), "{inject:?}: {:?}", epochs(&history));
    }
    let quiet = with_faults("zk-predecessor-watch", Vec::new());
    assert_eq!(epochs(&quiet), [1, 1]);
}

#[test]
fn held_links_and_slow_disks_hold_up_what_needs_a_quorum() {
    let hold = Fault::HoldLink {
        from: vec![ServerName::Follower(0), ServerName::Follower(1)],
        to: ServerName::Leader,
        length: seconds(3).into(),
    };
    let proposed = Trigger::Proposed {
        request: RequestKind::Create,
        by: FIRST,
        nth: 1,
    };
    let held = run("zk-predecessor-watch", proposed, hold);
    assert!(first(&held, queued).unwrap() >= VirtualTime::ZERO + seconds(3));

    let slow = |target| {
        let inject = Fault::SlowDisk {
            target,
            fsync: seconds(1),
            length: seconds(30).into(),
        };
        planned(Trigger::Acquiring { by: FIRST, nth: 1 }, inject)
    };
    let followers = vec![slow(ServerName::Follower(0)), slow(ServerName::Follower(1))];
    let slowed = with_faults("zk-predecessor-watch", followers);
    assert!(first(&slowed, queued).unwrap() >= VirtualTime::ZERO + seconds(1));
}

#[test]
fn a_lagging_server_answers_its_clients_late() {
    let lag = |server| {
        let inject = Fault::LagServer {
            target: ServerName::Number(server),
            by: seconds(2),
            length: seconds(30).into(),
        };
        planned(Trigger::At(Duration::ZERO), inject)
    };
    // The leader hears its followers late, and they hear it late.
    let history = with_faults("zk-predecessor-watch", vec![lag(0), lag(1), lag(2)]);
    assert!(first(&history, entered).unwrap() >= VirtualTime::ZERO + seconds(2));
}

#[test]
fn an_operator_deletes_the_lock_and_a_new_lock_counts_from_zero() {
    let history = run(
        "zk-predecessor-watch",
        acquired(),
        Fault::DeleteNode { of: FIRST },
    );
    let taken = |what: &EventKind| {
        matches!(
            what,
            EventKind::Disowned {
                by: A,
                how: Disowned::RemovedFromOutside,
                ..
            }
        )
    };
    assert_eq!(count(&history, taken), 1);

    let history = run("zk-predecessor-watch", acquired(), Fault::RecreateLock);
    let zeros = history
        .names
        .iter()
        .filter(|name| name.ends_with("-0000000000"))
        .count();
    assert!(zeros >= 2, "{:?}", history.names);
}

#[test]
fn a_swallowed_reply_never_comes_and_leaves_the_connection_as_it_is() {
    let swallow = Fault::SwallowReply { target: FIRST };
    let history = run("zk-hardened", creating(), swallow);
    assert_eq!(count(&history, queued), 1);
    assert_eq!(count(&history, entered), 0);
    for never in [
        EventKind::Disconnected { by: A },
        EventKind::SessionExpired { by: A },
    ] {
        assert_eq!(count(&history, |what| *what == never), 0);
    }
    assert_eq!(
        count(&history, |what| matches!(
            what,
            EventKind::StillWaiting { by: A, .. }
        )),
        1
    );
}

#[test]
fn a_request_timeout_ends_the_wait_for_a_swallowed_reply() {
    let service = Service::ZooKeeper(Ensemble {
        request_timeout: Some(seconds(2)),
        ..Ensemble::default()
    });
    let swallow = planned(creating(), Fault::SwallowReply { target: FIRST });
    let history = history_on(service, "zk-hardened", vec![swallow]);
    let made = first(&history, queued).unwrap();
    let lost = first(&history, |what| *what == EventKind::Disconnected { by: A }).unwrap();
    let waited = lost - made;
    assert!(
        waited > seconds(2) - Duration::from_millis(20) && waited < seconds(3),
        "{waited:?}"
    );
    assert_eq!(count(&history, queued), 1, "its node is found again");
    assert_eq!(count(&history, entered), 1);
}

#[test]
fn a_server_that_dies_again_while_it_is_dead_and_stands_still_serves_when_it_is_back() {
    let target = ServerName::Number(0);
    let crash = |at, back: Duration| {
        let inject = Fault::CrashServer {
            target,
            restart_after: Some(back),
        };
        planned(Trigger::At(at), inject)
    };
    let hang = Fault::HangServer {
        target,
        length: seconds(1).into(),
    };
    let faults = vec![
        crash(seconds(1), seconds(5)),
        planned(Trigger::At(seconds(2)), hang),
        crash(Duration::from_millis(2_500), Duration::from_millis(1)),
    ];
    let alone = Service::ZooKeeper(Ensemble {
        servers: 1,
        ..Ensemble::default()
    });
    let history = history_on(alone, "zk-hardened", faults);
    let finished = |what: &EventKind| matches!(what, EventKind::Finished { .. });
    assert_eq!(count(&history, finished), 2);
}

#[test]
fn after_a_loss_the_last_write_is_answered_before_the_release() {
    let mut in_flight = 0;
    for seed in 0..200 {
        // The write leaves shortly before the lease of ten seconds is no longer valid, or does not.
        let redis = Service::Redis(Deployment::default());
        let mut plan = plan_on(redis, "redis-compare-and-delete", Vec::new());
        plan.workload.hold = Hold::For(Duration::from_millis(9_770));
        plan.network.client_latency = (Duration::from_millis(1), Duration::from_millis(60));
        let history = simulate(&plan, seed).run.history;
        let lost = first(&history, |what| {
            matches!(what, EventKind::Lost { by: A, .. })
        });
        let writes = first(&history, |what| {
            matches!(what, EventKind::Writing { by: A, .. })
        });
        let wrote = first(&history, |what| {
            matches!(what, EventKind::Effect { by: A, .. })
        });
        let disowned = first(&history, |what| {
            matches!(
                what,
                EventKind::Disowned {
                    by: A,
                    how: Disowned::Released,
                    ..
                }
            )
        });
        if let (Some(lost), Some(wrote), Some(disowned)) = (lost, wrote, disowned)
            && writes <= Some(lost)
            && lost <= wrote
        {
            in_flight += 1;
            assert!(wrote < disowned, "seed {seed}");
        }
    }
    assert!(in_flight > 10, "{in_flight}");
}
