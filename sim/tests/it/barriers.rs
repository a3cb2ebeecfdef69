//! Barriers: which contender comes to which, and what the history says of it.

use crate::common::plans;

use picklock_checker::{ContenderId, EventKind, History, LockId, Run, Verdict, invariants};
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Plan, Section, Service, Trigger,
};
use picklock_sim::simulate;
use plans::{acquired, plan_on, planned, seconds};

fn plan(recipe: &str) -> Plan {
    let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, Vec::new());
    let workload = &mut plan.workload;
    workload.contenders = 3;
    workload.arrive = Arrival::Within(seconds(3));
    workload.hold = Hold::For(seconds(1));
    workload.section = Section::Count;
    plan
}

fn verdict(invariant: &str, run: &Run) -> Verdict {
    invariants::find(invariant)
        .expect("it is known")
        .verdict(run)
}

/// The barriers that a contender enters, in order.
fn entered(history: &History, who: u32) -> Vec<LockId> {
    let events = history.events.iter();
    let entered = events.filter_map(|event| match event.what {
        EventKind::Acquired { by, lock, .. } => (by == ContenderId(who)).then_some(lock),
        _ => None,
    });
    entered.collect()
}

const RECIPES: [&str; 3] = [
    "zk-double-barrier",
    "curator-double-barrier",
    "zk-tutorial-barrier",
];

#[test]
fn all_come_to_the_same_barrier_in_each_round() {
    for recipe in RECIPES {
        let mut plan = plan(recipe);
        (plan.workload.rounds, plan.workload.locks) = (2, 2);
        plan.workload.think = (seconds(0), seconds(1));
        let run = simulate(&plan, 0).run;
        for who in 0..3 {
            let all = [LockId(0), LockId(1)];
            assert_eq!(entered(&run.history, who), all, "{recipe}");
        }
        assert_eq!(verdict("barrier", &run), Verdict::Holds, "{recipe}");
        assert_eq!(verdict("progress", &run), Verdict::Holds, "{recipe}");
    }
}

#[test]
fn a_barrier_has_no_owner_and_nodes_of_parties_come_and_go() {
    for recipe in RECIPES {
        let history = simulate(&plan(recipe), 0).run.history;
        let count = |wanted: fn(&EventKind) -> bool| {
            let events = history.events.iter();
            events.filter(|event| wanted(&event.what)).count()
        };
        assert_eq!(count(|what| matches!(what, EventKind::Owned { .. })), 0);
        assert_eq!(count(|what| matches!(what, EventKind::Queued { .. })), 3);
        assert_eq!(count(|what| matches!(what, EventKind::Unqueued { .. })), 3);
    }
}

/// A party dies inside, and comes again when the others have gone.
fn with_a_death(restart_after: Option<std::time::Duration>) -> Run {
    let mut plan = plan("zk-double-barrier");
    let target = ContenderName(0);
    plan.workload.hold = Hold::For(seconds(4));
    plan.faults = vec![planned(
        acquired(),
        Fault::Crash {
            target,
            restart_after,
        },
    )];
    simulate(&plan, 0).run
}

#[test]
fn a_party_that_dies_inside_is_not_waited_for_when_its_session_has_ended() {
    let run = with_a_death(None);
    assert_eq!(verdict("barrier", &run), Verdict::Holds);
    let left = |who| {
        let events = run.history.events.iter();
        { events }.any(
            |event| matches!(event.what, EventKind::Released { by, .. } if by == ContenderId(who)),
        )
    };
    assert!(left(1) && left(2));
}

#[test]
fn a_party_that_dies_inside_and_comes_again_gets_through() {
    for after in [1, 60] {
        let run = with_a_death(Some(seconds(after)));
        assert_eq!(verdict("barrier", &run), Verdict::Holds, "{after}");
        assert_eq!(verdict("progress", &run), Verdict::Holds, "{after}");
    }
}

#[test]
fn a_dead_party_stops_a_barrier_and_no_invariant_is_violated() {
    let mut plan = plan("zk-double-barrier");
    plan.workload.arrive = Arrival::Together;
    plan.faults = vec![planned(
        Trigger::Acquiring {
            by: ContenderName(2),
            nth: 1,
        },
        Fault::Crash {
            target: ContenderName(2),
            restart_after: None,
        },
    )];
    let run = simulate(&plan, 0).run;
    let Verdict::Undecided(why) = verdict("progress", &run) else {
        panic!("{:?}", verdict("progress", &run));
    };
    assert!(why.contains("all others wait for it"), "{why}");
}

#[test]
fn a_late_contender_has_as_long_as_an_early_one() {
    for recipe in RECIPES {
        let mut plan = plan(recipe);
        plan.workload.arrive = Arrival::Within(seconds(300));
        for seed in 0..5 {
            let run = simulate(&plan, seed).run;
            assert_eq!(verdict("progress", &run), Verdict::Holds, "{recipe}");
        }
    }
}
