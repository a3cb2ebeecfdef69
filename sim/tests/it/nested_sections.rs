//! Sections that hold several locks at once: acquired one inside the other, given back in reverse, and in the way of
//! each other where orders differ.

use crate::common::plans;
use crate::common::violated;

use std::collections::BTreeSet;

use picklock_checker::{ContenderId, EventKind, LockId, Run};
use picklock_sim::plan::{
    Arrival, Deployment, Ensemble, Fault, Hold, LockCall, LockOrder, Plan, PlannedFault, Section,
    Service, Trigger,
};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};
use violated::violated;

const SEEDS: u64 = 10;

const A: ContenderId = ContenderId(0);

fn plan(recipe: &str, order: LockOrder, faults: Vec<PlannedFault>) -> Plan {
    let service = match recipe.starts_with("redis") {
        true => Service::Redis(Deployment::default()),
        false => Service::ZooKeeper(Ensemble::default()),
    };
    let mut plan = plan_on(service, recipe, faults);
    plan.workload.arrive = Arrival::Together;
    plan.workload.locks = 2;
    plan.workload.locks_at_once = 2;
    plan.workload.lock_order = order;
    plan.workload.hold = Hold::For(seconds(1));
    plan.workload.section = Section::Count;
    plan
}

/// Invariants that a contender can violate before it learns that its session has ended.
const EXCUSED: [&str; 3] = ["mutual-exclusion", "no-stale-effect", "no-lost-update"];

/// What a contender did, as `acquire a`, in order.
fn steps(run: &Run, of: ContenderId) -> Vec<String> {
    let name = |lock: LockId| run.history.lock(lock).chars().last().unwrap_or_default();
    let events = run.history.events.iter();
    let steps = events.filter_map(|event| {
        let (what, lock) = match event.what {
            EventKind::AcquireStarted { by, lock, .. } if by == of => ("acquire", lock),
            EventKind::Acquired { by, lock, .. } if by == of => ("acquired", lock),
            EventKind::AcquireFailed { by, lock, .. } if by == of => ("failed", lock),
            EventKind::Cancelled { by, lock } if by == of => ("cancelled", lock),
            EventKind::ReleaseStarted { by, lock } if by == of => ("release", lock),
            EventKind::Lost { by, lock, .. } if by == of => ("lost", lock),
            EventKind::Written { by, lock, .. } if by == of => ("written", lock),
            _ => return None,
        };
        Some(format!("{what} {}", name(lock)))
    });
    steps.collect()
}

/// The places of a contender's steps that are these, in this order; none if they are not.
fn in_order(steps: &[String], wanted: &[&str]) -> bool {
    let mut steps = steps.iter();
    wanted.iter().all(|next| steps.any(|step| step == next))
}

#[test]
fn a_section_holds_all_its_locks_and_gives_them_back_in_reverse() {
    for recipe in [
        "zk-hardened",
        "curator-mutex",
        "kazoo-lock",
        "redisson-lock",
    ] {
        for seed in 0..SEEDS {
            let run = simulate(&plan(recipe, LockOrder::ByName, Vec::new()), seed).run;
            assert_eq!(violated(&run), [], "{recipe} at seed {seed}");
            for contender in [0, 1] {
                let steps = steps(&run, ContenderId(contender));
                let expected = [
                    "acquire a",
                    "acquired a",
                    "acquire b",
                    "acquired b",
                    "written a",
                    "written b",
                    "release b",
                    "release a",
                ];
                assert_eq!(steps, expected, "{recipe} at seed {seed}");
            }
        }
    }
}

#[test]
fn contenders_with_different_first_locks_wait_for_ever() {
    for recipe in ["zk-hardened", "curator-mutex", "kazoo-lock"] {
        let run = simulate(&plan(recipe, LockOrder::InTurn, Vec::new()), 0).run;
        let circle = "they wait for each other: contender-1 holds /locks/a and waits for /locks/b, \
                      contender-2 holds /locks/b and waits for /locks/a";
        assert_eq!(
            violated(&run),
            [("progress", circle.to_owned())],
            "{recipe}"
        );
    }
    // Redisson's watchdog renews what each holds.
    let run = simulate(&plan("redisson-lock", LockOrder::InTurn, Vec::new()), 0).run;
    let circle = "they wait for each other: contender-1 holds lock:a and waits for lock:b, \
                  contender-2 holds lock:b and waits for lock:a";
    assert_eq!(violated(&run), [("progress", circle.to_owned())]);
}

