use super::*;
use picklock_checker::outcome::{CaseLocation, Sample, ShrunkRun, SimilarSeeds as Seeds};
use picklock_checker::{VirtualTime, Witness};

/// A case that fails in one scenario: of each argument the first seed, and how many there are.
fn case(scenario: &str, alike: &[(&str, u64, u64)]) -> ScenarioOutcome {
    let argument = |&(name, seed, seeds): &(&str, u64, u64)| {
        let first = vec![Sample { seed, hash: 0 }];
        (name.to_owned(), Seeds { seeds, first })
    };
    let replay = |&(name, seed, _): &(&str, u64, u64)| {
        let replay = format!("picklock replay {scenario} --seed {seed} --was x");
        (name.to_owned(), replay)
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
        replays: alike.iter().map(replay).collect(),
        ways: Vec::new(),
        looked_into: 0,
    };
    let case = CaseOutcome {
        scenario: scenario.to_owned(),
        path: scenario.to_owned(),
        case: "zk-x".to_owned(),
        written: CaseLocation::default(),
        algorithm: "zk-x".to_owned(),
        standing: Standing::Fail,
        findings: Vec::new(),
        violations: vec![violation],
        broken: None,
        seeds: 1,
        seeds_at_most: None,
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

/// A seed with the first argument of a case was shrunk to a plan with these faults.
fn shrunk(outcome: &mut ScenarioOutcome, (seed, faults, events): (u64, &[&str], u32)) {
    let replay = format!("picklock replay {} --seed {seed} --was x", outcome.name);
    let violation = &mut outcome.cases[0].violations[0];
    let (argument, alike) = violation.alike.iter().next().expect("there is one");
    let (argument, seeds) = (argument.clone(), alike.seeds);
    let looked_into = violation.ways.len() as u64 + 1;
    violation.ways.push(DistinctFailure {
        argument,
        seed,
        seeds,
        looked_into,
        need_these: 1,
        summary: String::new(),
        replay,
        smaller: ShrunkRun {
            is_other: true,
            sizes: String::new(),
            keep: None,
            events,
            shape: faults.iter().map(|&kind| kind.to_owned()).collect(),
            needs: Vec::new(),
        },
    });
    for way in &mut violation.ways {
        way.looked_into = looked_into;
    }
}

#[test]
fn failures_of_one_argument_are_of_one_kind_if_nothing_was_shrunk() {
    let alike = [case("a", &[("x", 4, 30)]), case("b", &[("x", 1_200, 2)])];
    assert_eq!(
        triage(&alike, &Style::PLAIN),
        "  2 failures of 1 kind, each with its shortest run:\n    \
         mutual-exclusion, zk-x: 2 cases, 32 seeds\n      \
         picklock replay a --seed 4 --was x\n"
    );
    let other = [case("a", &[("x", 4, 1)]), case("b", &[("y", 5, 1)])];
    assert!(
        triage(&other, &Style::PLAIN)
            .starts_with("  2 failures of 2 kinds, each with its shortest run:\n")
    );
}

#[test]
fn failures_that_need_the_same_faults_are_of_one_kind_and_the_shortest_is_kept() {
    let mut small = [case("a", &[("x", 4, 30)]), case("b", &[("y", 1_200, 2)])];
    for (outcome, run) in small
        .iter_mut()
        .zip([(4, &["crash"], 9), (1_200, &["crash"], 7)])
    {
        shrunk(outcome, (run.0, run.1, run.2));
    }
    assert_eq!(
        triage(&small, &Style::PLAIN),
        "  2 failures of 1 kind, each with its shortest run:\n    \
         mutual-exclusion, zk-x, crash: 2 cases, 32 seeds\n      \
         picklock replay b --seed 1200 --was x\n"
    );
    let mut other = [case("a", &[("x", 4, 30)]), case("b", &[("x", 5, 2)])];
    shrunk(&mut other[0], (4, &[], 9));
    shrunk(&mut other[1], (5, &["crash", "cut"], 9));
    let told = triage(&other, &Style::PLAIN);
    assert!(
        told.starts_with("  2 failures of 2 kinds, each with its shortest run:\n"),
        "{told}"
    );
    assert!(told.contains("zk-x, without a fault: 1 case"), "{told}");
    assert!(told.contains("zk-x, crash and cut: 1 case"), "{told}");
}

#[test]
fn seeds_that_share_an_argument_and_need_other_faults_are_not_counted_as_if_they_were_known() {
    let mut outcome = case("a", &[("x", 4, 30)]);
    shrunk(&mut outcome, (4, &["crash"], 9));
    shrunk(&mut outcome, (5, &["cut"], 8));
    let told = triage(std::slice::from_ref(&outcome), &Style::PLAIN);
    assert!(
        told.starts_with("  2 failures of 2 kinds, each with its shortest run:\n"),
        "{told}"
    );
    assert!(
        told.contains("cut: 1 case, 1 of 2 looked into, of 30 seeds"),
        "{told}"
    );
}

#[test]
fn what_was_not_looked_into_is_no_kind_of_its_own() {
    let mut outcome = case("a", &[("x", 4, 30), ("y", 7, 2), ("z", 9, 1)]);
    shrunk(&mut outcome, (4, &["crash"], 9));
    assert_eq!(
        triage(std::slice::from_ref(&outcome), &Style::PLAIN),
        "  3 failures of 1 kind, each with its shortest run:\n    \
         mutual-exclusion, zk-x, crash: 1 case, 30 seeds\n      \
         picklock replay a --seed 4 --was x\n    \
         mutual-exclusion, zk-x, not looked into: 1 case, 3 seeds\n      \
         picklock replay a --seed 7 --was x\n"
    );
}

#[test]
fn one_failure_needs_no_order() {
    assert_eq!(triage(&[case("a", &[("x", 4, 3)])], &Style::PLAIN), "");
}
