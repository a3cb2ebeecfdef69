use picklock_checker::{EventKind, FaultId, ServerChange, ServiceEventKind, Witness, invariants};
use picklock_sim::simulate;

use super::*;
use crate::scenario::{Case, Catalogue, Want};
use crate::{BUILT_IN, parse};

static NO_STOP: AtomicBool = AtomicBool::new(false);

fn case(scenario: &str, case: &str) -> Case {
    let (name, text) = BUILT_IN.iter().find(|(name, _)| *name == scenario).unwrap();
    let parsed = parse(name, text, &Catalogue::EVERYTHING);
    let parsed = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    parsed
        .cases
        .into_iter()
        .find(|found| found.name == case)
        .unwrap()
}

fn witness(invariant: &Invariant, simulated: &Simulated) -> Witness {
    match (invariant.check)(&Evidence::of(&simulated.run)) {
        Verdict::Violated(witness) => *witness,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_the_fault_that_it_needs_it_holds() {
    let case = case("zookeeper/waiter-death", "zk-no-recheck");
    let invariant = invariants::find("mutual-exclusion").unwrap();
    let shares = without(&case.plan, (invariant, &|_, _, _| true), 50, &NO_STOP);
    assert_eq!(shares.len(), 2);
    assert_eq!((shares[0].fault, shares[0].share.violated), (None, 50));
    assert_eq!((shares[1].fault, shares[1].share.held()), (Some(0), 50));
}

#[test]
fn a_fault_goes_with_those_that_wait_for_it() {
    let case = case("zookeeper/session-killed", "zk-hardened");
    let invariant = invariants::find("mutual-exclusion").unwrap();
    let shares = without(&case.plan, (invariant, &|_, _, _| true), 5, &NO_STOP);
    let gone: Vec<usize> = shares.iter().map(|share| share.with_it.len()).collect();
    let waits = |fault: &picklock_sim::plan::PlannedFault| {
        matches!(fault.when, picklock_sim::plan::Trigger::Fired { .. })
    };
    let waiting = case.plan.faults.iter().filter(|fault| waits(fault)).count();
    assert_eq!(gone.iter().sum::<usize>(), waiting);
}

#[test]
fn what_fails_whatever_is_drawn_has_no_turning_point() {
    let case = case("zookeeper/waiter-death", "zk-no-recheck");
    let invariant = invariants::find("mutual-exclusion").unwrap();
    let run = simulate(&case.plan, 0);
    let about = (run.choices.as_slice(), &run.run.history);
    let turning = turning_moment(&case.plan, invariant, about, 20, &NO_STOP);
    assert_eq!((turning.jump, turning.event()), (None, None));
    assert!(
        turning
            .curve
            .iter()
            .all(|moment| moment.share.violated == 20)
    );
}

#[test]
fn the_turning_point_lies_where_a_choice_makes_it_likelier() {
    let case = case("zookeeper/unsorted-children", "zk-unsorted");
    let invariant = invariants::find("fencing-monotonic").unwrap();
    let seed = (0..50)
        .find(|seed| {
            let run = simulate(&case.plan, *seed).run;
            matches!((invariant.check)(&Evidence::of(&run)), Verdict::Violated(_))
        })
        .unwrap();
    let run = simulate(&case.plan, seed);
    let about = (run.choices.as_slice(), &run.run.history);
    let turning = turning_moment(&case.plan, invariant, about, 30, &NO_STOP);
    let (before, after) = turning.jump.unwrap();
    assert_eq!(after.kept, before.kept + 1);
    assert!(after.share.violated > before.share.violated);
    let (first, last) = (turning.curve[0], turning.curve[turning.curve.len() - 1]);
    assert!(first.share.violated < 30);
    assert_eq!(
        (last.share.violated, last.settled),
        (30, run.run.history.events.len())
    );
    // What happens later leaves less open.
    assert!(turning.curve.is_sorted_by_key(|moment| moment.settled));
    assert!(turning.event().unwrap() < run.run.history.events.len());
}

#[test]
fn the_past_of_a_violation_holds_its_fault_and_not_who_came_later() {
    let case = case("zookeeper/waiter-death", "zk-no-recheck");
    let invariant = invariants::find("mutual-exclusion").unwrap();
    let run = simulate(&case.plan, 0);
    let witness = witness(invariant, &run);
    let history = &run.run.history;
    let until = witness.events.iter().copied();
    let until: Vec<usize> = until
        .filter(|index| history.events[*index].at <= witness.at)
        .collect();
    let past = past(&case.plan, history, &until);
    let whats: Vec<EventKind> = past
        .iter()
        .map(|index| history.events[*index].what)
        .collect();
    assert!(past.is_sorted() && until.iter().all(|event| past.contains(event)));
    assert!(past.len() < history.events.len() / 2);
    assert!(
        whats
            .iter()
            .any(|what| matches!(what, EventKind::FaultFired { .. }))
    );
    // contender-4 only queued up behind them.
    assert!(whats.iter().all(|what| !matches!(what,
        EventKind::AcquireStarted { by, .. } if by.0 == 3)));
}

/// A server stands still, others take over, and a write is lost: none of that is an event of a contender.
#[test]
fn the_past_of_a_violation_holds_what_led_to_it_by_way_of_the_service() {
    for (scenario, algorithm, fault) in [
        (
            "redis/sentinel-resumed-primary",
            "redis-compare-and-delete",
            "hang-server",
        ),
        (
            "redis/cluster-resumed-primary",
            "redis-compare-and-delete",
            "hang-server",
        ),
        (
            "redis/sentinel-failover",
            "redis-compare-and-delete",
            "crash-server",
        ),
    ] {
        let case = case(scenario, algorithm);
        let name = match case.expectations.iter().any(|row| {
            row.invariant == "mutual-exclusion" && matches!(row.want, Want::Violated { .. })
        }) {
            true => "mutual-exclusion",
            false => "exclusive-ownership",
        };
        let run = simulate(&case.plan, 0);
        let history = &run.run.history;
        let witness = witness(invariants::find(name).unwrap(), &run);
        let until = witness.events.iter().copied();
        let until: Vec<usize> = until
            .filter(|index| history.events[*index].at <= witness.at)
            .collect();
        let past = past(&case.plan, history, &until);
        let has = |is_it: &dyn Fn(&EventKind) -> bool| {
            past.iter().any(|index| is_it(&history.events[*index].what))
        };
        let is_it = |id: FaultId| history.fault(id).starts_with(fault);
        let struck =
            |what: &EventKind| matches!(what, EventKind::FaultFired { fault } if is_it(*fault));
        assert!(has(&struck), "{scenario}");
        let promoted = |what: &EventKind| {
            let to = ServerChange::Promoted;
            matches!(what, EventKind::ServerChanged { to: change, .. } if *change == to)
        };
        assert!(has(&promoted), "{scenario}");
    }
}

#[test]
fn the_past_of_a_violation_holds_what_the_servers_did() {
    let case = case("redis/sentinel-failover", "redis-compare-and-delete");
    let run = crate::runner::told(&case, 0);
    let history = &run.run.history;
    let witness = witness(invariants::find("mutual-exclusion").unwrap(), &run);
    let shown = witness.events.iter().copied();
    let shown: Vec<usize> = shown
        .filter(|index| history.events[*index].at <= witness.at)
        .collect();
    let past = past(&case.plan, history, &shown);
    let service = service_past(history, &past);
    assert!(service.is_sorted());
    let lines = service.iter().map(|index| &history.service[*index].what);
    let lines: Vec<&str> = lines
        .filter_map(|what| match what {
            ServiceEventKind::SentinelLog { event, .. } => Some(event.as_str()),
            _ => None,
        })
        .collect();
    // Each once, however many Sentinels log it.
    assert_eq!(lines, ["+odown", "+switch-master"]);
    let promoted = |index: &usize| {
        matches!(
            history.service[*index].what,
            ServiceEventKind::Promoted { .. }
        )
    };
    assert!(service.iter().any(promoted));
    // What comes after the violation has not led to it.
    assert!(
        service
            .iter()
            .all(|index| history.service[*index].at <= witness.at)
    );
}

#[test]
fn without_a_fault_it_may_be_violated_in_another_way() {
    let described = |violated, otherwise| {
        let without = Without {
            fault: Some(0),
            with_it: Vec::new(),
            share: ViolationShare {
                violated,
                otherwise,
                undecided: 0,
                of: 200,
            },
        };
        let plan = case("redis/sentinel-failover", "redis-compare-and-delete").plan;
        let text = without.describe(&plan);
        text.split("   (").next().map(str::to_owned)
    };
    let whole = "without fault 1: violated in 200 of 200 runs, each in another way";
    assert_eq!(described(200, 200).as_deref(), Some(whole));
    let some = "without fault 1: violated in 20 of 200 runs, holds in 180, in another way in 5";
    assert_eq!(described(20, 5).as_deref(), Some(some));
    let alike = "without fault 1: violated in 20 of 200 runs, holds in 180";
    assert_eq!(described(20, 0).as_deref(), Some(alike));
}
