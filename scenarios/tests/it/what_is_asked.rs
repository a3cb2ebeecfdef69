//! What a case is asked for: what its runs can tell, and a reason where they tell nothing.

use std::sync::atomic::AtomicBool;

use crate::common::slips::said;

use picklock_checker::outcome::{CaseOutcome, Finding, Standing};
use picklock_scenarios::runner::{RunOptions, run_case};
use picklock_scenarios::{Case, Catalogue, Scenario, matrix, parse};

fn run(scenario: &Scenario, case: &Case) -> CaseOutcome {
    let settings = RunOptions {
        seeds: 0..20,
        verify_determinism: false,
    };
    let never = AtomicBool::new(false);
    run_case(scenario, case, &settings, &never, &|| {}).expect("it is not stopped")
}

fn outcome_of(text: &str) -> CaseOutcome {
    let scenario = parse("test", text, &Catalogue::EVERYTHING);
    let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    run(&scenario, &scenario.cases[0])
}

/// The standing of a case, and the only line that is found.
fn only_finding(mut outcome: CaseOutcome) -> (Standing, String) {
    assert_eq!(outcome.findings.len(), 1);
    let Finding { standing, line, .. } = outcome.findings.remove(0);
    assert_eq!(outcome.standing, standing);
    (standing, line)
}

#[test]
fn a_case_that_judges_nothing_says_so_and_why() {
    let unchecked = |rest: &str| {
        let text = "[[case]]\nalgorithm = \"zk-barrier\"\nexpect.progress = \"unchecked\"\n";
        only_finding(outcome_of(&format!("{text}{rest}")))
    };
    let line = "nothing is judged: progress (unchecked without a reason); barrier (unchecked: it \
                is late); expect one of them to hold, or to be violated";
    let late = "expect.barrier.unchecked = { because = \"it is late\" }";
    assert_eq!(unchecked(late), (Standing::Undecided, line.to_owned()));
    let line = "nothing is judged: progress, barrier (unchecked without a reason); expect one of \
                them to hold, or to be violated";
    let bare = "expect.barrier = \"unchecked\"";
    assert_eq!(unchecked(bare), (Standing::Undecided, line.to_owned()));
}

#[test]
fn a_class_under_which_nothing_is_claimed_is_as_expected() {
    let found = matrix::scenarios(&Catalogue::EVERYTHING, |name| name == "matrix/pause");
    let scenarios = found.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let case = |name: &str| {
        let mut cases = scenarios[0].cases.iter();
        let case = cases.find(|case| case.name == name);
        run(&scenarios[0], case.expect("it is in the matrix"))
    };
    let (standing, line) = only_finding(case("curator-barrier"));
    assert_eq!(standing, Standing::AsExpected);
    let why = "barrier (unchecked: zookeeper/barrier-without-sync shows why)";
    assert!(line.starts_with("nothing is claimed here: ") && line.contains(why));
    // Every pause that is drawn for it excuses `mutual-exclusion`; all else is judged.
    let redlock = case("redlock");
    assert_eq!(redlock.standing, Standing::AsExpected);
    assert!(
        redlock
            .findings
            .iter()
            .any(|it| it.standing == Standing::Holds)
    );
}

#[test]
fn of_a_deadlock_that_is_expected_nothing_else_is_asked() {
    let deadlock = |order: &str| {
        outcome_of(&format!(
            r#"
            [workload]
            contenders = 2
            locks = 2
            locks-at-once = 2
            lock-order = "{order}"
            [[case]]
            algorithm = "curator-multi-lock"
            expect.progress.violated = {{ because = "each waits for the other", within-seeds = 20 }}
            "#
        ))
    };
    let outcome = deadlock("in-turn");
    assert_eq!(outcome.standing, Standing::AsExpected);
    assert!(outcome.undecided.is_empty());
    let names = outcome.findings.iter().map(|it| it.name.as_str());
    assert!(!names.clone().any(|name| name == "mutual-exclusion"));
    // The service did make owners: what it says of them is judged.
    assert!({ names }.any(|name| name == "exclusive-ownership"));
    assert_eq!(deadlock("by-name").standing, Standing::Fail);
}

#[test]
fn a_seed_in_which_all_read_by_chance_leaves_the_others() {
    let outcome = |reads: &str| {
        outcome_of(&format!(
            "[workload]\ncontenders = 4\nreads = \"{reads}\"\n\
             [[case]]\nalgorithm = \"curator-read-write-lock\"\n"
        ))
    };
    let by_chance = outcome("50%");
    assert_eq!(by_chance.standing, Standing::Holds);
    assert!(!by_chance.undecided.is_empty());
    assert_eq!(outcome("always").standing, Standing::Undecided);
}

#[test]
fn one_contender_is_not_asked_for_an_order() {
    let file = |workload: &str, expect: &str| {
        format!("[workload]\n{workload}\n[[case]]\nalgorithm = \"curator-leader-latch\"\n{expect}")
    };
    let one = outcome_of(&file("contenders = 1\nrounds = 3", ""));
    assert_eq!(one.standing, Standing::Holds);
    assert!(one.findings.iter().all(|it| it.name != "fifo"));
    let holds = "expect.fifo = \"holds\"";
    let mistake = said(&file("contenders = 1", holds));
    assert!(mistake.contains("one contender never waits for another"));
    assert!(mistake.contains("write `contenders = 2` or more in [workload]"));
    assert_eq!(said(&file("contenders = \"1..2\"", holds)), "");
    assert_eq!(
        said(&file("contenders = 1", "expect.fifo = \"unchecked\"")),
        ""
    );
}
