//! Time that passes between what arrives at a process and what its code does about it.

use crate::common::plans;

use std::time::Duration;

use picklock_algorithms::clients::RequestKind;
use picklock_checker::{ContenderId, EventKind, History, Verdict, VirtualTime, invariants};
use picklock_sim::plan::lease_server::LeaseServer;
use picklock_sim::plan::{
    ContenderSettings, Deployment, Direction, Ensemble, Fault, Hold, Plan, Service, Trigger,
};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};

const A: ContenderId = ContenderId(0);

fn zookeeper() -> Service {
    Service::ZooKeeper(Ensemble::default())
}

/// Each service, a recipe on it, and the request whose answer grants the lock.
fn services() -> [(Service, &'static str, RequestKind); 3] {
    [
        (zookeeper(), "zk-hardened", RequestKind::GetChildren),
        (
            Service::Redis(Deployment::default()),
            "redis-compare-and-delete",
            RequestKind::Set,
        ),
        (
            Service::LeaseServer(LeaseServer::default()),
            "lease-lock",
            RequestKind::Claim,
        ),
    ]
}

/// When this happened to the first contender first.
fn first(history: &History, is: impl Fn(&EventKind) -> bool) -> VirtualTime {
    let found = history.events.iter().find(|event| is(&event.what));
    found.expect("it happened").at
}

fn entered(history: &History) -> VirtualTime {
    first(
        history,
        |what| matches!(what, EventKind::Acquired { by, .. } if *by == A),
    )
}

fn received(request: RequestKind) -> Trigger {
    let (by, nth) = (FIRST, 1);
    Trigger::Received {
        request,
        by,
        nth,
        at: None,
    }
}

fn pause(length: Duration) -> Fault {
    Fault::Pause {
        target: FIRST,
        length: length.into(),
    }
}

#[test]
fn code_goes_on_so_much_later_for_each_answer() {
    for (service, recipe, _) in services() {
        let alone = |processing| {
            let mut plan = plan_on(service.clone(), recipe, Vec::new());
            plan.workload.contenders = 1;
            plan.network.client_latency = (Duration::from_millis(1), Duration::from_millis(1));
            plan.workload.processing = (processing, processing);
            entered(&simulate(&plan, 0).run.history).micros()
        };
        let time = Duration::from_millis(50);
        let (at_once, later) = (alone(Duration::ZERO), alone(time));
        // It is woken to begin, and by each answer, of which there are one or two.
        assert!(
            (at_once + 100_000..at_once + 300_000).contains(&later),
            "{recipe}"
        );
    }
}

#[test]
fn one_contender_may_take_longer_than_the_others() {
    let mut plan = plan_on(zookeeper(), "zk-hardened", Vec::new());
    let at_once = entered(&simulate(&plan, 0).run.history);
    let slow = ContenderSettings {
        processing: Some((seconds(1), seconds(1))),
        ..ContenderSettings::default()
    };
    plan.workload.contender_settings.insert(FIRST, slow);
    assert!(entered(&simulate(&plan, 0).run.history) > at_once + seconds(2));
    assert_eq!(plan.processing_at_most(), seconds(1));
}

#[test]
fn a_pause_falls_between_an_answer_and_what_is_done_about_it() {
    for processing in [Duration::ZERO, Duration::from_millis(20)] {
        for (service, recipe, request) in services() {
            let faults = vec![planned(received(request), pause(seconds(2)))];
            let mut plan = plan_on(service, recipe, faults);
            plan.workload.processing = (processing, processing);
            let history = simulate(&plan, 0).run.history;
            let paused = first(&history, |what| matches!(what, EventKind::Paused { .. }));
            let owned = first(
                &history,
                |what| matches!(what, EventKind::Owned { by, .. } if *by == A),
            );
            assert!(owned < paused, "the service has granted it: {recipe}");
            assert!(entered(&history) >= paused + seconds(2), "{recipe}");
        }
    }
}

#[test]
fn a_pause_of_one_that_has_entered_comes_when_its_code_has_gone_on() {
    let mut plan = plan_on(
        zookeeper(),
        "zk-hardened",
        vec![planned(acquired(), pause(seconds(2)))],
    );
    plan.workload.processing = (seconds(1), seconds(1));
    let history = simulate(&plan, 0).run.history;
    let paused = first(&history, |what| matches!(what, EventKind::Paused { .. }));
    assert_eq!(entered(&history), paused);
}

#[test]
fn a_contender_that_dies_before_it_goes_on_has_not_got_the_lock() {
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: Some(seconds(1)),
    };
    for (service, recipe, request) in services() {
        let faults = vec![planned(received(request), crash.clone())];
        let mut plan = plan_on(service, recipe, faults);
        plan.workload.processing = (Duration::from_millis(1), Duration::from_millis(20));
        let history = simulate(&plan, 0).run.history;
        let restarted = first(&history, |what| matches!(what, EventKind::Restarted { .. }));
        assert!(entered(&history) > restarted, "{recipe}");
    }
}

/// A world in which the connection of the first contender is lost for good reason, just when it has heard that it is
/// first.
fn cut_when_first(recipe: &str, processing: Duration) -> Plan {
    let cut = planned(
        received(RequestKind::GetChildren),
        Fault::Cut { target: FIRST },
    );
    let hole = Fault::BlackHole {
        target: FIRST,
        direction: Direction::Both,
        length: seconds(20).into(),
    };
    let faults = vec![cut, planned(Trigger::Fired { fault: 0 }, hole)];
    let mut plan = plan_on(zookeeper(), recipe, faults);
    plan.workload.hold = Hold::For(seconds(15));
    plan.workload.processing = (processing, processing);
    plan
}

#[test]
fn a_late_listener_is_caught_where_code_takes_time_and_only_there() {
    let exclusion = invariants::find("mutual-exclusion").expect("there is one");
    let violated = |recipe, millis| {
        let plan = cut_when_first(recipe, Duration::from_millis(millis));
        let verdict = exclusion.verdict(&simulate(&plan, 0).run);
        matches!(verdict, Verdict::Violated(_))
    };
    assert!(!violated("zk-late-listener", 0));
    assert!(violated("zk-late-listener", 200));
    assert!(!violated("zk-hardened", 200));
}

#[test]
fn the_same_seed_takes_the_same_times() {
    let mut plan = cut_when_first("zk-hardened", Duration::ZERO);
    plan.workload.processing = (Duration::ZERO, Duration::from_millis(40));
    let hash = |seed| simulate(&plan, seed).hash;
    assert_eq!(hash(3), hash(3));
    assert_ne!(hash(3), hash(4));
}
