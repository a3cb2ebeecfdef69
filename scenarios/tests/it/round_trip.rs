//! A case that is written out reads back as the same case.

mod barriers;
mod faults;
mod kept;
mod on_redis;
mod plans;
mod regions;

use picklock_scenarios::{
    BUILT_IN, Case, Catalogue, RecordedRun, SavedPlan, Scenario, parse, write,
};
use picklock_sim::plan::Plan;
use proptest::prelude::*;

use plans::case;

fn assert_same_plan(left: &Plan, right: &Plan) {
    assert_eq!(left.recipe.name, right.recipe.name);
    assert_eq!(left.service, right.service);
    assert_eq!(left.network, right.network);
    assert_eq!(left.workload, right.workload);
    assert_eq!(left.resource, right.resource);
    assert_eq!(left.faults, right.faults);
    assert_eq!(left.event_budget, right.event_budget);
}

fn read_back(scenario: &Scenario, case: &Case) -> Case {
    let text = write(scenario, case);
    let mut again = parse(&scenario.name, &text, &Catalogue::EVERYTHING)
        .unwrap_or_else(|mistakes| panic!("{}\n{text}", mistakes[0]));
    assert_eq!(again.claim, scenario.claim);
    assert_eq!(again.because, scenario.because);
    assert_eq!(again.source, scenario.source);
    assert_eq!(again.cases.len(), 1);
    again.cases.remove(0)
}

#[test]
fn every_case_of_the_library_reads_back_as_it_was() {
    for (name, text) in BUILT_IN {
        let Ok(scenario) = parse(name, text, &Catalogue::EVERYTHING) else {
            panic!("{name}");
        };
        for case in &scenario.cases {
            let again = read_back(&scenario, case);
            assert_eq!(again.name, case.name);
            assert_same_plan(&again.plan, &case.plan);
            assert_eq!(again.open, case.open);
            assert_eq!(again.expectations, case.expectations);
            assert_eq!(again.measures, case.measures);
            assert_eq!(again.sometimes, case.sometimes);
        }
    }
}

#[test]
fn a_file_without_a_claim_is_told_as_one_and_not_as_a_promise() {
    let text = "[service.zookeeper]\n[[case]]\nalgorithm = \"zk-hardened\"\n";
    let scenario = parse("short", text, &Catalogue::EVERYTHING)
        .unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    assert_eq!(scenario.claim, "This file has no `claim`.");
    assert_eq!(
        (scenario.because.as_str(), scenario.source.as_str()),
        ("", "")
    );
    read_back(&scenario, &scenario.cases[0]);
}

#[test]
fn a_case_that_is_written_out_leaves_nothing_to_defaults() {
    let (name, text) = BUILT_IN
        .iter()
        .find(|(name, _)| *name == "zookeeper/gc-pause")
        .unwrap();
    let scenario = parse(name, text, &Catalogue::EVERYTHING).ok().unwrap();
    insta::assert_snapshot!(write(&scenario, &scenario.cases[0]));
}

#[test]
fn a_seed_that_is_too_large_for_toml_is_left_out() {
    let text = "[[case]]\nalgorithm = \"zk-hardened\"\n";
    let scenario = parse("short", text, &Catalogue::EVERYTHING).ok().unwrap();
    let case = Case {
        saved: Some(SavedPlan {
            seed: u64::MAX,
            drawn: false,
            was: RecordedRun::default(),
        }),
        ..scenario.cases[0].clone()
    };
    assert_eq!(read_back(&scenario, &case).saved, None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_reads_back_as_it_was(
        case in prop_oneof![case(), on_redis::case()],
        because in "[a-zA-Z\"\\\\ä\n\t]{0,30}x",
    ) {
        let scenario = Scenario {
            name: "saved/again".to_owned(),
            path: String::new(),
            claim: "It \"happens\" again.".to_owned(),
            because: because.trim().to_owned(),
            source: "seed 7".to_owned(),
            cases: Vec::new(),
        };
        let again = read_back(&scenario, &case);
        assert_eq!(again.name, case.name);
        assert_same_plan(&again.plan, &case.plan);
        assert_eq!(again.measures, case.measures);
        assert_eq!(again.recorded, case.recorded);
        assert_eq!(again.saved, case.saved);
        for wanted in &case.expectations {
            assert!(again.expectations.contains(wanted), "{wanted:?}");
        }
    }
}
