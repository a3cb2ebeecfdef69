//! Runs that break off: what they are told as, and that nothing else suffers from them.

use std::sync::atomic::AtomicBool;

use picklock_algorithms::registry::find;
use picklock_broken::{FATAL, FAULTY, FICKLE, THREADED};
use picklock_checker::outcome::{CaseOutcome, Standing};
use picklock_scenarios::herd::Experiment;
use picklock_scenarios::replay_command;
use picklock_scenarios::runner::{self, RunOptions, Stopped, run_case, run_seeds};
use picklock_scenarios::search::detection_rate::{self, Effort, measure};
use picklock_scenarios::search::hunt::{Bounds, hunt};
use picklock_scenarios::search::portfolio::SearchStrategy;
use picklock_scenarios::shard::{Seeds, Shard};
use picklock_scenarios::shrink::broken_off;
use picklock_scenarios::{Catalogue, Expectation, Scenario, Want, parse, write};
use picklock_sim::broken::caught;
use picklock_sim::plan::{FaultKind, Service};

const SCENARIO: &str = r#"
claim = "A lock works where nothing breaks."
because = "It does."
source = "ours"

[service.zookeeper]

[workload]
contenders = 3
arrive = "in-order"
hold = "20ms"

[[case]]
algorithm = "zk-predecessor-watch"
"#;

/// The scenario with a case for each of these recipes.
fn scenario(recipes: &[&str]) -> Scenario {
    let mut known = FAULTY.to_vec();
    known.extend(FICKLE.iter().chain(FATAL).chain([&THREADED]));
    known.extend(find("zk-predecessor-watch").copied());
    let cases = recipes
        .iter()
        .map(|name| format!("[[case]]\nalgorithm = \"{name}\"\n"));
    let (world, _) = SCENARIO.split_once("[[case]]").expect("it has a case");
    let text = format!("{world}{}", cases.collect::<String>());
    let catalogue = Catalogue {
        algorithms: &known,
        ..Catalogue::EVERYTHING
    };
    let parsed = parse("ours/works", &text, &catalogue);
    parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
}

const SEEDS: RunOptions = RunOptions {
    seeds: Seeds::all(0..20),
    verify_determinism: false,
};

/// What comes of each case of these recipes.
fn outcomes(recipes: &[&str]) -> Vec<CaseOutcome> {
    let scenario = scenario(recipes);
    let stop = AtomicBool::new(false);
    let cases = scenario.cases.iter();
    let run = |case| run_case(&scenario, case, &SEEDS, &stop, &|| {});
    cases
        .map(|case| run(case).expect("it is deterministic"))
        .collect()
}

/// The line that tells that a recipe broke off with every seed.
fn line(recipe: &str) -> String {
    let mut outcomes = outcomes(&[recipe]);
    let outcome = outcomes.remove(0);
    assert_eq!(outcome.standing, Standing::Broken, "{recipe}");
    let broken = outcome.broken.expect("it broke off");
    assert_eq!((broken.seed, broken.seeds), (0, 20), "{recipe}");
    let story = outcome.story.expect("there is something to tell");
    assert_eq!(story.history.broken.as_ref(), Some(&broken.why), "{recipe}");
    assert_eq!(story.hash, broken.hash, "{recipe}");
    let place = broken.why.place.clone().unwrap_or_default();
    let line = outcome.findings[0].line.replace(&place, "…");
    line.replace("broken at seed 0 (all 20 seeds): ", "")
}

#[test]
fn a_panic_in_each_call_of_a_recipe_names_the_call_the_message_and_the_place() {
    for (recipe, told) in [
        (
            "panics-in-acquire",
            "contender-2's acquire panicked: out of luck (…)",
        ),
        (
            "panics-in-release",
            "contender-2's release panicked: cannot give it back (…)",
        ),
        (
            "panics-in-lost",
            "contender-2's lost panicked: cannot look (…)",
        ),
        (
            "panics-in-a-task",
            "a task of contender-2 panicked: in the background (…)",
        ),
        (
            "panics-when-dropped",
            "contender-2's code panicked: dropped (…)",
        ),
    ] {
        assert_eq!(line(recipe), told);
    }
    let scenario = scenario(&["panics-in-acquire"]);
    let simulated = runner::simulated(&scenario.cases[0], 0);
    let place = simulated.broken().and_then(|why| why.place.as_deref());
    assert!(place.unwrap().contains("broken/src/lib.rs:"), "{place:?}");
}

#[test]
fn a_panic_while_the_world_is_in_the_middle_of_something_is_picklocks_own() {
    assert_eq!(line("panics-when-woken"), "picklock panicked: woken (…)");
}

