//! A release that is dropped while its request is under way: what was asked next is still sent, and nothing after that.

use crate::common;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, planned};
use picklock_checker::{ContenderId, EventKind, History};
use picklock_clients::RequestKind;
use picklock_sim::plan::{Ensemble, Fault, LockCall, Repeat, Service, Trigger};

const B: ContenderId = ContenderId(1);

/// The first contender's delete is lost, and what it calls then is dropped.
fn history(algorithm: &str, call: LockCall) -> History {
    let delete = Trigger::Sent {
        request: RequestKind::Delete,
        by: FIRST,
        nth: 1,
        at: None,
    };
    let gone = Trigger::Disconnected { by: FIRST, nth: 1 };
    let cancel = Fault::Cancel {
        target: FIRST,
        call,
    };
    let mut lost = planned(delete, Fault::LoseRequest { target: FIRST });
    lost.repeat = Some(Repeat {
        times: 2,
        every: None,
    });
    let mut dropped = planned(gone, cancel);
    dropped.after = Duration::from_millis(1);
    let faults = vec![lost, dropped];
    history_on(Service::ZooKeeper(Ensemble::default()), algorithm, faults)
}

fn has(history: &History, wanted: impl Fn(&EventKind) -> bool) -> bool {
    history.events.iter().any(|event| wanted(&event.what))
}

fn enters(history: &History, who: ContenderId) -> bool {
    has(
        history,
        |what| matches!(what, EventKind::Acquired { by, .. } if *by == who),
    )
}

fn answered(history: &History) -> bool {
    has(history, |what| {
        matches!(
            what,
            EventKind::Released { by: A, .. } | EventKind::ReleaseFailed { by: A, .. }
        )
    })
}

fn dropped(history: &History) -> bool {
    has(history, |what| {
        matches!(what, EventKind::ReleaseCancelled { by: A, .. })
    })
}

#[test]
fn a_release_that_is_dropped_has_no_answer_and_its_node_stays() {
    let history = history("zk-predecessor-watch", LockCall::Release);
    assert!(dropped(&history) && !answered(&history));
    assert!(enters(&history, A) && !enters(&history, B));
}

#[test]
fn a_recipe_that_goes_on_in_the_background_gives_the_lock_back_all_the_same() {
    let history = history("zk-hardened", LockCall::Release);
    assert!(dropped(&history) && !answered(&history));
    assert!(enters(&history, B));
}

#[test]
fn cancelling_an_acquire_drops_no_release() {
    let history = history("zk-predecessor-watch", LockCall::Acquire);
    assert!(!dropped(&history) && answered(&history));
    assert!(enters(&history, B));
}

#[test]
fn a_release_that_has_not_begun_is_not_dropped() {
    let cancel = Fault::Cancel {
        target: FIRST,
        call: LockCall::Release,
    };
    let service = Service::ZooKeeper(Ensemble::default());
    let faults = vec![planned(acquired(), cancel)];
    let history = history_on(service, "zk-predecessor-watch", faults);
    assert!(!dropped(&history) && answered(&history));
}

#[test]
fn a_call_that_is_cancelled_as_it_begins_is_dropped() {
    for (when, call) in [
        (Trigger::Acquiring { by: FIRST, nth: 1 }, LockCall::Acquire),
        (Trigger::Releasing { by: FIRST, nth: 1 }, LockCall::Release),
    ] {
        let cancel = Fault::Cancel {
            target: FIRST,
            call,
        };
        let service = Service::ZooKeeper(Ensemble::default());
        let history = history_on(service, "zk-predecessor-watch", vec![planned(when, cancel)]);
        let is_dropped = |what: &EventKind| match call {
            LockCall::Acquire => matches!(what, EventKind::Cancelled { by: A, .. }),
            LockCall::Release => matches!(what, EventKind::ReleaseCancelled { by: A, .. }),
        };
        assert!(has(&history, is_dropped), "{call:?}");
    }
}
