use super::*;
use picklock_checker::outcome::{Alike, Smaller, Way};
use picklock_checker::{VirtualTime, Witness};

/// A case that fails in one scenario: of each argument the first seed, and how many there are.
fn case(scenario: &str, alike: &[(&str, u64, u64)]) -> ScenarioOutcome {
    let argument = |&(name, first, seeds): &(&str, u64, u64)| {
        let first = vec![first];
        (name.to_owned(), Alike { seeds, first })
    };
    let violation = Violation {
        invariant: "mutual-exclusion".to_owned(),
        seed: alike[0].1,
        found_after: 1,
        seeds: alike.iter().map(|(_, _, seeds)| seeds).sum(),
        expected: false,
        witness: Witness {
            summary: String::new(),
            at: VirtualTime::ZERO,
            overlap: None,
            events: Vec::new(),
            argument: Vec::new(),
        },
        alike: alike.iter().map(argument).collect(),
        ways: Vec::new(),
        looked_into: 0,
    };
    let case = CaseOutcome {
        scenario: scenario.to_owned(),
        path: scenario.to_owned(),
        case: "zk-x".to_owned(),
        algorithm: "zk-x".to_owned(),
        standing: Standing::Fail,
        findings: Vec::new(),
        violations: vec![violation],
        seeds: 1,
        ran: Vec::new(),
        undecided: BTreeMap::new(),
        reached: BTreeMap::new(),
        nearest: BTreeMap::new(),
        hash: 0,
        metrics: BTreeMap::new(),
        took: std::time::Duration::ZERO,
        story: None,
    };
    ScenarioOutcome {
        name: scenario.to_owned(),
        claim: String::new(),
        cases: vec![case],
    }
}

/// A seed of a case was shrunk to this plan.
fn shrunk(outcome: &mut ScenarioOutcome, (seed, shape, events): (u64, &str, u32)) {
    let replay = format!("picklock replay {} --seed {seed} --was x", outcome.name);
    let violation = &mut outcome.cases[0].violations[0];
    let (argument, alike) = violation.alike.iter().next().expect("there is one");
    let argument = argument.clone();
    let seeds = alike.seeds;
    for way in &mut violation.ways {
        way.some = true;
    }
    violation.ways.push(Way {
        argument,
        seed,
        seeds,
        some: !violation.ways.is_empty(),
        summary: String::new(),
        replay,
        smaller: Smaller {
            sizes: String::new(),
            keep: None,
            events,
            shape: shape.to_owned(),
            needs: Vec::new(),
        },
    });
}

#[test]
fn failures_of_one_argument_are_of_one_kind_and_the_shortest_is_kept() {
    let alike = [case("a", &[("x", 4, 30)]), case("b", &[("x", 1_200, 2)])];
    assert_eq!(
        triage(&alike),
        "  2 failures of 1 kind:\n    \
         mutual-exclusion, zk-x: 2 cases, 32 seeds, shortest in a at seed 4\n      \
         picklock replay a --case zk-x --seed 4\n"
    );
    let mut small = alike.clone();
    for (outcome, run) in small
        .iter_mut()
        .zip([(4, "crash #", 9), (1_200, "crash #", 7)])
    {
        shrunk(outcome, run);
    }
    assert!(triage(&small).ends_with(
        "2 cases, 32 seeds, shortest in b at seed 1200\n      picklock replay b --seed 1200 --was x\n"
    ));
    let mut small = alike;
    for (outcome, run) in small
        .iter_mut()
        .zip([(4, "crash #", 9), (1_200, "pause #", 7)])
    {
        shrunk(outcome, run);
    }
    assert!(triage(&small).starts_with("  2 failures of 2 kinds:\n"));
    let other = [case("a", &[("x", 4, 1)]), case("b", &[("y", 5, 1)])];
    assert!(triage(&other).starts_with("  2 failures of 2 kinds:\n"));
}

#[test]
fn two_ways_to_break_a_promise_in_one_case_are_told_apart() {
    let mut outcome = case("a", &[("x", 4, 30), ("y", 7, 2)]);
    assert_eq!(
        triage(std::slice::from_ref(&outcome)),
        "  2 failures of 2 kinds:\n    \
         mutual-exclusion, zk-x: 1 case, 30 seeds, shortest in a at seed 4\n      \
         picklock replay a --case zk-x --seed 4\n    \
         mutual-exclusion, zk-x: 1 case, 2 seeds, shortest in a at seed 7\n      \
         picklock replay a --case zk-x --seed 7\n"
    );
    shrunk(&mut outcome, (4, "crash #", 9));
    shrunk(&mut outcome, (5, "", 8));
    let told = triage(std::slice::from_ref(&outcome));
    assert!(told.starts_with("  3 failures of 3 kinds:\n"), "{told}");
    assert!(
        told.contains("some of 30 seeds, shortest in a at seed 5"),
        "{told}"
    );
}

#[test]
fn one_failure_needs_no_order() {
    assert_eq!(triage(&[case("a", &[("x", 4, 3)])]), "");
}
