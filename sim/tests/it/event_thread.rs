//! A callback that does not return: what it holds up in a run, and what not.

use crate::common;
use crate::common::first;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, planned, seconds};
use first::first;
use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    ContenderName, Direction, Ensemble, Fault, LockCall, PlannedFault, Service, Trigger,
};
use picklock_zookeeper::client_profile::Library;

const SECOND: ContenderName = ContenderName(1);
const B: ContenderId = ContenderId(1);

fn run(library: Library, algorithm: &str, faults: Vec<PlannedFault>) -> History {
    let ensemble = Ensemble {
        library,
        ..Ensemble::default()
    };
    history_on(Service::ZooKeeper(ensemble), algorithm, faults)
}

fn block(target: ContenderName, length: Duration) -> Fault {
    Fault::BlockEvents {
        target,
        length: length.into(),
    }
}

/// How long after its connection has broken a holder learns of it, if its callback is called then and takes so long.
/// There is none for four seconds.
fn told_after(library: Library, algorithm: &str, blocked: Duration) -> Duration {
    // Not at once: what it asks as soon as it holds is answered by then, and nothing else tells it.
    let later = |inject| PlannedFault {
        after: seconds(1),
        ..planned(acquired(), inject)
    };
    let cut = Fault::Cut { target: FIRST };
    let hole = Fault::BlackHole {
        target: FIRST,
        direction: Direction::Both,
        length: seconds(4).into(),
    };
    let history = run(
        library,
        algorithm,
        vec![later(block(FIRST, blocked)), later(cut), later(hole)],
    );
    let broken = at(&history, |what| {
        matches!(what, EventKind::FaultFired { .. })
    });
    let lost = at(&history, |what| {
        matches!(what, EventKind::Lost { by: A, .. })
    });
    lost - broken
}

fn at(history: &History, wanted: impl Fn(&EventKind) -> bool) -> VirtualTime {
    first(history, wanted).expect("it happens")
}

fn enters(history: &History, who: ContenderId) -> VirtualTime {
    at(
        history,
        |what| matches!(what, EventKind::Acquired { by, .. } if *by == who),
    )
}

#[test]
fn a_holder_learns_of_its_connection_when_the_callback_returns() {
    let millis = Duration::from_millis;
    assert_eq!(
        told_after(Library::Java, "zk-hardened", millis(1)),
        millis(100)
    );
    assert_eq!(
        told_after(Library::Java, "zk-hardened", seconds(3)),
        seconds(3)
    );
    assert_eq!(
        told_after(Library::Java, "curator-mutex", seconds(3)),
        seconds(3)
    );
}

#[test]
fn a_contender_that_goes_by_events_hears_of_a_loss_that_is_over() {
    let faults = vec![
        planned(acquired(), block(FIRST, seconds(3))),
        planned(acquired(), Fault::Cut { target: FIRST }),
    ];
    let history = run(Library::Java, "curator-mutex", faults);
    let lost = first(&history, |what| {
        matches!(what, EventKind::Lost { by: A, .. })
    })
    .unwrap();
    let back = first(&history, |what| {
        matches!(what, EventKind::Reconnected { by: A })
    })
    .unwrap();
    assert!(back < lost && lost - enters(&history, A) == seconds(3));
}

#[test]
fn one_that_looks_for_itself_knows_without_being_told() {
    let after = told_after(Library::Java, "zk-own-timer", seconds(3));
    assert!(after < seconds(1), "{after:?}");
}

#[test]
fn kazoo_reports_the_session_on_another_thread() {
    let after = told_after(Library::Kazoo, "zk-hardened", seconds(3));
    assert!(after < Duration::from_millis(1), "{after:?}");
}

#[test]
fn a_waiter_is_late_by_as_much_as_its_callback_takes() {
    for library in [Library::Java, Library::Kazoo] {
        let waiting = Trigger::Waiting { by: SECOND, nth: 1 };
        let late = run(
            library,
            "zk-predecessor-watch",
            vec![planned(waiting, block(SECOND, seconds(20)))],
        );
        let released = first(&late, |what| {
            matches!(what, EventKind::Released { by: A, .. })
        })
        .unwrap();
        assert!(released.micros() < 6_000_000);
        let fired = first(&late, |what| matches!(what, EventKind::FaultFired { .. })).unwrap();
        let entered = enters(&late, B);
        // A look at the queue, and it is its turn.
        assert!(entered - fired >= seconds(20) && entered - fired < seconds(21));
        assert!(
            first(&late, |what| matches!(
                what,
                EventKind::SessionExpired { by: B }
            ))
            .is_none()
        );
    }
}

