//! Hazards against the library, and cells that must say what they say.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use picklock_algorithms::{Claim, FaultClass, Recipe, hazards, registry};
use picklock_sim::plan::{FaultKind, classes_of};

use super::*;
use crate::scenario::{Case, Catalogue, Scenario, Want};
use crate::{BUILT_IN, parse};

fn library() -> Vec<Scenario> {
    let all = BUILT_IN.iter();
    let read = all.map(|(name, text)| parse(name, text, &Catalogue::EVERYTHING));
    read.map(|scenario| scenario.expect("the library is read"))
        .collect()
}

fn recipe(name: &str) -> Recipe {
    *registry::find(name).expect("it is an algorithm")
}

fn breaks(case: &Case, claim: Claim) -> bool {
    let mut expected = case.expectations.iter();
    expected
        .any(|row| row.invariant == claim.invariant() && matches!(row.want, Want::Violated { .. }))
}

#[test]
fn every_hazard_is_shown_by_its_scenario_of_the_library() {
    let library = library();
    for hazard in hazards::all() {
        let name = hazard.scenario;
        let found = library.iter().find(|scenario| scenario.name == name);
        let scenario = found.unwrap_or_else(|| panic!("there is no scenario {name}"));
        for algorithm in hazard.of {
            assert!(registry::find(algorithm).is_some(), "{name}: {algorithm}");
        }
        for claim in hazard.breaks {
            // Those that are made alike share a row, and one of them at least has a case.
            let mut cases = scenario.cases.iter();
            let shows =
                cases.any(|case| hazard.of.contains(&case.algorithm.name) && breaks(case, *claim));
            assert!(
                shows,
                "{name} expects no violation of {} by {:?}",
                claim.invariant(),
                hazard.of
            );
        }
        let of_faults = |case: &Case| classes_of(&case.plan.faults);
        let classes: BTreeSet<_> = scenario.cases.iter().flat_map(of_faults).collect();
        for class in hazard.under {
            assert!(
                classes.contains(class),
                "{name} has no fault of the class {}",
                class.name()
            );
        }
    }
}

#[test]
fn no_algorithm_has_a_hazard_twice() {
    let mut seen = BTreeSet::new();
    for hazard in hazards::all() {
        for algorithm in hazard.of {
            for claim in hazard.breaks {
                let row = (*algorithm, claim.invariant(), hazard.scenario);
                assert!(seen.insert(row), "{row:?} stands in two rows");
            }
        }
    }
}

#[test]
fn what_breaks_without_a_fault_breaks_under_every_class_and_takes_what_rests_on_it() {
    let unsorted = recipe("zk-unsorted");
    for class in FaultClass::ALL {
        assert!(hazards::find(&unsorted, class, "mutual-exclusion").is_some());
        assert!(hazards::find(&unsorted, class, "no-stale-effect").is_some());
    }
    let no_recheck = recipe("zk-no-recheck");
    let of = |class| hazards::find(&no_recheck, class, "mutual-exclusion");
    let scenario = of(FaultClass::Crash).map(|hazard| hazard.scenario);
    assert_eq!(scenario, Some("zookeeper/waiter-death"));
    assert!(of(FaultClass::None).is_none());
    assert!(hazards::find(&recipe("zk-hardened"), FaultClass::Pause, "progress").is_none());
}

fn cell(name: &str, class: FaultClass, seeds: u64) -> Cell {
    let swarms = swarms(&Catalogue::EVERYTHING).expect("the swarms are read");
    let scenario = scenario(class, &[recipe(name)], &swarms);
    let case = &scenario.cases[0];
    measure(&scenario, case, class, 0..seeds, &AtomicBool::new(false)).expect("nothing stops it")
}

#[test]
fn a_cell_is_safe_if_faults_have_struck_and_nothing_broke() {
    let cell = cell("zk-hardened", FaultClass::Crash, 24);
    assert_eq!(cell.word(), Word::Safe, "{cell:?}");
    assert!((16..24).contains(&cell.told), "{cell:?}");
}

