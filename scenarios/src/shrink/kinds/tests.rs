use picklock_checker::outcome::CaseOutcome;

use std::sync::atomic::AtomicBool;

use super::*;
use crate::runner::{RunOptions, run_seeds};
use crate::scenario::{Catalogue, Want};
use crate::shard::Seeds;
use crate::shrink::{Budget, SearchLimit, conclude, shrink};
use crate::{BUILT_IN, parse};

static NO_STOP: AtomicBool = AtomicBool::new(false);

/// A case of the library that was to keep all that it promises, and what came of so many seeds.
fn failed(scenario: &str, case: &str, seeds: u64) -> (Case, CaseOutcome) {
    let text = BUILT_IN.iter().find(|(name, _)| *name == scenario);
    let (name, text) = text.expect("it is in the library");
    let scenario = parse(name, text, &Catalogue::EVERYTHING);
    let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let mut case = scenario
        .cases
        .iter()
        .find(|found| found.name == case)
        .cloned();
    let case = case.as_mut().expect("the scenario has it");
    for expectation in &mut case.expectations {
        if let Want::Violated { .. } = expectation.want {
            expectation.want = Want::Holds;
        }
    }
    let settings = RunOptions {
        seeds: Seeds::all(0..seeds),
        verify_determinism: false,
    };
    let tally = run_seeds(&scenario, case, &settings, &NO_STOP, &|| {});
    let tally = tally.expect("nothing stops it");
    let mut unasked = Unasked::new(&NO_STOP, &|_, _, _| {});
    let outcome = conclude(&scenario, case, &tally, Some(&mut unasked));
    (case.clone(), outcome)
}

fn violation(outcome: &CaseOutcome, invariant: &str) -> Violation {
    let mut violations = outcome.violations.iter();
    let found = violations.find(|violation| violation.invariant == invariant);
    found.expect("it is violated").clone()
}

#[test]
fn two_ways_to_break_one_promise_in_one_case_are_told_apart() {
    // What arguments look like may change: one of these has two for one promise.
    let (_, outcome) = [
        ("zookeeper/re-entry", "zk-same-name"),
        ("zookeeper/swarm", "zk-unsorted"),
        ("zookeeper/read-then-write", "zk-read-then-write"),
    ]
    .into_iter()
    .map(|(scenario, case)| failed(scenario, case, 20))
    .find(|(_, outcome)| violation(outcome, "mutual-exclusion").alike.len() == 2)
    .expect("there is one");
    let violation = violation(&outcome, "mutual-exclusion");
    let ways = &violation.ways;
    assert!((2..=LOOKED_INTO as u64).contains(&violation.looked_into));
    for (argument, alike) in &violation.alike {
        let such: Vec<_> = ways
            .iter()
            .filter(|way| way.argument == *argument)
            .collect();
        assert!(!such.is_empty(), "{ways:?}");
        assert!(such.iter().all(|way| way.seeds == alike.seeds), "{ways:?}");
        let needs: u64 = such.iter().map(|way| way.need_these).sum();
        assert!(
            such.iter().all(|way| way.looked_into == needs && needs > 0),
            "{ways:?}"
        );
    }
    // That of the first seed comes first.
    assert!(
        violation.alike[&ways[0].argument]
            .first
            .iter()
            .any(|sample| sample.seed == violation.seed)
    );
}

#[test]
fn seeds_that_fail_alike_are_of_one_way_and_the_shortest_run_is_told() {
    let (case, outcome) = failed("zookeeper/unsorted-children", "zk-unsorted", 20);
    let first = violation(&outcome, "honest-answer").seed;
    let violation = violation(&outcome, "honest-answer");
    let [way] = &violation.ways[..] else {
        panic!("{:?}", violation.ways);
    };
    assert!(violation.looked_into > 1);
    assert_eq!(
        (way.looked_into, way.need_these),
        (violation.looked_into, violation.looked_into)
    );
    let invariant = picklock_checker::invariants::find("honest-answer").expect("it is known");
    let alone = shrink(
        &case,
        first,
        invariant,
        Budget::default(),
        &SearchLimit::until(&NO_STOP),
    );
    let alone = alone.expect("the first seed violates it").to.events;
    assert!(
        way.smaller.events <= alone,
        "{} {alone}",
        way.smaller.events
    );
}