#[test]
fn a_callback_does_not_return_in_a_process_that_stands_still() {
    let waiting = || Trigger::Waiting { by: SECOND, nth: 1 };
    let pause = Fault::Pause {
        target: SECOND,
        length: seconds(7).into(),
    };
    let faults = vec![
        planned(waiting(), block(SECOND, seconds(6))),
        planned(waiting(), pause),
    ];
    let history = run(Library::Java, "zk-predecessor-watch", faults);
    let resumed = first(&history, |what| {
        matches!(what, EventKind::Resumed { by: B })
    })
    .unwrap();
    let entered = enters(&history, B);
    assert!(entered >= resumed && entered - resumed < seconds(1));
}

#[test]
fn the_longest_of_several_callbacks_counts() {
    let waiting = || Trigger::Waiting { by: SECOND, nth: 1 };
    let faults = vec![
        planned(waiting(), block(SECOND, seconds(20))),
        planned(waiting(), block(SECOND, seconds(1))),
    ];
    let history = run(Library::Java, "zk-predecessor-watch", faults);
    let fired = first(&history, |what| {
        matches!(what, EventKind::FaultFired { .. })
    })
    .unwrap();
    assert!(enters(&history, B) - fired >= seconds(20));
}

/// Curator looks in the background for what a cancelled create may have left, and deletes it when it has the answer.
#[test]
fn what_is_cleaned_up_in_the_background_waits_for_its_turn() {
    let creating = || Trigger::Sent {
        request: RequestKind::Create,
        by: SECOND,
        nth: 1,
        at: None,
    };
    let gone_after = |blocked| {
        let cancel = Fault::Cancel {
            target: SECOND,
            call: LockCall::Acquire,
        };
        let faults = vec![
            planned(creating(), block(SECOND, blocked)),
            planned(creating(), cancel),
        ];
        let history = run(Library::Java, "curator-mutex", faults);
        let came = first(&history, |what| {
            matches!(what, EventKind::Queued { by: B, .. })
        })
        .unwrap();
        let went = first(&history, |what| {
            matches!(what, EventKind::Unqueued { by: B, .. })
        })
        .unwrap();
        went - came
    };
    assert!(gone_after(Duration::from_millis(1)) < seconds(1));
    let late = gone_after(seconds(4));
    assert!(late > seconds(3) && late < seconds(5), "{late:?}");
}

/// A holder is alone in front; the waiter behind it dies, and the third learns in a callback that another is ahead.
fn third_hears_of_the_second(library: Library, algorithm: &str) -> History {
    let dies = Fault::Crash {
        target: SECOND,
        restart_after: None,
    };
    let third = Trigger::Waiting {
        by: ContenderName(2),
        nth: 1,
    };
    let ensemble = Ensemble {
        library,
        ..Ensemble::default()
    };
    let service = Service::ZooKeeper(ensemble);
    let mut plan = common::plan_on(service, algorithm, vec![planned(third, dies)]);
    plan.workload.contenders = 3;
    plan.workload.hold = picklock_sim::plan::Hold::For(seconds(20));
    picklock_sim::simulate(&plan, 1).run.history
}

fn third_enters(library: Library, algorithm: &str) -> bool {
    let history = third_hears_of_the_second(library, algorithm);
    first(
        &history,
        |what| matches!(what, EventKind::Acquired { by, .. } if by.0 == 2),
    )
    .is_some()
}

#[test]
fn a_callback_that_waits_for_an_event_waits_for_ever_where_there_is_an_event_thread() {
    for library in [Library::Java, Library::Kazoo] {
        assert!(
            !third_enters(library, "zk-acquire-in-callback"),
            "{library:?}"
        );
    }
    assert!(third_enters(Library::Rust, "zk-acquire-in-callback"));
}

#[test]
fn a_callback_that_asks_and_returns_gets_the_answer_and_events() {
    for (_, library) in Library::ALL {
        assert!(third_enters(library, "zk-callback-watch"), "{library:?}");
    }
}

#[test]
fn a_callback_that_waits_is_over_when_its_call_is_dropped() {
    // The time for which it waits is over, and it comes again.
    let ensemble = Service::ZooKeeper(Ensemble::default());
    let dies = Fault::Crash {
        target: SECOND,
        restart_after: None,
    };
    let third = Trigger::Waiting {
        by: ContenderName(2),
        nth: 1,
    };
    let cancel = Fault::Cancel {
        target: ContenderName(2),
        call: LockCall::Acquire,
    };
    let later = PlannedFault {
        after: seconds(15),
        ..planned(third.clone(), cancel)
    };
    let faults = vec![planned(third, dies), later];
    let mut plan = common::plan_on(ensemble, "zk-acquire-in-callback", faults);
    plan.workload.contenders = 3;
    plan.workload.hold = picklock_sim::plan::Hold::For(seconds(20));
    plan.workload.rounds = 2;
    let history = picklock_sim::simulate(&plan, 1).run.history;
    let cancelled = at(
        &history,
        |what| matches!(what, EventKind::Cancelled { by, .. } if by.0 == 2),
    );
    let asks_again = history.events.iter().any(|event| {
        event.at >= cancelled
            && matches!(event.what, EventKind::AcquireStarted { by, .. } if by.0 == 2)
    });
    assert!(asks_again);
}