#[test]
fn a_cell_is_undecided_if_next_to_nothing_has_struck() {
    let swarms = swarms(&Catalogue::EVERYTHING).expect("the swarms are read");
    let class = FaultClass::Crash;
    let mut scenario = scenario(class, &[recipe("zk-hardened")], &swarms);
    let case = &mut scenario.cases[0];
    let open = case.open.as_mut().expect("it draws");
    open.faults = None;
    let seen = measure(
        &scenario,
        &scenario.cases[0],
        class,
        0..24,
        &AtomicBool::new(false),
    );
    let cell = seen.expect("nothing stops it");
    assert_eq!((cell.word(), cell.told), (Word::Undecided, 0));
    let why = cell.undecided.as_deref();
    assert_eq!(why, Some("a fault struck in only 0 of 24 runs"));
}

#[test]
fn a_pause_makes_a_holder_unaware_and_that_breaks_no_claim() {
    let cell = cell("zk-hardened", FaultClass::Pause, 24);
    let unaware = cell
        .findings
        .iter()
        .find(|finding| finding.word == Word::Unaware);
    let unaware = unaware.unwrap_or_else(|| panic!("{cell:?}"));
    assert_eq!(unaware.standing, Standing::Excused);
    assert!(
        cell.findings
            .iter()
            .all(|finding| finding.standing == Standing::Excused),
        "{cell:?}"
    );
}

#[test]
fn a_waiter_that_enters_beside_an_owner_is_no_unaware_holder() {
    // The death of a waiter grants nothing, whatever stood still before.
    let cell = cell("zk-no-recheck", FaultClass::SessionExpiry, 40);
    assert_eq!(cell.word(), Word::Overlap, "{cell:?}");
    let overlap = &cell.findings[0];
    assert!(matches!(
        &overlap.standing,
        Standing::NotClaimed {
            scenario: Some("zookeeper/waiter-expiry"),
            ..
        }
    ));
}

#[test]
fn the_plans_of_a_class_have_its_faults_and_no_others() {
    let swarms = swarms(&Catalogue::EVERYTHING).expect("the swarms are read");
    for class in FaultClass::ALL {
        for name in ["zk-hardened", "redis-wait", "redlock", "lease-lock"] {
            let Some(case) = case(&recipe(name), class, &swarms) else {
                continue;
            };
            for seed in 0..12 {
                for fault in &case.plan_for(seed).faults {
                    assert_eq!(FaultKind::of(&fault.inject).class(), class, "{name} {seed}");
                }
            }
        }
    }
}

#[test]
fn nothing_of_zookeeper_expires_on_redis() {
    let swarms = swarms(&Catalogue::EVERYTHING).expect("the swarms are read");
    let redlock = recipe("redlock");
    assert!(case(&redlock, FaultClass::SessionExpiry, &swarms).is_none());
    assert!(case(&recipe("redisson-lock"), FaultClass::Cancel, &swarms).is_none());
    assert!(case(&redlock, FaultClass::Pause, &swarms).is_some());
}

#[test]
fn a_lock_of_another_program_stands_in_the_world_of_its_like() {
    let swarms = swarms(&Catalogue::EVERYTHING).expect("the swarms are read");
    let mine = Recipe {
        name: "mine",
        ..recipe("zk-predecessor-watch")
    };
    assert!(
        list(&[mine], &swarms)
            .iter()
            .any(|scenario| scenario.name == "mine")
    );
    let case = case(&mine, FaultClass::Crash, &swarms).expect("it can die");
    assert_eq!(
        (case.name.as_str(), case.plan.recipe.name),
        ("mine", "mine")
    );
    assert!(case.expectations.iter().all(|row| row.want == Want::Holds));
}

#[test]
fn memory_that_is_free_again_while_a_script_runs_is_free() {
    let swarms = swarms(&Catalogue::EVERYTHING).expect("the swarms are read");
    let class = FaultClass::ServerStall;
    let scenario = scenario(class, &[recipe("redis-set-nx-get")], &swarms);
    // A script runs when the memory is full, and still when it is not any more.
    let stop = AtomicBool::new(false);
    let seen = measure(&scenario, &scenario.cases[0], class, 39..40, &stop);
    assert_eq!(seen.expect("nothing stops it").findings, []);
}

#[test]
fn every_promise_has_a_word() {
    for invariant in picklock_checker::INVARIANTS {
        assert!(
            Word::of(invariant.name, false).is_some(),
            "{}",
            invariant.name
        );
    }
}
