use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::outcome::{CaseLocation, CaseOutcome, Standing};

use super::*;
use crate::format::parse;
use crate::scenario::Catalogue;

/// The scenarios of the library.
fn library() -> Vec<Scenario> {
    let parsed = BUILT_IN.iter().map(|(name, text)| {
        let scenario = parse(name, text, &Catalogue::EVERYTHING);
        scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
    });
    parsed.collect()
}

/// A run of these scenarios of a folder in which every case came through these moments.
fn ran(scenarios: &[Scenario], folder: &str, moments: &[&str]) -> Vec<ScenarioOutcome> {
    let of_folder = scenarios
        .iter()
        .filter(|scenario| is_in(&scenario.name, folder));
    let outcomes = of_folder.map(|scenario| {
        let case = |case: &crate::Case| CaseOutcome {
            scenario: scenario.name.clone(),
            path: scenario.name.clone(),
            case: case.name.clone(),
            written: CaseLocation::default(),
            algorithm: case.algorithm.name.to_owned(),
            standing: Standing::Holds,
            findings: Vec::new(),
            violations: Vec::new(),
            broken: None,
            seeds: ENOUGH_SEEDS,
            seeds_at_most: None,
            undecided: BTreeMap::new(),
            reached: moments
                .iter()
                .map(|moment| ((*moment).to_owned(), 1))
                .collect(),
            nearest: BTreeMap::new(),
            ran: Vec::new(),
            hash: 0,
            metrics: BTreeMap::new(),
            took: Duration::ZERO,
            story: None,
        };
        ScenarioOutcome {
            name: scenario.name.clone(),
            claim: scenario.claim.clone(),
            cases: scenario.cases.iter().map(case).collect(),
        }
    });
    outcomes.collect()
}

/// All moments but one.
fn all_but(one: &str) -> Vec<&'static str> {
    let names = SOMETIMES.iter().map(|row| row.name);
    names.filter(|name| *name != one).collect()
}

#[test]
fn a_folder_that_never_came_through_a_moment_is_named_with_it() {
    let library = library();
    let mut outcomes = ran(&library, "zookeeper", &all_but("adopted"));
    outcomes.extend(ran(&library, "redis", &all_but("fenced-out")));
    let found = vacuous(&library, &outcomes);
    let of = |folder, moment| Vacuous {
        folder,
        never: vec![moment],
        seeds: ENOUGH_SEEDS,
    };
    assert_eq!(
        found,
        [of("zookeeper", "adopted"), of("redis", "fenced-out")]
    );
    assert!(describe(&found).contains("no run of redis/ reached fenced-out"));
}

#[test]
fn a_few_seeds_need_not_come_through_every_moment() {
    let library = library();
    let mut outcomes = ran(&library, "redis", &all_but("fenced-out"));
    for case in outcomes.iter_mut().flat_map(|outcome| &mut outcome.cases) {
        case.seeds = 2;
    }
    let found = vacuous(&library, &outcomes);
    assert!(
        matches!(&found[..], [only] if only.needs_more_seeds()),
        "{found:?}"
    );
    let told = describe(&found);
    assert!(
        told.contains("no run of redis/ reached fenced-out; 20 seeds should"),
        "{told}"
    );
    outcomes[0].cases[0].seeds = ENOUGH_SEEDS;
    assert!(!vacuous(&library, &outcomes)[0].needs_more_seeds());
}

#[test]
fn a_service_without_queues_owes_no_moment_of_a_queue() {
    let library = library();
    assert_eq!(
        vacuous(&library, &ran(&library, "redis", &all_but("two-wait"))),
        []
    );
    assert_eq!(
        vacuous(&library, &ran(&library, "zookeeper", &all_but("two-wait"))).len(),
        1
    );
}

#[test]
fn less_than_a_folder_owes_nothing() {
    let library = library();
    let mut outcomes = ran(&library, "zookeeper", &[]);
    assert_eq!(vacuous(&library, &outcomes).len(), 1);
    outcomes[0].cases.pop();
    assert_eq!(vacuous(&library, &outcomes), []);
    outcomes.remove(0);
    assert_eq!(vacuous(&library, &outcomes), []);
    assert_eq!(vacuous(&library, &[]), []);
}

#[test]
fn the_cases_there_are_to_run_are_those_that_were_read() {
    let mut library = library();
    for scenario in &mut library {
        scenario.cases.truncate(1);
    }
    let mut outcomes = ran(&library, "zookeeper", &[]);
    assert_eq!(vacuous(&library, &outcomes).len(), 1);
    outcomes[0].cases.clear();
    assert_eq!(vacuous(&library, &outcomes), []);
}

#[test]
fn every_folder_of_the_library_is_known() {
    // Those of incidents stand on any service, and are about one moment each, as are the tests of libraries.
    let mut folders = ServiceKind::ALL.map(|kind| kind.name()).to_vec();
    folders.extend(["incidents", "curator", "kazoo", "redisson"]);
    for (name, _) in BUILT_IN {
        assert!(folders.iter().any(|folder| is_in(name, folder)), "{name}");
    }
}
