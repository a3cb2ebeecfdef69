//! Locks that others can ask for: any holder gives its lock back early, no matter what it does meanwhile.

use crate::common::plans;

use picklock_checker::{ContenderId, EventKind, Evidence, INVARIANTS, Run, Verdict};
use picklock_sim::plan::{
    Arrival, Ensemble, Fault, Hold, LockOrder, Plan, Reads, Section, Service, Trigger,
};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};

const SEEDS: u64 = 10;

const A: ContenderId = ContenderId(0);
const B: ContenderId = ContenderId(1);

const REVOCABLE: [&str; 2] = ["zk-revocable-shared-locks", "curator-mutex-revocable"];

/// Two contenders, one after the other, each for an hour; an operator asks the first for the lock.
fn plan(recipe: &str, when: Trigger) -> Plan {
    let faults = vec![planned(when, Fault::Revoke { of: FIRST })];
    let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, faults);
    plan.workload.hold = Hold::For(seconds(3_600));
    plan
}

fn waiting() -> Trigger {
    Trigger::Waiting { by: FIRST, nth: 1 }
}

fn violated(run: &Run) -> Vec<&'static str> {
    let evidence = Evidence::of(run);
    let all = INVARIANTS.iter();
    let verdicts = all.map(|invariant| (invariant.name, (invariant.check)(&evidence)));
    let violated = verdicts.filter(|(_, verdict)| matches!(verdict, Verdict::Violated(_)));
    violated.map(|(name, _)| name).collect()
}

/// What a contender did with a lock, from its first hold on, in order.
fn steps(run: &Run, of: ContenderId) -> Vec<&'static str> {
    let events = run.history.events.iter();
    let steps = events.filter_map(|event| match event.what {
        EventKind::Acquired { by, .. } if by == of => Some("acquired"),
        EventKind::Revoked { by, .. } if by == of => Some("revoked"),
        EventKind::Lost { by, .. } if by == of => Some("lost"),
        EventKind::Writing { by, .. } if by == of => Some("writing"),
        EventKind::Cancelled { by, .. } if by == of => Some("cancelled"),
        EventKind::ReleaseStarted { by, .. } if by == of => Some("release"),
        EventKind::Released { by, .. } if by == of => Some("released"),
        EventKind::Finished { by } if by == of => Some("finished"),
        _ => None,
    });
    steps.collect()
}

/// For how long a contender held the lock.
fn held(run: &Run, of: ContenderId) -> std::time::Duration {
    let mut events = run.history.events.iter();
    let from =
        events.find(|event| matches!(event.what, EventKind::Acquired { by, .. } if by == of));
    let until =
        events.find(|event| matches!(event.what, EventKind::ReleaseStarted { by, .. } if by == of));
    until.expect("it gives it back").at - from.expect("it gets it").at
}

#[test]
fn a_holder_that_is_asked_for_its_lock_gives_it_back_and_has_had_its_turn() {
    for recipe in REVOCABLE {
        for seed in 0..SEEDS {
            let run = simulate(&plan(recipe, acquired()), seed).run;
            let expected = ["acquired", "revoked", "release", "released", "finished"];
            assert_eq!(steps(&run, A), expected, "{recipe} at seed {seed}");
            assert!(held(&run, A) < seconds(1), "{recipe} at seed {seed}");
            assert!(held(&run, B) >= seconds(3_600), "{recipe} at seed {seed}");
            assert_eq!(violated(&run), [] as [&str; 0], "{recipe} at seed {seed}");
        }
    }
}

#[test]
fn a_holder_of_an_irrevocable_lock_keeps_it() {
    for recipe in ["zk-shared-locks", "curator-mutex"] {
        let run = simulate(&plan(recipe, acquired()), 0).run;
        let expected = ["acquired", "writing", "release", "released", "finished"];
        assert_eq!(steps(&run, A), expected, "{recipe}");
    }
}

#[test]
fn a_reader_that_is_asked_gives_way_to_a_writer() {
    for seed in 0..SEEDS {
        let mut plan = plan("zk-revocable-shared-locks", acquired());
        plan.workload.reads = Reads::Always;
        let run = simulate(&plan, seed).run;
        assert!(held(&run, A) < seconds(1), "seed {seed}");
        assert_eq!(violated(&run), [] as [&str; 0], "seed {seed}");
    }
}

#[test]
fn a_holder_that_waits_for_another_lock_can_be_revoked() {
    for recipe in REVOCABLE {
        for seed in 0..SEEDS {
            let mut plan = plan(recipe, waiting());
            plan.workload.arrive = Arrival::Together;
            plan.workload.hold = Hold::For(seconds(1));
            plan.workload.section = Section::Count;
            (plan.workload.locks, plan.workload.locks_at_once) = (2, 2);
            plan.workload.lock_order = LockOrder::InTurn;
            // Each waits for what the other holds, until one is asked for it.
            let run = simulate(&plan, seed).run;
            assert_eq!(violated(&run), [] as [&str; 0], "{recipe} at seed {seed}");
            let begins = ["acquired", "revoked", "cancelled", "release"];
            let steps = steps(&run, A);
            assert!(
                steps.starts_with(&begins),
                "{recipe} at seed {seed}: {steps:?}"
            );
            assert!(
                steps.contains(&"writing"),
                "{recipe} at seed {seed}: {steps:?}"
            );
        }
    }
}

#[test]
fn a_section_that_is_asked_for_one_of_its_locks_gives_back_all() {
    for recipe in REVOCABLE {
        let mut plan = plan(recipe, Trigger::Acquired { by: FIRST, nth: 2 });
        (plan.workload.locks, plan.workload.locks_at_once) = (2, 2);
        plan.workload.lock_order = LockOrder::ByName;
        let run = simulate(&plan, 0).run;
        let expected = [
            "acquired", "acquired", "revoked", "release", "released", "release", "released",
            "finished",
        ];
        assert_eq!(steps(&run, A), expected, "{recipe}");
    }
}
