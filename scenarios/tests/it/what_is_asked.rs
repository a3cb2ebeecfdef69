//! What a case is asked for: what its runs can tell, and a reason where they tell nothing.

use std::sync::atomic::AtomicBool;

use crate::common::slips::said;

use picklock_algorithms::registry::RECIPES;
use picklock_algorithms::{OwnershipRule, Recipe, RecipeInput};
use picklock_checker::Evidence;
use picklock_checker::outcome::{CaseOutcome, Finding, Standing};
use picklock_scenarios::runner::{RunOptions, run_case};
use picklock_scenarios::shard::Seeds;
use picklock_scenarios::{Case, Catalogue, Scenario, matrix, parse, write};
use picklock_sim::plan::{LockNode, Service};
use picklock_sim::simulate;

fn run(scenario: &Scenario, case: &Case) -> CaseOutcome {
    let settings = RunOptions {
        seeds: Seeds::all(0..20),
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
    let names = outcome.findings.iter().map(|finding| finding.name.as_str());
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
    assert!(one.findings.iter().all(|finding| finding.name != "fifo"));
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

#[test]
fn a_promise_that_a_lock_does_not_make_is_not_to_hold() {
    let expect = |algorithm: &str, rest: &str| {
        let permits = match algorithm.contains("semaphore") {
            true => "permits = 2",
            false => "reentrancy-depth = 2\nallow-self-deadlock = true",
        };
        said(&format!(
            "[workload]\n{permits}\n[[case]]\nalgorithm = \"{algorithm}\"\n{rest}\n"
        ))
    };
    let queue = expect("zk-same-name", "expect.fifo = \"holds\"");
    assert!(queue.contains("its service keeps no queue"), "{queue}");
    let violated = "expect.fifo.violated = { because = \"it has none\", within-seeds = 9 }";
    assert!(expect("zk-same-name", violated).contains("its service keeps no queue"));
    let token = expect("kazoo-semaphore", "expect.fencing-monotonic = \"holds\"");
    assert!(token.contains("says nothing of a semaphore"), "{token}");
    let again = expect("zk-hardened", "expect.reentrancy = \"holds\"");
    assert!(
        again.contains("`zk-hardened` does not promise `reentrancy`"),
        "{again}"
    );
    let violated = "expect.reentrancy.violated = { because = \"it has none\", within-seeds = 9 }";
    assert_eq!(expect("zk-hardened", violated), "");
}

#[test]
fn what_cannot_be_entered_again_is_entered_again_on_demand_only() {
    let file = |algorithm: &str, key: &str| {
        format!("[workload]\nreentrancy-depth = 2\n{key}\n[[case]]\nalgorithm = \"{algorithm}\"\n")
    };
    let refused = said(&file("zk-hardened", ""));
    assert!(refused.contains("a section enters it again"), "{refused}");
    assert!(refused.contains("`curator-mutex`, `curator-mutex-owner-check`"));
    assert!(refused.contains("allow-self-deadlock = true"));
    assert_eq!(said(&file("curator-mutex", "")), "");
    let asked = file("zk-hardened", "allow-self-deadlock = true");
    let scenario = parse("test", &asked, &Catalogue::EVERYTHING);
    let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    assert_eq!(said(&write(&scenario, &scenario.cases[0])), "");
}

#[test]
fn a_section_longer_than_the_bound_on_progress_is_refused() {
    let file = |contenders: u32, rest: &str| {
        let case = "[[case]]\nalgorithm = \"zk-hardened\"\n";
        said(&format!(
            "[workload]\ncontenders = {contenders}\nprogress-bound = \"20s\"\n{rest}\n{case}"
        ))
    };
    for hold in ["hold = \"60s\"", "hold = \"1s..60s\""] {
        let refused = file(2, hold);
        assert!(refused.contains("no section can end within the bound on progress"));
        assert!(refused.contains("but a section lasts 1m"), "{refused}");
        // A holder alone may be inside before the bound begins.
        assert_eq!(file(1, hold), "");
    }
    assert_eq!(file(2, "hold = \"20s\""), "");
    let one = "[[contender]]\nname = \"contender-1\"\nhold = \"60s\"";
    assert_eq!(file(2, one), "", "the other is inside for 10 ms");
}

#[test]
fn where_the_lock_node_is_missing_only_what_makes_it_is_taken() {
    for recipe in RECIPES {
        let of_kind = match recipe.ownership.kind.name() {
            "semaphore" => "permits = 2",
            "multi-lock" => "locks = 2\nlocks-at-once = 2",
            "count-down-latch" => "count = 2",
            _ => "",
        };
        let file = |service: &str| {
            let name = recipe.name;
            format!("{service}[workload]\n{of_kind}\n[[case]]\nalgorithm = \"{name}\"\n")
        };
        let scenario = parse("test", &file(""), &Catalogue::EVERYTHING);
        let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
        let mut plan = scenario.cases[0].plan.clone();
        let Service::ZooKeeper(ensemble) = &mut plan.service else {
            continue;
        };
        ensemble.lock_node = LockNode::Missing;
        let run = simulate(&plan, 0).whole().run;
        let evidence = Evidence::of(&run);
        let owned = !evidence.ownerships.is_empty();
        // A party inside a double barrier owns nothing.
        let is_entered = plan.parties().is_some() && !evidence.beliefs.is_empty();
        let makes_it = owned || is_entered;
        let says_so = recipe.inputs.contains(&RecipeInput::LockNode);
        assert_eq!(makes_it, says_so, "{}", recipe.name);
        let missing = said(&file("[service.zookeeper]\nlock-node = \"missing\"\n"));
        assert_eq!(missing.is_empty(), says_so, "{missing}");
    }
}

#[test]
fn a_recipe_that_no_run_could_judge_is_refused_at_its_name() {
    let redis = RECIPES
        .iter()
        .find(|recipe| recipe.name == "redis-compare-and-delete");
    let redis = *redis.expect("it is there");
    for (ownership, problem) in [
        (
            OwnershipRule::LOWEST_CHILD,
            "no owner can be read from the children of the lock's node",
        ),
        (
            OwnershipRule::BARRIER,
            "no owner can be read from the lock's node",
        ),
    ] {
        let ours = Recipe {
            name: "our-lock",
            ownership,
            ..redis
        };
        let catalogue = Catalogue {
            algorithms: &[ours],
            ..Catalogue::EVERYTHING
        };
        let text = "[service.redis]\n[[case]]\nalgorithm = \"our-lock\"\n";
        let refused = parse("test", text, &catalogue).expect_err("no run could judge it");
        let refused = refused[0].to_string();
        assert!(refused.contains(problem), "{refused}");
        assert!(refused.contains("test.toml:3:13"), "{refused}");
    }
}
