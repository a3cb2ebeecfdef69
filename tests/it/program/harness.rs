//! What tests of other projects ask of the Harness besides a check.

use super::common::Folder;
use picklock::{CheckError, Harness};

const SCENARIO: &str = "zookeeper/waiter-death";

fn broken() -> Harness {
    Harness::new().with_case("zk-no-recheck").with_seeds(0..1)
}

#[test]
fn a_test_replays_a_seed_and_has_its_story() {
    let told = broken().replay(SCENARIO, 3).expect("there is such a case");
    assert_eq!(told.outcome.seed, 3);
    let text = told.to_string();
    assert!(text.contains("mutual-exclusion violated"), "{text}");
    assert!(text.contains("the same test, replay with seed 3"), "{text}");
}

#[test]
fn what_a_test_has_shrunk_and_kept_is_the_run_that_was_shrunk() {
    let folder = Folder::new();
    let shrunk = broken().shrink(SCENARIO, 3).expect("there is such a case");
    let shrunk = shrunk.expect("it breaks a promise");
    assert_eq!(shrunk.invariant, Some("mutual-exclusion"));
    let kept = || broken().keep(&shrunk, folder.at("kept"));
    let file = kept().expect("it can be written");
    assert_eq!(std::fs::read_to_string(&file).ok(), Some(shrunk.text()));
    assert_eq!(
        kept().ok().as_ref(),
        Some(&file),
        "the same text is kept once"
    );
    let harness = Harness::new();
    let file = file.display().to_string();
    harness.assert_as_expected(&file);
    let told = harness.replay(&file, 0).expect("it has no mistakes");
    assert_eq!(told.outcome.hash, shrunk.story.hash);
}

#[test]
fn a_seed_that_keeps_every_promise_is_not_shrunk() {
    let harness = Harness::new().with_case("zk-hardened");
    let shrunk = harness.shrink(SCENARIO, 0).expect("there is such a case");
    assert!(shrunk.is_none());
}

#[test]
fn a_test_hunts_for_what_breaks_its_lock() {
    let found = broken()
        .hunt(SCENARIO, 2_000)
        .expect("there is such a case");
    let promises: Vec<_> = found.iter().filter_map(|found| found.invariant).collect();
    assert!(promises.contains(&"mutual-exclusion"), "{promises:?}");
    assert!(found[0].text().contains("found by a hunt in"));
}

#[test]
fn one_run_is_of_one_case_and_the_error_names_all_there_are() {
    let error = Harness::new()
        .replay(SCENARIO, 0)
        .expect_err("it has several");
    let text = error.to_string();
    assert!(
        text.contains("with_case") && text.contains("zk-no-recheck"),
        "{text}"
    );
    let error = Harness::new().with_case("zk-none").replay(SCENARIO, 0);
    assert_eq!(error.err(), Some(CheckError::NoCase("zk-none".to_owned())));
}
