//! Semaphores: how many own a permit at once, and whose turn it is.

use crate::common::plans;

use picklock_checker::{EventKind, History, Run, Verdict, invariants};
use picklock_sim::plan::{Arrival, Ensemble, Fault, Hold, Plan, Service};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};

fn plan(recipe: &str, permits: Option<u32>) -> Plan {
    let mut plan = plan_on(Service::ZooKeeper(Ensemble::default()), recipe, Vec::new());
    plan.workload.contenders = 5;
    plan.workload.hold = Hold::For(seconds(1));
    plan.workload.permits = permits;
    plan
}

/// How many at most at once, of what begins with the one event and ends with the other.
fn at_once(
    history: &History,
    begins: impl Fn(&EventKind) -> bool,
    ends: impl Fn(&EventKind) -> bool,
) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for event in &history.events {
        now += usize::from(begins(&event.what));
        now -= usize::from(ends(&event.what));
        most = most.max(now);
    }
    most
}

fn owners_at_once(history: &History) -> usize {
    let owned = |what: &EventKind| matches!(what, EventKind::Owned { .. });
    at_once(history, owned, |what| {
        matches!(what, EventKind::Disowned { .. })
    })
}

fn believers_at_once(history: &History) -> usize {
    let acquired = |what: &EventKind| matches!(what, EventKind::Acquired { .. });
    at_once(history, acquired, |what| {
        matches!(what, EventKind::ReleaseStarted { .. })
    })
}

fn verdict(name: &str, run: &Run) -> Verdict {
    let invariant = invariants::find(name).expect("a known invariant");
    invariant.verdict(run)
}

const RECIPES: [&str; 3] = [
    "curator-semaphore",
    "curator-semaphore-hardened",
    "kazoo-semaphore",
];

/// The contenders that wait at the end, by which node, and whose that is.
fn still_waiting(history: &History) -> Vec<(u32, &str, u32)> {
    let events = history.events.iter();
    let waiting = events.filter_map(|event| match event.what {
        EventKind::StillWaiting {
            by,
            behind: Some(behind),
            owner: Some(owner),
            ..
        } => Some((by.0, history.name(behind), owner.0)),
        _ => None,
    });
    waiting.collect()
}

#[test]
fn the_waiter_for_a_lease_is_behind_one_others_behind_its_mutex() {
    for (recipe, mutex) in [
        ("curator-semaphore", "/locks/a/locks/"),
        ("kazoo-semaphore", "/locks/a-__lock__/"),
    ] {
        let mut plan = plan(recipe, Some(1));
        plan.workload.contenders = 3;
        plan.workload.arrive = Arrival::InOrder;
        plan.workload.hold = Hold::For(seconds(60));
        plan.workload.progress_bound = Some(seconds(30));
        let run = simulate(&plan, 0).run;
        let waiting = still_waiting(&run.history);
        let [(1, lease, 0), (2, of_mutex, 1)] = waiting[..] else {
            panic!("{recipe}: {waiting:?}");
        };
        assert!(!lease.starts_with(mutex), "{recipe}: {lease}");
        assert!(of_mutex.starts_with(mutex), "{recipe}: {of_mutex}");
    }
}

#[test]
fn as_many_own_a_semaphore_as_it_has_permits_and_all_get_one() {
    for recipe in RECIPES {
        for permits in [1, 2, 3, 5, 7] {
            let run = simulate(&plan(recipe, Some(permits)), 0).run;
            let most = permits.min(5) as usize;
            assert_eq!(owners_at_once(&run.history), most, "{recipe}: {permits}");
            assert_eq!(believers_at_once(&run.history), most, "{recipe}: {permits}");
            for name in [
                "mutual-exclusion",
                "exclusive-ownership",
                "progress",
                "no-orphan",
                "honest-answer",
            ] {
                assert_eq!(verdict(name, &run), Verdict::Holds, "{recipe}: {name}");
            }
        }
    }
}

#[test]
fn a_mutex_of_a_semaphore_has_one_permit_whatever_a_plan_says() {
    let run = simulate(&plan("curator-semaphore-mutex", None), 0).run;
    assert_eq!(owners_at_once(&run.history), 1);
    assert_eq!(verdict("mutual-exclusion", &run), Verdict::Holds);
}

#[test]
fn one_more_than_there_are_permits_is_let_in_by_a_wrong_count() {
    let most = |recipe| {
        let run = simulate(&plan(recipe, Some(2)), 0).run;
        let broken = verdict("mutual-exclusion", &run).witness().is_some();
        assert!(broken, "{recipe}");
        (
            believers_at_once(&run.history),
            owners_at_once(&run.history),
        )
    };
    // The service gives no more permits than it has, or keeps no count of its own.
    assert_eq!(most("curator-semaphore-off-by-one"), (3, 2));
    let (believers, owners) = most("kazoo-semaphore-unlocked");
    assert!(believers > 2 && owners > 2, "{believers}, {owners}");
}

#[test]
fn a_holder_that_stands_still_past_its_session_gives_its_permit_to_the_next() {
    for recipe in RECIPES {
        let mut plan = plan(recipe, Some(2));
        plan.workload.contenders = 3;
        plan.workload.arrive = Arrival::InOrder;
        plan.workload.hold = Hold::For(seconds(40));
        let pause = Fault::Pause {
            target: FIRST,
            length: seconds(30).into(),
        };
        plan.faults = vec![planned(acquired(), pause)];
        let run = simulate(&plan, 0).run;
        assert_eq!(verdict("exclusive-ownership", &run), Verdict::Holds);
        let excess = verdict("mutual-exclusion", &run);
        let summary = &excess.witness().expect("a violation").summary;
        assert!(
            summary.starts_with("contender-1, contender-2, and contender-3 all inside"),
            "{recipe}: {summary}"
        );
    }
}