#[test]
fn a_panic_with_some_seeds_is_told_once_and_counted() {
    let outcome = outcomes(&["panics-with-some-seeds"]).remove(0);
    assert_eq!(outcome.standing, Standing::Broken);
    let broken = outcome.broken.expect("some seeds broke off");
    assert!((1..20).contains(&broken.seeds), "{broken:?}");
    assert_eq!(outcome.seeds, 20);
    let findings = outcome.findings.iter();
    let told = findings.filter(|finding| finding.name == "broken").count();
    assert_eq!(told, 1);
    let told = outcome.findings.iter().find_map(|finding| finding.can_tell);
    assert_eq!(told, Some(20 - broken.seeds), "the others can tell");
}

#[test]
fn the_other_cases_run_and_are_judged() {
    let outcomes = outcomes(&["panics-in-acquire", "zk-predecessor-watch"]);
    let standings: Vec<_> = outcomes.iter().map(|outcome| outcome.standing).collect();
    assert_eq!(standings, [Standing::Broken, Standing::Holds]);
}

#[test]
fn a_run_after_one_that_broke_off_on_the_same_thread_is_what_it_ever_was() {
    let recipes: Vec<&str> = FAULTY.iter().map(|recipe| recipe.name).collect();
    let faulty = scenario(&recipes);
    let sound = scenario(&["zk-predecessor-watch"]);
    let hash = || runner::simulated(&sound.cases[0], 7).hash;
    let ever = hash();
    for case in &faulty.cases {
        let broken = runner::simulated(case, 3);
        assert_eq!(hash(), ever, "after {}: {:?}", case.name, broken.broken());
    }
}

#[test]
fn a_run_that_breaks_off_is_as_deterministic_as_any_other() {
    for recipe in FAULTY {
        let scenario = scenario(&[recipe.name]);
        let run = || runner::simulated(&scenario.cases[0], 5);
        let (first, second) = (run(), run());
        assert_eq!(first.hash, second.hash, "{}", recipe.name);
        assert_eq!(first.broken(), second.broken(), "{}", recipe.name);
    }
}

