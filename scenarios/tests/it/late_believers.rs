//! Locks that believe for longer than they could know better are found in drawn plans, without a word in the file; and
//! a lock that stops in time is never blamed.

mod leased;
mod renewing;

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use picklock_algorithms::{Recipe, registry};
use picklock_checker::outcome::CaseOutcome;
use picklock_scenarios::runner::{RunOptions, run_case};
use picklock_scenarios::shard::Seeds;
use picklock_scenarios::{Catalogue, parse};

/// A case of an algorithm, in a world in which each seed draws its own faults: of any kind, or of these.
fn swarm(recipe: Recipe, service: &str, faults: &str, seeds: Range<u64>) -> CaseOutcome {
    let text = format!(
        r#"
        claim = "Whatever breaks, no holder believes for longer than it can help."
        because = "Faults keep a holder from knowing. They do not excuse what it does when it could know."
        source = "a test"
        faults = {faults}
        {service}
        [workload]
        contenders = 3
        arrive = ["together", "in-order"]
        rounds = "1..3"
        hold = "0s..15s"
        [[case]]
        algorithm = "{}"
        "#,
        recipe.name
    );
    run(recipe, &text, seeds)
}

/// The first case of a scenario about this algorithm.
fn run(recipe: Recipe, text: &str, seeds: Range<u64>) -> CaseOutcome {
    let catalogue = Catalogue {
        algorithms: &[recipe],
        ..Catalogue::EVERYTHING
    };
    let scenario = parse("swarm", text, &catalogue);
    let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let settings = RunOptions {
        seeds: Seeds::all(seeds),
        verify_determinism: false,
    };
    let no_stop = AtomicBool::new(false);
    run_case(&scenario, &scenario.cases[0], &settings, &no_stop, &|| {}).expect("nothing stops it")
}

const REDIS: &str =
    "[service.redis]\nlease = \"6s\"\ntimeout = \"3s\"\n[network]\nlatency = \"1ms..20ms\"";
const ZOOKEEPER: &str = "[service.zookeeper]\nsession-timeout = \"6s\"";

/// After how many seeds an invariant is found to be violated.
fn found_after(outcome: &CaseOutcome, invariant: &str) -> Option<u64> {
    let found = (outcome.violations.iter()).find(|broken| broken.invariant == invariant);
    found.map(|violation| violation.found_after)
}

fn finds(outcome: &CaseOutcome, invariant: &str) {
    let found: Vec<_> = (outcome.violations.iter())
        .map(|broken| {
            (
                &broken.invariant,
                broken.found_after,
                &broken.witness.summary,
            )
        })
        .collect();
    assert!(
        found_after(outcome, invariant).is_some(),
        "{invariant} in {found:?}"
    );
}

fn sound(name: &str) -> Recipe {
    *registry::find(name).expect("it is in the registry")
}

#[test]
fn a_holder_that_never_hears_of_its_expired_session_is_found() {
    let outcome = swarm(sound("zk-predecessor-watch"), ZOOKEEPER, "\"any\"", 0..200);
    finds(&outcome, "timely-loss");
}

#[test]
fn a_holder_that_waits_for_news_is_found_under_faults_that_excuse_the_overlap() {
    let silence = r#"{ any = { kinds = ["black-hole", "isolate-server"], at-most = 4 } }"#;
    let outcome = swarm(sound("zk-predecessor-watch"), ZOOKEEPER, silence, 0..200);
    finds(&outcome, "timely-loss");
    finds(&outcome, "mutual-exclusion");
}

#[test]
fn an_extension_that_always_says_ok_is_found() {
    let outcome = swarm(leased::DEAF_WATCHDOG, REDIS, "\"any\"", 0..200);
    finds(&outcome, "timely-loss");
}

#[test]
fn a_hold_that_is_handed_out_after_its_lease_was_over_is_found() {
    let outcome = swarm(leased::HANDED_OUT_LATE, REDIS, "\"any\"", 0..200);
    finds(&outcome, "timely-loss");
}

#[test]
fn a_deadline_that_leaves_out_clock_drift_is_found() {
    let outcome = swarm(leased::NO_DRIFT, REDIS, "\"any\"", 0..2_000);
    finds(&outcome, "mutual-exclusion");
}

#[test]
fn a_deadline_that_counts_from_the_answer_is_found() {
    let outcome = swarm(leased::COUNTS_FROM_ANSWER, REDIS, "\"any\"", 0..200);
    finds(&outcome, "mutual-exclusion");
}

#[test]
fn a_lock_that_stops_in_time_is_never_blamed() {
    for (name, service) in [
        ("zk-hardened", ZOOKEEPER),
        ("zk-own-timer", ZOOKEEPER),
        ("redis-compare-and-delete", REDIS),
        ("redis-watch-exec", REDIS),
    ] {
        let outcome = swarm(sound(name), service, "\"any\"", 0..500);
        for invariant in ["timely-loss", "mutual-exclusion"] {
            assert_eq!(
                found_after(&outcome, invariant),
                None,
                "{name}: {invariant}"
            );
        }
    }
    let outcome = swarm(leased::IN_TIME, REDIS, "\"any\"", 0..500);
    assert_eq!(found_after(&outcome, "timely-loss"), None);
    assert_eq!(found_after(&outcome, "mutual-exclusion"), None);
}

/// A world in which a lock that renews its lease was blamed for what it could not know, with some of these seeds.
fn renewing(kinds: &str, seeds: Range<u64>) -> CaseOutcome {
    let text = format!(
        r#"
        faults.any = {{ kinds = [{kinds}] }}
        [service.redis]
        servers = 1
        lease = "6s"
        [network]
        chance = ["even", "extremes", {{ delays = 3 }}, {{ priorities = 3 }}, "orders"]
        latency = ["200us..500us", "1ms..20ms"]
        [workload]
        contenders = "2..5"
        arrive = ["together", "in-order", "behind-holder"]
        rounds = "1..3"
        hold = "0s..12s"
        section = "count"
        [[case]]
        algorithm = "renewing"
        "#
    );
    run(renewing::recipe(), &text, seeds)
}

fn violated(outcome: &CaseOutcome) -> Vec<&str> {
    let violations = outcome.violations.iter();
    violations.map(|broken| broken.invariant.as_str()).collect()
}

#[test]
fn an_answer_that_its_library_throws_away_tells_nothing() {
    let outcome = renewing("\"black-hole\", \"evict-key\"", 190..200);
    assert_eq!(violated(&outcome), [""; 0]);
}

#[test]
fn an_extension_that_was_on_its_way_makes_no_orphan() {
    let outcome = renewing("\"slow-link\", \"delay-request\"", 350..360);
    assert_eq!(violated(&outcome), [""; 0]);
}

#[test]
fn a_watch_that_was_dropped_tells_nothing() {
    let text = r#"
        [service.zookeeper]
        servers = 1
        [network]
        latency = "1ms"
        [workload]
        contenders = 2
        arrive = "in-order"
        hold = "20s"
        section = "nothing"
        [[fault]]
        when.proposed = { request = "create", by = "contender-1" }
        inject.lose-reply = { target = "contender-1" }
        [[fault]]
        when.acquired = { by = "contender-1" }
        after = "1s"
        inject.recreate-lock = {}
        [[case]]
        algorithm = "zk-same-name"
        expect.mutual-exclusion = "unchecked"
    "#;
    // It had looked at the node that it had made before, and dropped the watch on it.
    let outcome = run(sound("zk-same-name"), text, 0..10);
    assert_eq!(violated(&outcome), [""; 0]);
}
