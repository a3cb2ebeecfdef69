//! Multi-locks: several locks by one call, all of them or none.

use crate::common::plans;
use crate::common::violated;

use picklock_algorithms::registry;
use picklock_checker::{ContenderId, EventKind, Run};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, LockCall, LockOrder, Plan, PlannedFault,
    Section, Service, Trigger,
};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};
use violated::violated;

const SEEDS: u64 = 20;

const SECOND: ContenderName = ContenderName(1);

const RECIPES: [&str; 2] = ["curator-multi-lock", "curator-multi-lock-hardened"];

fn plan(recipe: &str, order: LockOrder, faults: Vec<PlannedFault>) -> Plan {
    let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, faults);
    plan.workload.arrive = Arrival::InOrder;
    plan.workload.locks = 2;
    plan.workload.locks_at_once = 2;
    plan.workload.lock_order = order;
    plan.workload.hold = Hold::For(seconds(2));
    plan.workload.section = Section::Count;
    plan
}

/// The steps of a contender, as `acquired a`, in order.
fn told(run: &Run, of: ContenderId) -> Vec<String> {
    let events = run.history.events.iter();
    let told = events.filter_map(|event| {
        let (what, lock) = match event.what {
            EventKind::AcquireStarted { by, lock, .. } if by == of => ("acquire", lock),
            EventKind::Acquired { by, lock, .. } if by == of => ("acquired", lock),
            EventKind::AcquireFailed { by, lock, .. } if by == of => ("failed", lock),
            EventKind::Cancelled { by, lock } if by == of => ("cancelled", lock),
            EventKind::ReleaseStarted { by, lock } if by == of => ("release", lock),
            EventKind::Released { by, lock } if by == of => ("released", lock),
            EventKind::ReleaseCancelled { by, lock } if by == of => ("unreleased", lock),
            _ => return None,
        };
        let lock = run.history.lock(lock).chars().last().unwrap_or_default();
        Some(format!("{what} {lock}"))
    });
    told.collect()
}

#[test]
fn a_contender_asks_for_all_at_once_and_believes_in_all_or_none() {
    for recipe in RECIPES {
        for seed in 0..SEEDS {
            let run = simulate(&plan(recipe, LockOrder::ByName, Vec::new()), seed).run;
            assert_eq!(violated(&run), [], "{recipe} at seed {seed}");
            let expected = [
                "acquire a",
                "acquire b",
                "acquired a",
                "acquired b",
                "release a",
                "release b",
                "released a",
                "released b",
            ];
            for contender in [0, 1] {
                let told = told(&run, ContenderId(contender));
                assert_eq!(told, expected, "{recipe} at seed {seed}");
            }
        }
    }
}

#[test]
fn two_calls_with_two_orders_wait_for_each_other_in_the_middle_of_their_calls() {
    let mut plan = plan("curator-multi-lock", LockOrder::InTurn, Vec::new());
    plan.workload.arrive = Arrival::Together;
    let run = simulate(&plan, 0).run;
    let circle = "they wait for each other: contender-1 holds /locks/a and waits for /locks/b, \
                  contender-2 holds /locks/b and waits for /locks/a";
    assert_eq!(violated(&run), [("progress", circle.to_owned())]);
}

#[test]
fn a_call_whose_time_is_over_gives_back_what_it_had() {
    for recipe in RECIPES {
        let mut plan = plan(recipe, LockOrder::InTurn, Vec::new());
        // The second has lock-b first, and the first waits for it with lock-a in its hands.
        plan.workload.arrive = Arrival::Together;
        plan.workload.acquire_timeout = Some(seconds(3));
        let run = simulate(&plan, 0).run;
        let told = told(&run, ContenderId(0));
        assert_eq!(
            told[..4],
            ["acquire a", "acquire b", "failed a", "failed b"]
        );
        let orphans = ["no-orphan", "honest-answer", "all-or-none"];
        let violated = violated(&run);
        assert!(
            !violated.iter().any(|(name, _)| orphans.contains(name)),
            "{violated:?}"
        );
    }
}

#[test]
fn a_thread_that_is_interrupted_in_its_call_leaves_nothing_of_it() {
    for recipe in RECIPES {
        let waits = Trigger::Waiting { by: SECOND, nth: 1 };
        let interrupt = Fault::Cancel {
            target: SECOND,
            call: LockCall::Acquire,
        };
        for seed in 0..SEEDS {
            let faults = vec![planned(waits.clone(), interrupt.clone())];
            let run = simulate(&plan(recipe, LockOrder::ByName, faults), seed).run;
            assert_eq!(violated(&run), [], "{recipe} at seed {seed}");
            let expected = ["acquire a", "acquire b", "cancelled a", "cancelled b"];
            let told = told(&run, ContenderId(1));
            assert_eq!(told, expected, "{recipe} at seed {seed}");
        }
    }
}

#[test]
fn a_thread_that_is_interrupted_in_its_release_has_released_all_in_the_end() {
    let releases = Trigger::Releasing { by: FIRST, nth: 1 };
    let interrupt = Fault::Cancel {
        target: FIRST,
        call: LockCall::Release,
    };
    let faults = vec![planned(releases, interrupt)];
    for recipe in RECIPES {
        let run = simulate(&plan(recipe, LockOrder::ByName, faults.clone()), 0).run;
        assert_eq!(violated(&run), [], "{recipe}");
        let told = told(&run, ContenderId(0));
        assert_eq!(told[6..], ["unreleased a", "unreleased b"], "{recipe}");
    }
    let some = "curator-multi-lock-releases-some";
    let run = simulate(&plan(some, LockOrder::ByName, faults), 0).run;
    let names: Vec<&str> = violated(&run).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["progress", "no-orphan"]);
}

#[test]
fn the_locks_of_a_multi_lock_stand_each_on_its_own() {
    // Of one lock it is as good as a mutex: the format refuses that, and the simulation does not mind.
    let recipe = registry::find("curator-multi-lock").expect("it is there");
    assert!(recipe.build.multi_lock().is_some());
    let mut plan = plan("curator-multi-lock", LockOrder::ByName, Vec::new());
    (plan.workload.locks, plan.workload.locks_at_once) = (1, 1);
    assert_eq!(violated(&simulate(&plan, 0).run), []);
}

#[test]
fn a_contender_that_dies_as_its_call_returns_leaves_nothing() {
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: Some(seconds(1)),
    };
    for recipe in RECIPES {
        let faults = vec![planned(acquired(), crash.clone())];
        let plan = plan(recipe, LockOrder::ByName, faults);
        for seed in 0..SEEDS {
            let run = simulate(&plan, seed).run;
            assert_eq!(violated(&run), [], "{recipe} at seed {seed}");
        }
    }
}
