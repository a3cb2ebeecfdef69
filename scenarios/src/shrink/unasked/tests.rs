use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use picklock_algorithms::Build;
use picklock_algorithms::registry::find;
use picklock_checker::outcome::Story;

use super::*;
use crate::case_statistics::Tally;
use crate::runner::{RunOptions, run_seeds};
use crate::scenario::{Catalogue, Scenario, Want};
use crate::shard::Seeds;
use crate::shrink::conclude;
use crate::shrink::report::{ToldRun, shorten};
use crate::{BUILT_IN, parse};

/// A failover that takes thousands of events a run, and that is expected to break nothing.
fn failed() -> (Scenario, Case, Tally) {
    let wanted = "redis/sentinel-failover";
    let (name, text) = BUILT_IN.iter().find(|(name, _)| *name == wanted).unwrap();
    let scenario = parse(name, text, &Catalogue::EVERYTHING);
    let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let wanted = "redis-compare-and-delete";
    let case = scenario.cases.iter().find(|case| case.name == wanted);
    let mut case = case.unwrap().clone();
    for expectation in &mut case.expectations {
        if let Want::Violated { .. } = expectation.want {
            expectation.want = Want::Holds;
        }
    }
    let settings = RunOptions {
        seeds: Seeds::all(0..2),
        verify_determinism: false,
    };
    let no_stop = AtomicBool::new(false);
    let tally = run_seeds(&scenario, &case, &settings, &no_stop, &|| {});
    (scenario, case, tally.unwrap())
}

fn shortened(unasked: &mut Unasked<'_>) -> Story {
    let (scenario, case, tally) = failed();
    let outcome = conclude(&scenario, &case, &tally, Some(unasked));
    *outcome.story.unwrap()
}

fn no_report(_: &str, _: u64, _: u32) {}

#[test]
fn what_is_spent_unasked_is_bounded_and_counted_so_that_it_comes_to_the_same_every_time() {
    let no_stop = AtomicBool::new(false);
    let once = || {
        let mut unasked = Unasked::new(&no_stop, &no_report);
        unasked.time_left = Duration::MAX;
        unasked.left.events = 1_000_000;
        let story = shortened(&mut unasked);
        (story, unasked.left)
    };
    let (one, other) = (once(), once());
    assert_eq!(one, other);
    let (story, left) = one;
    assert!(left.events < 1_000_000);
    // The budget ends it, and not that there is nothing more to take away.
    let said = story.smaller.unwrap().sizes;
    assert!(said.contains("are what is spent unasked"), "{said}");
    assert!(said.ends_with("`picklock shrink` goes on"), "{said}");
}

#[test]
fn progress_names_the_case_the_seed_and_the_number_of_runs() {
    let no_stop = AtomicBool::new(false);
    let most = AtomicU32::new(0);
    let told = |case: &str, seed: u64, runs: u32| {
        assert_eq!((case, seed < 2), ("redis-compare-and-delete", true));
        most.fetch_max(runs, Ordering::Relaxed);
    };
    let mut unasked = Unasked::new(&no_stop, &told);
    unasked.left.runs = 200;
    shortened(&mut unasked);
    let most = most.load(Ordering::Relaxed);
    assert!((10..=100).contains(&most), "{most}");
}

#[test]
fn a_failure_whose_shrinking_is_interrupted_is_told_with_the_command_that_goes_on() {
    let stop = AtomicBool::new(false);
    let told = |_: &str, _: u64, runs: u32| {
        if runs == 5 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut unasked = Unasked::new(&stop, &told);
    let story = shortened(&mut unasked);
    assert!(story.violated.is_some());
    let smaller = story.smaller.unwrap();
    let said = &smaller.sizes;
    assert!(said.contains("runs by an interrupt"), "{said}");
    let keep = smaller.keep.unwrap();
    assert!(keep.starts_with("picklock shrink "), "{keep}");
    let of = " --case redis-compare-and-delete --seed 0 ";
    assert!(keep.contains(of), "{keep}");
}

#[test]
fn where_the_clock_ends_it_the_report_says_so() {
    let no_stop = AtomicBool::new(false);
    let mut unasked = Unasked::new(&no_stop, &no_report);
    unasked.time_left = Duration::from_millis(2);
    let (_, case, _) = failed();
    let invariant = picklock_checker::invariants::find("mutual-exclusion").unwrap();
    let shrunk = unasked.shrink(&case, 0, invariant, SPENT).unwrap();
    assert_eq!(shrunk.cut, Some(Cut::Time));
    let said = crate::shrink::sizes_unasked(&shrunk);
    assert!(said.contains("cut by time after"), "{said}");
    assert_eq!(unasked.time_left, Duration::ZERO);
    assert_eq!(unasked.is_over(), Some(Cut::Time));
}

#[test]
fn of_many_failures_the_first_are_shrunk_and_the_others_told_as_they_were_found() {
    let no_stop = AtomicBool::new(false);
    let mut unasked = Unasked::new(&no_stop, &no_report);
    unasked.left.events = 3;
    let (scenario, case, tally) = failed();
    let before = conclude(&scenario, &case, &tally, None).story.unwrap();
    let outcome = conclude(&scenario, &case, &tally, Some(&mut unasked));
    assert_eq!(unasked.untouched(), 1);
    let story = outcome.story.unwrap();
    assert_eq!((story.hash, &story.history), (before.hash, &before.history));
    let smaller = story.smaller.unwrap();
    assert!(
        smaller.sizes.starts_with("not tried: "),
        "{}",
        smaller.sizes
    );
    assert!(
        smaller
            .keep
            .is_some_and(|keep| keep.starts_with("picklock shrink "))
    );
}

/// Locks that [`counted`] has built.
static BUILT: AtomicU64 = AtomicU64::new(0);

/// The same case, whose recipe counts its locks: there are as many in each run.
fn counted(mut case: Case) -> Case {
    case.plan.recipe.build = Build::Redis(&|redis, env, lease| {
        BUILT.fetch_add(1, Ordering::Relaxed);
        let recipe = find("redis-compare-and-delete").unwrap();
        let Build::Redis(build) = recipe.build else {
            panic!("{} stands on Redis", recipe.name);
        };
        build(redis, env, lease)
    });
    case
}

#[test]
fn only_the_run_that_is_told_runs_again_for_its_story() {
    let (scenario, case, tally) = failed();
    let case = counted(case);
    let built = |work: &dyn Fn() -> bool| {
        let before = BUILT.load(Ordering::Relaxed);
        assert!(work());
        BUILT.load(Ordering::Relaxed) - before
    };
    let one_run = built(&|| runner::simulated(&case, 0).broken().is_none());
    let as_found = || conclude(&scenario, &case, &tally, None).story.is_some();
    assert_eq!(built(&as_found), one_run);
    let no_stop = AtomicBool::new(false);
    let unasked = || {
        let mut unasked = Unasked::new(&no_stop, &no_report);
        unasked.time_left = Duration::MAX;
        unasked.left.events = 300_000;
        unasked
    };
    let shrunk = built(&|| {
        let (mut outcome, about) = (tally.outcome(&scenario, &case), Some("mutual-exclusion"));
        let run = shorten(&scenario, &case, &mut outcome, about, &mut unasked());
        matches!(run, ToldRun::Smallest(_))
    });
    let smallest = || {
        let outcome = conclude(&scenario, &case, &tally, Some(&mut unasked()));
        outcome.story.is_some()
    };
    assert_eq!(built(&smallest), shrunk);
}
