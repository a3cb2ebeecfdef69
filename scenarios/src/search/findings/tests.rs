use picklock_sim::plan::FaultKind;

use super::super::hunt::{Bounds, Hunted, hunt};
use super::super::portfolio::SearchStrategy;
use super::super::tests::case;
use super::*;

/// A lease that each of these takes away in a way of its own.
const KINDS: [FaultKind; 3] = [
    FaultKind::Pause,
    FaultKind::EvictKey,
    FaultKind::ServerClockJump,
];

fn hunted(runs: u64, findings: usize, threads: usize) -> Hunted {
    let case = case("redis/pause", "redis-compare-and-delete");
    let bounds = Bounds {
        findings,
        ..Bounds::runs(runs)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let with = (&KINDS[..], &SearchStrategy::ALL[..]);
    let stop = AtomicBool::new(false);
    pool.unwrap()
        .install(|| hunt(&case, with, 0, bounds, &stop, &|| ()))
}

/// Of each finding the promise, after how many runs, its cause, and how many more there are.
fn told(hunted: &Hunted) -> Vec<(&'static str, u64, String, u64)> {
    let found = hunted.found.iter();
    found
        .map(|found| {
            (
                found.invariant,
                found.after,
                found.cause.to_string(),
                found.more,
            )
        })
        .collect()
}

#[test]
fn one_promise_that_is_broken_for_several_reasons_is_found_several_times() {
    let hunted = hunted(100, 8, 1);
    let of_it = hunted
        .found
        .iter()
        .filter(|found| found.invariant == "mutual-exclusion");
    let causes: Vec<&Cause> = of_it.map(|found| &found.cause).collect();
    let alone = |kind| {
        let of_kind = |cause: &&&Cause| cause.faults.iter().all(|struck| struck.kind == kind);
        causes.iter().filter(of_kind).count()
    };
    assert!(alone(FaultKind::Pause) > 0, "{causes:?}");
    assert!(alone(FaultKind::EvictKey) > 0, "{causes:?}");
    for (index, cause) in causes.iter().enumerate() {
        assert!(!causes[..index].contains(cause), "{cause}");
    }
}

#[test]
fn every_run_that_breaks_a_promise_is_counted_once() {
    let hunted = hunted(100, 2, 1);
    let kept: u64 = hunted.found.iter().map(|found| 1 + found.more).sum();
    let others: u64 = hunted.others.values().sum();
    assert!(others > 0);
    let case = case("redis/pause", "redis-compare-and-delete");
    let mut campaign = super::super::hunt::Campaign::new(&case, &KINDS, &SearchStrategy::ALL, 0);
    let mut broken = 0;
    let mut left = hunted.runs;
    while left > 0 {
        for looked in campaign.batch(left.min(16), &|| false, &|| ()) {
            left -= 1;
            broken += looked.broken.len() as u64;
            campaign.learn(&looked, &[]);
        }
    }
    assert_eq!(kept + others, broken);
}

#[test]
fn no_more_are_kept_of_a_promise_than_was_asked_for() {
    let hunted = hunted(100, 1, 1);
    let mut promises: Vec<&str> = hunted.found.iter().map(|found| found.invariant).collect();
    promises.sort_unstable();
    let all = promises.len();
    promises.dedup();
    assert_eq!(promises.len(), all);
}

#[test]
fn a_tiny_overlap_is_no_finding_beside_a_large_one_of_the_same_cause() {
    let hunted = hunted(40, 4, 1);
    let of_it = |found: &&Counterexample| found.invariant == "mutual-exclusion";
    let found: Vec<Counterexample> = hunted
        .found
        .into_iter()
        .filter(|found| of_it(&found))
        .collect();
    let (stop, quiet) = (AtomicBool::new(false), |_: &str, _: u64, _: u32| {});
    let one = |overlap: Extent| {
        let mut unasked = Unasked::of_found(1, &stop, &quiet);
        let mut finding = shrunk(&found[..1], 0, &mut unasked).remove(0);
        finding.cause.overlap = Some(overlap);
        finding.more = 4;
        finding
    };
    let merge = |all: Vec<Finding<'_>>| -> Vec<(Option<Extent>, u64)> {
        let merged = merged(all).into_iter();
        merged
            .map(|finding| (finding.cause.overlap, finding.more))
            .collect()
    };
    let both = merge(vec![one(Extent::Messages), one(Extent::Lease)]);
    assert_eq!(both, [(Some(Extent::Lease), 9)]);
    // Alone it is one, and so is one of another cause.
    let mut other = one(Extent::Lease);
    other.cause.with_itself = !other.cause.with_itself;
    let apart = merge(vec![one(Extent::Short), other]);
    assert_eq!(apart.len(), 2);
    assert_eq!(merge(vec![one(Extent::Short)]).len(), 1);
}

#[test]
fn what_is_told_apart_does_not_depend_on_the_number_of_threads() {
    let (alone, together) = (hunted(100, 4, 1), hunted(100, 4, 4));
    assert!(!alone.found.is_empty());
    assert_eq!(told(&alone), told(&together));
    assert_eq!(alone.others, together.others);
}

#[test]
fn what_comes_to_the_same_when_it_is_small_is_one_finding() {
    let hunted = hunted(40, 4, 1);
    let (stop, quiet) = (AtomicBool::new(false), |_: &str, _: u64, _: u32| {});
    // The same run twice.
    let mut twice: Vec<Counterexample> = hunted.found.into_iter().take(1).collect();
    twice.push(Counterexample {
        case: twice[0].case.clone(),
        choices: twice[0].choices.clone(),
        cause: twice[0].cause.clone(),
        ..twice[0]
    });
    let more = twice[0].more;
    let mut unasked = Unasked::of_found(2, &stop, &quiet);
    let findings = shrunk(&twice, 0, &mut unasked);
    let counts: Vec<u64> = findings.iter().map(|finding| finding.more).collect();
    assert_eq!(counts, [more * 2 + 1]);
    let slug = findings[0].cause.slug();
    assert!(!slug.contains([' ', ',', '(']), "{slug}");
}
