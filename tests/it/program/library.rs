//! The scenarios that come with picklock, and the library as a downstream test uses it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::common::{FAILING, Folder, UNDECIDED, command};
use picklock::algorithms::clients::zookeeper::{Path, ZooKeeper};
use picklock::algorithms::{Build, Env, Lock, Recipe, registry};
use picklock::scenarios::runner::Stopped;
use picklock::scenarios::{BUILT_IN, Catalogue, Want};
use picklock::{CheckError, Harness, Standing, sources};

#[test]
fn every_scenario_of_the_library_is_as_expected() {
    let mut wrong = Vec::new();
    for scenario in sources::library(&Catalogue::EVERYTHING).expect("it has no mistakes") {
        let cases = scenario.cases.iter();
        let wants = cases.flat_map(|case| case.expectations.iter().map(|row| &row.want));
        let seeds = wants.map(|want| match want {
            Want::Violated { within_seeds, .. } => *within_seeds,
            Want::Holds
            | Want::Excused { .. }
            | Want::Undecided { .. }
            | Want::Unchecked { .. } => 0,
        });
        let seeds = seeds.max().unwrap_or(0).max(10);
        let report = picklock::check(&scenario.name, 0..seeds);
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        if !report.as_expected() {
            wrong.push(report.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a panic says.
fn panic_of(scenario: &'static str) -> String {
    let panic = std::panic::catch_unwind(|| picklock::assert_as_expected(scenario, 3..6));
    let said = panic.expect_err("it panics");
    said.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_failure_panics_with_its_report() {
    let said = panic_of(FAILING);
    assert!(said.contains("mutual-exclusion violated"), "{said}");
    assert!(said.contains("the same test, with_seeds(3..4)"), "{said}");
}

#[test]
fn undecided_is_not_as_expected() {
    assert!(panic_of(UNDECIDED).contains("fault 1 never fired"));
    assert!(panic_of("claim = 1\n").contains("scenario.toml:1"));
    assert!(panic_of("zookeeper/waiter-deth").contains("did you mean"));
}

/// As the folder of a crate.
#[test]
fn a_folder_without_a_scenario_does_not_stand_in_the_way_of_a_group_of_its_name() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.at("redis/src")).expect("a folder can be made");
    folder.file("redis/Cargo.toml", "[package]\n");
    let mut run = command(&["run", "redis", "--seeds", "0..1", "--quiet"]);
    let output = run.current_dir(folder.path()).output();
    let said = String::from_utf8(output.expect("the program runs").stdout).expect("UTF-8");
    let scenarios = BUILT_IN
        .iter()
        .filter(|(name, _)| name.starts_with("redis/"));
    let all = format!("{} scenarios", scenarios.count());
    assert!(said.contains(&all), "{said}");
    let other = sources::find(std::path::Path::new("reports"), &Catalogue::EVERYTHING);
    let told = other.expect_err("there is no group of that name");
    assert!(told[0].to_string().contains("no scenarios in this folder"));
}

#[test]
fn a_run_without_seeds_finds_nothing_out() {
    let report = picklock::check("zookeeper/waiter-death", 0..0);
    assert_eq!(
        report.map(|report| report.standing()),
        Ok(Standing::Undecided)
    );
}

#[test]
fn an_algorithm_that_is_not_deterministic_is_found_out() {
    /// Another recipe every other time.
    fn fickle(client: ZooKeeper, env: Env, path: Path) -> Box<dyn Lock> {
        static TURN: AtomicBool = AtomicBool::new(false);
        let name = if TURN.fetch_xor(true, Ordering::Relaxed) {
            "zk-same-name"
        } else {
            "zk-predecessor-watch"
        };
        match registry::find(name).map(|recipe| recipe.build) {
            Some(Build::ZooKeeper(build)) => build(client, env, path),
            _ => unreachable!("{name} is in the registry"),
        }
    }
    let recipe = Recipe {
        name: "fickle",
        build: Build::ZooKeeper(&fickle),
        ..*registry::find("zk-predecessor-watch").expect("it is in the registry")
    };
    let text = UNDECIDED.replace("zk-predecessor-watch", "fickle");
    let harness = Harness::new().with_recipe(recipe).with_seeds(0..1);
    // Unasked, too, the first seed of a case runs twice.
    match harness.check(&text) {
        Err(CheckError::Stopped {
            why: Stopped::NotDeterministic { seed, hashes },
            ..
        }) => {
            assert_eq!(seed, 0);
            assert_ne!(hashes.0, hashes.1);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_algorithm_that_panics_is_told_in_the_report_of_its_test_and_how_to_see_it_again() {
    let recipe = Recipe {
        name: "panics",
        build: Build::ZooKeeper(&|_, _, _| panic!("there is no lock")),
        ..*registry::find("zk-predecessor-watch").expect("it is in the registry")
    };
    let sound = "[[case]]\nalgorithm = \"zk-predecessor-watch\"\n";
    let text = UNDECIDED.replace("zk-predecessor-watch", "panics") + sound;
    let harness = Harness::new().with_recipe(recipe).with_seeds(3..10);
    let report = harness.check(&text).expect("the scenario has no mistakes");
    assert_eq!(report.standing(), Standing::Broken);
    assert!(!report.as_expected());
    let standings = report.outcomes[0].cases.iter().map(|case| case.standing);
    let standings: Vec<_> = standings.collect();
    assert_eq!(standings, [Standing::Broken, Standing::Undecided]);
    let report = report.to_string();
    for line in [
        "seed 3, 7 of 7 seeds broken",
        "panicked: there is no lock\n",
        "(tests/it/program/library.rs:",
        "Replay   the same test, with_seeds(3..4)\n",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
}
