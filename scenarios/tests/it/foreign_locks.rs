//! Locks as other people write them, each with one flaw that its author did not see: how soon the search finds them.
//!
//! Half of them are held out: the search was written without a look at them, so that they say what it finds in unseen
//! locks.

mod common;
mod redis_counts;
mod redis_leases;
mod redis_messages;
mod redis_renewals;
mod zk_nodes;
mod zk_queues;
mod zk_sessions;

use std::sync::atomic::AtomicBool;

use common::{ForeignLock, Version};
use picklock_checker::{Evidence, invariants};
use picklock_scenarios::search::detection_rate::{Effort, PlanSource, measure};
use picklock_scenarios::search::hunt::{Bounds, Counterexample, hunt};
use picklock_scenarios::search::portfolio::SearchStrategy;
use picklock_scenarios::{Case, Catalogue, parse};
use picklock_sim::engine::Tape;
use picklock_sim::plan::FaultKind;
use picklock_sim::simulate_with;

/// All of them.
fn locks() -> Vec<ForeignLock> {
    let mut locks: Vec<ForeignLock> = Vec::new();
    locks.extend(zk_queues::LOCKS);
    locks.extend(zk_sessions::LOCKS);
    locks.extend(zk_nodes::LOCKS);
    locks.extend(redis_leases::LOCKS);
    locks.extend(redis_counts::LOCKS);
    locks.extend(redis_messages::LOCKS);
    locks.extend(redis_renewals::LOCKS);
    locks
}

/// The case of a lock, in a world without faults.
fn case(lock: &ForeignLock, version: Version) -> Case {
    let text = format!(
        r#"
        claim = "This lock keeps its promises."
        because = "Other people wrote it."
        source = "{}"
        {}
        [[case]]
        algorithm = "{}"
        expect.{}.violated = {{ because = "{}", within-seeds = 1 }}
        "#,
        lock.source, lock.world, lock.name, lock.breaks, lock.flaw
    );
    let recipe = (lock.recipe)(version);
    let catalogue = Catalogue {
        algorithms: &[recipe],
        ..Catalogue::EVERYTHING
    };
    let parsed = parse(lock.name, &text, &catalogue);
    let scenario = parsed.unwrap_or_else(|mistakes| panic!("{}: {}", lock.name, mistakes[0]));
    scenario.cases.into_iter().next().expect("one case")
}

/// The first run of a hunt from a base that breaks the promise of a lock, if there is one among so many.
fn first_found(lock: &ForeignLock, base: u64, runs: u64) -> Option<Counterexample> {
    let case = case(lock, Version::AsWritten);
    let bounds = Bounds {
        findings: 1,
        ..Bounds::runs(runs)
    };
    let mut only = case.clone();
    only.expectations.retain(|row| row.invariant == lock.breaks);
    let kinds = FaultKind::unasked();
    let with = (&kinds[..], &SearchStrategy::ALL[..]);
    let stop = AtomicBool::new(false);
    let hunted = hunt(&only, with, base, bounds, &stop, &|| ());
    assert!(hunted.broken.is_none(), "{} broke off", lock.name);
    hunted.found.into_iter().next()
}

/// Whether the same run of another version of a lock breaks its promise.
fn breaks_too(lock: &ForeignLock, found: &Counterexample, version: Version) -> bool {
    let mut plan = found.case.plan.clone();
    plan.recipe = case(lock, version).plan.recipe;
    let simulated = simulate_with(&plan, Tape::recorded(found.choices.clone()));
    assert!(simulated.broken().is_none(), "{} broke off", lock.name);
    let invariant = invariants::find(lock.breaks).expect("an invariant");
    let verdict = (invariant.check)(&Evidence::of(&simulated.run));
    verdict.witness().is_some()
}

/// So many runs of a hunt are enough.
const ENOUGH: u64 = 400;

#[test]
fn a_hunt_finds_flaws_of_unseen_locks_and_blames_no_mended_one() {
    let mut missed = Vec::new();
    for lock in locks() {
        let Some(found) = first_found(&lock, 0, ENOUGH) else {
            assert!(
                lock.held_out,
                "{}: {}, {}",
                lock.name, lock.flaw, lock.takes
            );
            missed.push(lock.name);
            continue;
        };
        assert!(
            breaks_too(&lock, &found, Version::AsWritten),
            "{}",
            lock.name
        );
        assert!(!breaks_too(&lock, &found, Version::Mended), "{}", lock.name);
    }
    assert!(missed.len() <= 3, "{missed:?}");
}

#[test]
fn half_of_them_are_held_out() {
    let locks = locks();
    assert_eq!(locks.len(), 24);
    assert_eq!(locks.iter().filter(|lock| lock.held_out).count(), 12);
}

/// `cargo test -p picklock-scenarios --test it foreign_locks -- --ignored --nocapture` prints the table of
/// `docs/plans.md`.
#[test]
#[ignore = "it measures"]
fn how_soon_each_is_found() {
    let only = std::env::var("LOCK").ok();
    let limit = std::env::var("LIMIT")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2_000);
    for lock in locks() {
        if only.as_ref().is_some_and(|only| *only != lock.name) {
            continue;
        }
        let found = |version, way| {
            let case = case(&lock, version);
            let found = measure(&case, way, Effort { bases: 5, limit });
            let runs: Vec<String> = (1..=5)
                .map(|nth| found[0].percentile(nth * 20))
                .map(|runs| runs.map_or("-".to_owned(), |runs| runs.to_string()))
                .collect();
            runs.join(" ")
        };
        let held_out = if lock.held_out { "held out" } else { "tuned" };
        let ways = std::env::var("WAYS").unwrap_or_else(|_| "aimed hunt swarm".to_owned());
        let ways = PlanSource::ALL
            .into_iter()
            .filter(|way| ways.split(' ').any(|name| name == way.name()));
        let columns: String = ways
            .map(|way| format!("{} {:<26}", way.name(), found(Version::AsWritten, way)))
            .collect();
        println!("{:<26}{held_out:<10}{columns}{}", lock.name, lock.takes);
        if std::env::var("MENDED").is_ok() {
            let mended = found(Version::Mended, PlanSource::Hunt);
            println!("{:<26}mended {mended}", lock.name);
        }
    }
}
