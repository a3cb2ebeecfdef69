//! A callback that does not return in the event loop of a client of Redis: what it holds up in a run, and what not.

use crate::common;
use crate::common::first;

use std::time::Duration;

use common::{A, FIRST, acquired, plan_on, planned, seconds};
use first::first;
use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    ContenderName, Deployment, Fault, Hold, PlannedFault, ServerName, Service, Trigger,
};
use picklock_sim::simulate;

const SECOND: ContenderName = ContenderName(1);
const B: ContenderId = ContenderId(1);

/// Two contenders, one after the other, each for so long, under leases of so long.
fn run(lease: u64, hold: u64, faults: Vec<PlannedFault>) -> History {
    let deployment = Deployment {
        lease: seconds(lease),
        ..Deployment::default()
    };
    let mut plan = plan_on(Service::Redis(deployment), "redisson-lock", faults);
    plan.workload.hold = Hold::For(seconds(hold));
    simulate(&plan, 1).run.history
}

fn block(target: ContenderName, length: Duration) -> Fault {
    Fault::BlockEvents {
        target,
        length: length.into(),
    }
}

fn pause(target: ContenderName, length: Duration) -> Fault {
    Fault::Pause {
        target,
        length: length.into(),
    }
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

fn begins_release(history: &History) -> VirtualTime {
    at(history, |what| {
        matches!(what, EventKind::ReleaseStarted { by: A, .. })
    })
}

fn ends_release(history: &History) -> VirtualTime {
    at(history, |what| {
        matches!(what, EventKind::Released { by: A, .. })
    })
}

fn fires(history: &History) -> VirtualTime {
    at(history, |what| matches!(what, EventKind::FaultFired { .. }))
}

#[test]
fn a_watchdog_cannot_renew_while_a_callback_blocks_its_client() {
    let renewed = run(10, 25, vec![planned(acquired(), block(FIRST, seconds(6)))]);
    assert!(enters(&renewed, B) - enters(&renewed, A) >= seconds(25));
    let starved = run(10, 25, vec![planned(acquired(), block(FIRST, seconds(11)))]);
    let after = enters(&starved, B) - enters(&starved, A);
    assert!(after >= seconds(9) && after < seconds(11), "{after:?}");
    // The job of the holder goes on all the while.
    let stayed = begins_release(&starved) - enters(&starved, A);
    assert!(stayed >= seconds(25) && stayed < seconds(26), "{stayed:?}");
}

#[test]
fn a_call_waits_until_the_callback_has_returned() {
    let fault = planned(acquired(), block(FIRST, seconds(8)));
    let history = run(10, 5, vec![fault]);
    let took = ends_release(&history) - begins_release(&history);
    assert!(took >= seconds(3) && took < seconds(4), "{took:?}");
}

#[test]
fn a_waiter_hears_of_a_release_when_its_callback_has_returned() {
    let waiting = Trigger::Waiting { by: SECOND, nth: 1 };
    let history = run(10, 5, vec![planned(waiting, block(SECOND, seconds(8)))]);
    let late = enters(&history, B) - fires(&history);
    assert!(late >= seconds(8) && late < seconds(9), "{late:?}");
}

#[test]
fn a_callback_returns_when_its_process_goes_on() {
    for (blocked, paused) in [(6, 9), (9, 6)] {
        let waiting = || Trigger::Waiting { by: SECOND, nth: 1 };
        let faults = vec![
            planned(waiting(), block(SECOND, seconds(blocked))),
            planned(waiting(), pause(SECOND, seconds(paused))),
        ];
        let history = run(10, 5, faults);
        let late = enters(&history, B) - fires(&history);
        assert!(late >= seconds(9) && late < seconds(10), "{late:?}");
    }
}

#[test]
fn a_fault_at_an_answer_that_waited_holds_up_the_rest() {
    let (request, by) = (RequestKind::Script, FIRST);
    // The third is the renewal after ten seconds: the server does not know the first by its digest.
    let renewing = || Trigger::Sent {
        request,
        by,
        nth: 3,
        at: None,
    };
    let answered = || Trigger::Received {
        request,
        by,
        nth: 3,
        at: None,
    };
    for stops in [block(FIRST, seconds(5)), pause(FIRST, seconds(5))] {
        let blocked = planned(renewing(), block(FIRST, seconds(4)));
        let history = run(30, 15, vec![blocked, planned(answered(), stops)]);
        let after = ends_release(&history) - enters(&history, A);
        assert!(after >= seconds(19) && after < seconds(21), "{after:?}");
    }
}

#[test]
fn what_waited_for_a_dead_client_is_lost() {
    let dies = Fault::Crash {
        target: SECOND,
        restart_after: None,
    };
    let waiting = Trigger::Waiting { by: SECOND, nth: 1 };
    let evicted = Fault::EvictKey {
        target: ServerName::Number(0),
    };
    let faults = vec![
        planned(waiting.clone(), block(SECOND, seconds(20))),
        PlannedFault {
            after: seconds(7),
            ..planned(waiting.clone(), dies)
        },
        PlannedFault {
            after: seconds(1),
            ..planned(waiting, evicted)
        },
    ];
    let history = run(10, 5, faults);
    let entered = first(&history, |what| {
        matches!(what, EventKind::Acquired { by: B, .. })
    });
    assert_eq!(entered, None);
}
