//! The library: embedded as it lies in the folder, and without a mistake.

use std::collections::BTreeSet;
use std::path::Path;

use picklock_algorithms::registry::RECIPES;
use picklock_scenarios::runner::run_seed;
use picklock_scenarios::{BUILT_IN, Catalogue, Scenario, Want, load, parse};
use picklock_sim::plan::FaultKind;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/library"))
}

fn from_disk() -> Vec<Scenario> {
    let loaded = load(folder(), &Catalogue::EVERYTHING);
    loaded.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
}

#[test]
fn every_file_of_the_library_is_built_in() {
    let on_disk: Vec<String> = from_disk()
        .into_iter()
        .map(|scenario| scenario.name)
        .collect();
    let mut built_in: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    assert_eq!(built_in, on_disk);
    built_in.sort_unstable();
    assert_eq!(built_in, on_disk, "the library is sorted by name");
}

#[test]
fn every_scenario_of_the_library_is_without_a_mistake() {
    for (name, text) in BUILT_IN {
        if let Err(mistakes) = parse(name, text, &Catalogue::EVERYTHING) {
            let shown: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            panic!("{name}:\n{}", shown.join("\n\n"));
        }
    }
}

#[test]
fn every_scenario_of_the_library_gives_its_reason_and_its_source() {
    for scenario in from_disk() {
        let said = [&scenario.because, &scenario.source];
        assert!(
            said.iter().all(|text| !text.is_empty()),
            "{}",
            scenario.name
        );
    }
}

#[test]
fn every_flaw_has_a_scenario_that_expects_it_to_be_caught() {
    let scenarios = from_disk();
    let cases: Vec<_> = scenarios
        .iter()
        .flat_map(|scenario| &scenario.cases)
        .collect();
    for recipe in RECIPES.iter().filter(|recipe| recipe.flaw.is_some()) {
        let caught = cases.iter().any(|case| {
            case.algorithm.name == recipe.name
                && case
                    .expectations
                    .iter()
                    .any(|expectation| matches!(expectation.want, Want::Violated { .. }))
        });
        assert!(caught, "{}", recipe.name);
    }
}

#[test]
fn every_recipe_is_in_a_swarm() {
    let scenarios = from_disk();
    let cases = || scenarios.iter().flat_map(|scenario| &scenario.cases);
    for recipe in RECIPES {
        let swarms = cases().any(|case| {
            let draws = case.open.as_ref().and_then(|open| open.faults.as_ref());
            case.algorithm.name == recipe.name && draws.is_some_and(|any| any.kinds.len() > 1)
        });
        assert!(swarms, "no case draws faults for {}", recipe.name);
    }
}

#[test]
fn every_kind_of_fault_strikes_in_a_scenario_that_names_it() {
    let scenarios = from_disk();
    let cases = scenarios.iter().flat_map(|scenario| &scenario.cases);
    let faults = cases.flat_map(|case| &case.plan.faults);
    let named: BTreeSet<FaultKind> = faults.map(|fault| FaultKind::of(&fault.inject)).collect();
    for kind in FaultKind::ALL.iter().copied() {
        assert!(named.contains(&kind), "no scenario has {}", kind.name());
    }
}

/// The tests of Curator, kazoo, and Redisson: a row is the tests, the scenario, and which recipes break which promises
/// there.
const PORTED_TESTS: &str = include_str!("../../../docs/ported-tests.md");

/// The groups that are tests of a library.
const PORTED: [&str; 3] = ["curator/", "kazoo/", "redisson/"];

/// What stands in backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_ported_test_is_found_by_its_name_and_breaks_what_the_page_says() {
    let scenarios = from_disk();
    let mut left: BTreeSet<&str> = scenarios
        .iter()
        .map(|scenario| scenario.name.as_str())
        .collect();
    left.retain(|name| PORTED.iter().any(|group| name.starts_with(group)));
    let rows = PORTED_TESTS.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, tests, scenario, caught, _] = cells[..] else {
            return None;
        };
        Some((
            tests,
            scenario.strip_prefix('`')?.strip_suffix('`')?,
            caught,
        ))
    });
    for (tests, name, caught) in rows {
        let scenario = scenarios.iter().find(|scenario| scenario.name == name);
        let scenario = scenario.unwrap_or_else(|| panic!("there is no {name}"));
        if !left.remove(name) {
            let elsewhere = !PORTED.iter().any(|group| name.starts_with(group));
            assert!(elsewhere, "{name} has two rows");
            continue;
        }
        for test in tests.split(", ") {
            assert!(scenario.source.contains(test), "{name}: {test}");
        }
        let (algorithms, promises) = caught.split_once('→').unwrap_or_default();
        let (mut breaking, mut broken) = (BTreeSet::new(), BTreeSet::new());
        for case in &scenario.cases {
            for expectation in &case.expectations {
                if matches!(expectation.want, Want::Violated { .. }) {
                    breaking.insert(case.algorithm.name);
                    broken.insert(expectation.invariant);
                }
            }
        }
        assert_eq!(quoted(algorithms), breaking, "{name}");
        assert_eq!(quoted(promises), broken, "{name}");
    }
    assert!(left.is_empty(), "not on the page: {left:?}");
}

#[test]
fn what_is_to_be_violated_is_with_the_seeds_of_any_day() {
    // Days of five years. Those of a wide range of seeds would seldom show what one seed in ten does not do.
    for day in [20_500_u64, 20_777, 21_111, 21_600, 22_222] {
        let first = day * 1_000_000;
        for scenario in from_disk() {
            for case in &scenario.cases {
                for expectation in &case.expectations {
                    let Want::Violated { within_seeds, .. } = expectation.want else {
                        continue;
                    };
                    let name = expectation.invariant;
                    let violates = |seed: u64| {
                        let outcome = run_seed(case, seed, false).expect("it runs once");
                        let mut verdicts = outcome.verdicts.iter();
                        verdicts
                            .any(|(known, verdict)| *known == name && verdict.witness().is_some())
                    };
                    let found = (first..first + within_seeds).any(violates);
                    assert!(found, "{} {} {name} from {first}", scenario.name, case.name);
                }
            }
        }
    }
}