#[test]
fn what_broke_off_is_in_the_files_of_shards_and_adds_up_to_the_whole() {
    let scenario = scenario(&["panics-with-some-seeds"]);
    let case = &scenario.cases[0];
    let stop = AtomicBool::new(false);
    let part = |index| {
        let shard = Shard::new(index, 3).unwrap();
        let seeds = Seeds {
            shard,
            ..SEEDS.seeds
        };
        let settings = RunOptions { seeds, ..SEEDS };
        let tally = run_seeds(&scenario, case, &settings, &stop, &|| {}).unwrap();
        let text = serde_json::to_string(&tally).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    // Where nothing broke off, the file says nothing of it.
    let seeds = |tally: &serde_json::Value| tally["broken"]["seeds"].as_u64();
    let lowest = |tally: &serde_json::Value| tally["broken"]["seed"].as_u64();
    let parts = [1, 2, 3].map(part);
    assert!(parts.iter().filter_map(seeds).count() > 1, "{parts:?}");
    let whole = outcomes(&["panics-with-some-seeds"]).remove(0).broken;
    let whole = whole.expect("some seeds broke off");
    assert_eq!(parts.iter().filter_map(seeds).sum::<u64>(), whole.seeds);
    assert_eq!(parts.iter().filter_map(lowest).min(), Some(whole.seed));
}

#[test]
fn code_that_never_waits_for_anything_is_ended_by_a_budget_and_named() {
    for (recipe, told) in [
        (
            "yields-for-ever",
            "contender-2's acquire never waits: 103001 polls at TIME, and no time passes",
        ),
        (
            "sleeps-no-time",
            "contender-2's acquire never waits: EVENTS events at TIME, and no time passes",
        ),
        (
            "spawns-for-ever",
            "contender-2's acquire never waits: 103001 polls at TIME, and no time passes",
        ),
        (
            "spins-on-its-clock",
            "contender-2's acquire never waits: it calls its client and its environment again and again at TIME, \
             and no time passes",
        ),
        (
            "spins-on-its-session",
            "contender-2's acquire never waits: it calls its client and its environment again and again at TIME, \
             and no time passes",
        ),
    ] {
        let scenario = scenario(&[recipe]);
        let simulated = runner::simulated(&scenario.cases[0], 0);
        let why = simulated.broken().expect("it broke off");
        let at = simulated.run.history.events.last().expect("it ended").at;
        let line = why.to_string().replace(&at.to_string(), "TIME");
        let events = |word: &str| word.parse::<u64>().is_ok_and(|events| events > 500_000);
        let words = line.split(' ').map(|word| match events(word) {
            true => "EVENTS",
            false => word,
        });
        assert_eq!(words.collect::<Vec<_>>().join(" "), told);
    }
}

#[test]
fn a_world_that_cannot_be_built_is_told_too() {
    let scenario = scenario(&["zk-predecessor-watch"]);
    let mut case = scenario.cases[0].clone();
    let Service::ZooKeeper(ensemble) = &mut case.plan.service else {
        panic!("it stands on ZooKeeper");
    };
    ensemble.servers = 0;
    let why = runner::simulated(&case, 0)
        .broken()
        .map(ToString::to_string);
    assert!(why.is_some_and(|why| why.starts_with("picklock panicked: ")));
}

#[test]
fn a_hunt_keeps_the_first_run_that_breaks_off_and_goes_on() {
    let scenario = scenario(&["panics-with-some-seeds"]);
    let case = &scenario.cases[0];
    let stop = AtomicBool::new(false);
    let hunted = hunt(
        case,
        (&FaultKind::unasked(), &SearchStrategy::ALL),
        0,
        Bounds::runs(64),
        &stop,
        &|| (),
    );
    assert_eq!(hunted.runs, 64);
    let broken = hunted.broken.expect("some seeds break off");
    assert!((2..64).contains(&broken.runs), "{}", broken.runs);
    let kept = broken_off(&scenario, 0, &broken);
    let text = write(&kept, &kept.cases[0]);
    let catalogue = Catalogue {
        algorithms: FAULTY,
        ..Catalogue::EVERYTHING
    };
    let read =
        parse("kept", &text, &catalogue).unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let again = runner::simulated(&read.cases[0], broken.seed);
    assert_eq!(again.hash, broken.simulated.hash);
    assert_eq!(again.broken(), Some(&broken.why));
}

#[test]
fn whatever_else_runs_simulations_says_that_one_broke_off() {
    let scenario = scenario(&["panics-in-acquire"]);
    let mut case = scenario.cases[0].clone();
    case.expectations = vec![Expectation {
        invariant: "fifo",
        want: Want::Violated {
            because: "it is not".to_owned(),
            within_seeds: 1,
        },
    }];
    let effort = Effort { bases: 1, limit: 1 };
    let yields = caught(|| measure(&case, detection_rate::PlanSource::File, effort).len());
    let told = yields.map_err(|why| why.to_string()).unwrap_err();
    assert!(
        told.starts_with("contender-2's acquire panicked: out of luck"),
        "{told}"
    );
    let herd = Experiment::of(case.algorithm, 3);
    let told = caught(|| herd.run())
        .map_err(|why| why.to_string())
        .unwrap_err();
    assert!(
        told.starts_with("contender-2's acquire panicked: out of luck"),
        "{told}"
    );
}

#[test]
fn a_recipe_that_is_not_deterministic_is_found_out_by_a_run_that_does_not_ask_for_it() {
    for recipe in FICKLE {
        let scenario = scenario(&[recipe.name]);
        let stop = AtomicBool::new(false);
        let done = run_case(&scenario, &scenario.cases[0], &SEEDS, &stop, &|| {});
        match done {
            Err(Stopped::NotDeterministic { seed, hashes }) => {
                assert_eq!(seed, 0, "{}", recipe.name);
                assert_ne!(hashes.0, hashes.1, "{}", recipe.name);
            }
            other => panic!("{}: {other:?}", recipe.name),
        }
    }
}

#[test]
fn a_thread_is_refused_in_the_sandbox_and_told_where_it_wakes_a_task_without() {
    let scenario = scenario(&["starts-a-thread"]);
    let run = || runner::simulated(&scenario.cases[0], 0);
    let why = run().broken().map(ToString::to_string).unwrap_or_default();
    let told = match cfg!(madsim) {
        true => "contender-2's acquire started a thread, which the sandbox refuses",
        false => "the recipe started a thread, and that woke it: no two runs are alike then",
    };
    assert!(why.starts_with(told), "{why}");
    assert_eq!(run().broken().map(ToString::to_string), Some(why));
}

#[test]
fn a_recipe_that_no_command_knows_is_shown_again_by_its_test() {
    let broken = scenario(&["panics-in-acquire"]);
    let told = replay_command::job(&broken, &broken.cases[0]).replay(7);
    let sound = scenario(&["zk-predecessor-watch"]);
    assert_eq!(
        replay_command::job(&sound, &sound.cases[0]).replay(7),
        "picklock replay ours/works.toml --case zk-predecessor-watch --seed 7"
    );
    assert_eq!(told, "the same test, with_seeds(7..8)");
}