#[test]
fn chance_draws_the_order_each_time() {
    let mut first = BTreeSet::new();
    let mut deadlocks = 0;
    for seed in 0..20 {
        let run = simulate(&plan("zk-hardened", LockOrder::Drawn, Vec::new()), seed).run;
        first.insert(steps(&run, A)[0].clone());
        deadlocks += violated(&run).len();
    }
    assert_eq!(first.len(), 2);
    assert!((1..20).contains(&deadlocks), "{deadlocks} of 20");
}

#[test]
fn a_contender_that_gives_up_waiting_gives_back_what_it_holds() {
    for recipe in ["curator-mutex", "zk-hardened", "redis-py-lock"] {
        let mut plan = plan(recipe, LockOrder::InTurn, Vec::new());
        plan.workload.acquire_timeout = Some(seconds(2));
        let gave_up = (0..SEEDS).filter(|seed| {
            let run = simulate(&plan, *seed).run;
            let others: Vec<_> = violated(&run)
                .into_iter()
                .filter(|violation| violation.0 != "progress")
                .collect();
            assert_eq!(others, [], "{recipe} at seed {seed}");
            in_order(
                &steps(&run, A),
                &["acquired a", "failed b", "release a", "acquire a"],
            ) || in_order(
                &steps(&run, ContenderId(1)),
                &["acquired b", "failed a", "release b"],
            )
        });
        assert!(gave_up.count() > 0, "{recipe}");
    }
}

#[test]
fn a_waiter_that_learns_of_a_loss_gives_up_and_comes_again() {
    // The second holds b for long, and the first waits for it with a.
    let waits = Trigger::Waiting { by: FIRST, nth: 1 };
    let expires = Fault::ExpireSession { target: FIRST };
    for recipe in ["curator-mutex", "zk-hardened", "kazoo-lock"] {
        let mut plan = plan(
            recipe,
            LockOrder::InTurn,
            vec![planned(waits.clone(), expires.clone())],
        );
        plan.workload.hold = Hold::For(seconds(5));
        let mut told = 0;
        for seed in 0..SEEDS {
            let run = simulate(&plan, seed).run;
            let mut names = violated(&run).into_iter().map(|violation| violation.0);
            let stays = names.all(|name| EXCUSED.contains(&name));
            assert!(stays, "{recipe} at seed {seed}: {:?}", violated(&run));
            let steps = steps(&run, A);
            told += usize::from(in_order(
                &steps,
                &["acquired a", "lost a", "acquire a", "acquired a"],
            ));
        }
        assert!(told > 0, "{recipe}");
    }
}

#[test]
fn a_cancelled_call_ends_the_round_and_leaves_nothing() {
    let cancel = Fault::Cancel {
        target: FIRST,
        call: LockCall::Acquire,
    };
    let mut fault = planned(acquired(), cancel);
    fault.after = std::time::Duration::from_millis(100);
    let plan = plan("curator-mutex", LockOrder::InTurn, vec![fault]);
    let mut cancelled = 0;
    for seed in 0..SEEDS {
        let run = simulate(&plan, seed).run;
        assert_eq!(violated(&run), [], "seed {seed}");
        let wanted = ["acquired a", "cancelled b", "release a"];
        cancelled += usize::from(in_order(&steps(&run, A), &wanted));
    }
    assert!(cancelled > 0);
}

#[test]
fn a_crash_ends_every_belief() {
    let crash = Fault::Crash {
        target: FIRST,
        restart_after: Some(seconds(1)),
    };
    let inside = Trigger::Acquired { by: FIRST, nth: 2 };
    for recipe in ["zk-hardened", "redisson-lock"] {
        let plan = plan(
            recipe,
            LockOrder::ByName,
            vec![planned(inside.clone(), crash.clone())],
        );
        for seed in 0..SEEDS {
            let run = simulate(&plan, seed).run;
            assert_eq!(violated(&run), [], "{recipe} at seed {seed}");
        }
    }
}
