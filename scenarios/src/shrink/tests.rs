mod exceptions;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use picklock_checker::{Verdict, invariants};
use picklock_sim::engine::Tape;
use picklock_sim::plan::{Ensemble, FaultDuration, FaultKind, Library, Plan, Share};
use picklock_sim::{simulate, simulate_with};
use proptest::prelude::*;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::search::read_back;
use super::structure::sections;
use super::violation::{is_excused, violation};
use super::*;
use crate::clock::Stopwatch;
use crate::reduced_plan::{with_contenders, without_fault};
use crate::scenario::{Catalogue, Recorded, RecordedRun, Scenario, Want};
use crate::{BUILT_IN, parse, write};
use exceptions::{MORE_CONTENDERS, MORE_FAULTS, MORE_OPERATIONS, MORE_WORK, number};

static NO_STOP: AtomicBool = AtomicBool::new(false);

fn library() -> Vec<Scenario> {
    let parsed = BUILT_IN
        .iter()
        .map(|(name, text)| parse(name, text, &Catalogue::EVERYTHING));
    let all: Result<Vec<Scenario>, _> = parsed.collect();
    all.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
}

fn find(scenario: &str, case: &str) -> (Scenario, Case) {
    let mut library = library().into_iter();
    let scenario = library.find(|found| found.name == scenario).unwrap();
    let case = scenario
        .cases
        .iter()
        .find(|found| found.name == case)
        .unwrap();
    (scenario.clone(), case.clone())
}

fn named(invariant: &str) -> &'static Invariant {
    invariants::find(invariant).unwrap()
}

/// The first seed that violates the promise, shrunk.
fn shrunk(case: &Case, invariant: &'static Invariant, within: u64) -> (u64, Shrunk) {
    let violates = |seed: &u64| {
        let case = case.settled(*seed);
        let looked_at = runner::wanted(&case, invariant.name).is_some();
        looked_at && violation(invariant, false, &simulate(&case.plan, *seed)).is_some()
    };
    let seed = (0..within).find(violates).unwrap();
    let shrunk = shrink(
        &case.settled(seed),
        seed,
        invariant,
        Budget::default(),
        &SearchLimit::until(&NO_STOP),
    );
    (seed, shrunk.unwrap())
}

fn violates(plan: &Plan, choices: &[u32], invariant: &Invariant) -> bool {
    let simulated = simulate_with(plan, Tape::recorded(choices.to_vec()));
    violation(invariant, false, &simulated).is_some()
}

fn case_of(plan: &Plan) -> Case {
    Case {
        name: plan.recipe.name.to_owned(),
        line: None,
        algorithm: plan.recipe,
        plan: plan.clone(),
        expectations: Vec::new(),
        sometimes: Vec::new(),
        measures: Vec::new(),
        open: None,
        drawn: false,
        recorded: None,
        saved: None,
        seeds_at_most: None,
    }
}

/// Takes each element away, alone: the violation must go with it, or at least become one of another mechanism, or take
/// longer to tell.
fn assert_minimal(shrunk: &Shrunk, breach: (&Invariant, bool), name: &str) {
    let (invariant, beyond_excuse) = breach;
    let Shrunk { plan, choices, .. } = shrunk;
    let violates = |plan: &Plan, choices: &[u32]| {
        let simulated = simulate_with(plan, Tape::recorded(choices.to_vec()));
        let Some(witness) = violation(invariant, beyond_excuse, &simulated) else {
            return false;
        };
        let size = Size::of(plan, choices, &simulated.run.history, witness.at);
        let mechanism = Mechanism::of(plan, &simulated, &witness);
        let fits = shrunk.from.may_become(&size, &shrunk.to);
        fits && mechanism.is(&shrunk.mechanism, true)
    };
    assert!(violates(plan, choices), "{name}");
    for fault in 0..plan.faults.len() {
        let (less, _) = without_fault(plan, fault);
        assert!(!violates(&less, choices), "{name}: fault {fault}");
    }
    for gone in (0..plan.workload.contenders).filter(|_| plan.workload.contenders > 1) {
        let less = with_contenders(plan, |index| index != gone);
        assert!(!violates(&less, choices), "{name}: contender {gone}");
    }
    if plan.workload.rounds > 1 {
        let mut less = plan.clone();
        less.workload.rounds -= 1;
        assert!(!violates(&less, choices), "{name}: rounds");
    }
    // Fewer writes and reads while the lock is held, where a file can say that.
    for change in sections(plan) {
        let can_be_said = read_back(&case_of(plan), &change.plan).is_some();
        let violates = can_be_said && violates(&change.plan, choices);
        assert!(!violates, "{name}: {}", change.what);
    }
    for (index, _) in choices
        .iter()
        .enumerate()
        .filter(|(_, choice)| **choice != 0)
    {
        let mut less = choices.clone();
        less[index] = 0;
        assert!(!violates(plan, &less), "{name}: choice {index}");
    }
}

/// A flaw that one lock shows is shown with one lock, and one that needs two keeps two.
#[test]
fn so_many_locks_are_left_as_the_violation_needs() {
    let promise = named("mutual-exclusion");
    let (_, mut case) = find("zookeeper/unsorted-children", "zk-unsorted");
    case.plan.workload.locks = 2;
    let (_, one) = shrunk(&case, promise, 100);
    assert_eq!(one.plan.workload.locks, 1);
    let (_, case) = find("zookeeper/one-path-for-all-locks", "zk-first-path");
    let (_, two) = shrunk(&case, promise, 1);
    assert_eq!(two.plan.workload.locks, 2);
}

/// A wrong count shows with two permits as with three, and with no more contenders than that takes; with one it would
/// be a mutex.
#[test]
fn so_many_permits_are_left_as_the_violation_needs() {
    let (_, mut case) = find("zookeeper/semaphore", "curator-semaphore-off-by-one");
    case.plan.workload.permits = Some(3);
    let (_, shrunk) = shrunk(&case, named("mutual-exclusion"), 1);
    let left = &shrunk.plan.workload;
    assert_eq!((left.permits, left.contenders), (Some(2), 3));
}

/// Go's connection renews its session whichever client it stands on.
#[test]
fn the_client_is_javas_where_the_violation_needs_no_other() {
    let (_, case) = find("zookeeper/go-session-renewed", "go-zookeeper-lock");
    assert_eq!(client_of(&case.plan), Some(Library::Go));
    let (_, shrunk) = shrunk(&case, named("mutual-exclusion"), 1);
    assert_eq!(client_of(&shrunk.plan), Some(Library::Java));
}

fn client_of(plan: &Plan) -> Option<Library> {
    Some(plan.service.get::<Ensemble>()?.library)
}

/// What strikes threads alone is shown with two threads that share what it needs, and what any two processes show is
/// shown with two processes.
#[test]
fn so_many_tasks_are_left_as_the_violation_needs_and_what_they_must_share() {
    let promise = named("mutual-exclusion");
    let (_, case) = find("zookeeper/shared-session", "zk-same-name");
    let (_, needed) = shrunk(&case, promise, 1);
    let left = &needed.plan.workload;
    assert_eq!((left.contenders, left.tasks_per_process), (2, 2));
    assert_eq!(left.share, Share::Session);
    let (_, mut case) = find("zookeeper/unsorted-children", "zk-unsorted");
    case.plan.workload.contenders = case.plan.workload.contenders.next_multiple_of(2);
    case.plan.workload.tasks_per_process = 2;
    case.plan.workload.share = Share::Session;
    let (_, alone) = shrunk(&case, promise, 100);
    let left = &alone.plan.workload;
    assert_eq!((left.tasks_per_process, left.share), (1, Share::Nothing));
}

/// What is violated by calls that are made again and again until the bound on progress, and how many these are: by the
/// How a run violates a promise, if it does.
fn mechanism(
    plan: &Plan,
    simulated: &Simulated,
    (invariant, beyond_excuse): (&Invariant, bool),
) -> Option<Mechanism> {
    let witness = violation(invariant, beyond_excuse, simulated)?;
    Some(Mechanism::of(plan, simulated, &witness))
}

/// Every violation that the library expects: a scenario's name, the case, the promise, and within how many seeds.
fn expected(library: &[Scenario]) -> Vec<(&str, &Case, &'static Invariant, u64)> {
    let cases = library.iter().flat_map(|scenario| {
        scenario
            .cases
            .iter()
            .map(move |case| (&*scenario.name, case))
    });
    let expected = cases.flat_map(|(name, case)| {
        let expectations = case.expectations.iter();
        expectations.filter_map(move |expectation| match expectation.want {
            Want::Violated { within_seeds, .. } => {
                Some((name, case, named(expectation.invariant), within_seeds))
            }
            Want::Holds
            | Want::Excused { .. }
            | Want::Undecided { .. }
            | Want::Unchecked { .. } => None,
        })
    });
    expected.collect()
}

/// The faults of a plan: of what kind, and whether nothing heals them.
fn lasting(plan: &Plan) -> BTreeSet<(FaultKind, bool)> {
    let faults = plan.faults.iter().map(|fault| &fault.inject);
    let lasting = faults.map(|fault| {
        (
            FaultKind::of(fault),
            fault.lasts() == Some(FaultDuration::ForGood),
        )
    });
    lasting.collect()
}

/// One in so many failures of the library is shrunk with every change; `.ci/deep` shrinks them all.
const SAMPLED: usize = 8;

#[test]
fn sampled_failures_shrink_to_what_fits_on_a_screen() {
    assert_shrink_to_a_screen(SAMPLED);
}

#[test]
#[ignore = "takes minutes of both cores"]
fn all_failures_shrink_to_what_fits_on_a_screen() {
    assert_shrink_to_a_screen(1);
}

/// Every `step`th failure of the library keeps its mechanism, and shrinks to what fits on a screen.
fn assert_shrink_to_a_screen(step: usize) {
    let library = library();
    let one = |(scenario, case, invariant, within): (&str, &Case, &'static Invariant, u64)| {
        let name = format!("{scenario} {} {}", case.name, invariant.name);
        let watch = Stopwatch::start();
        let (seed, shrunk) = shrunk(case, invariant, within);
        let took = watch.elapsed().as_millis();
        let (tried, sizes) = (shrunk.tried, shrunk.sizes());
        let events = shrunk.events;
        println!("{took:>6} ms {tried:>5} runs {events:>9} events  {name}: {sizes}");
        let to = shrunk.to;
        let most = number(&MORE_FAULTS, &name, 3);
        let operations = number(MORE_OPERATIONS, &name, 12);
        let contenders = number(&MORE_CONTENDERS, &name, 3);
        let fits = to.contenders <= contenders && to.faults <= most && to.operations <= operations;
        let is_cut = MORE_WORK.iter().any(|(of, _)| name == *of);
        let too_large = (!fits && !is_cut).then(|| format!("{name} {to:?}"));
        assert!(
            shrunk.from == to || shrunk.from.is_more_than(&to),
            "{name} {to:?}"
        );
        assert_eq!(shrunk.cut.is_some(), is_cut, "{name}");
        let case = case.settled(seed);
        let simulated = simulate(&case.plan, seed);
        let excused = is_excused(&case.plan, invariant);
        let beyond_excuse = excused && violation(invariant, true, &simulated).is_some();
        let breach = (invariant, beyond_excuse);
        let original = mechanism(&case.plan, &simulated, breach);
        let left = mechanism(&shrunk.plan, &shrunk.simulated, breach);
        let (original, left) = (
            original.expect("it violates it"),
            left.expect("it does, too"),
        );
        assert!(left.is(&original, false), "{name}: {original:?} {left:?}");
        assert!(
            lasting(&shrunk.plan).is_subset(&lasting(&case.plan)),
            "{name}"
        );
        if !is_cut {
            assert_minimal(&shrunk, breach, &name);
        }
        (took, too_large)
    };
    let sampled: Vec<_> = expected(&library).into_iter().step_by(step).collect();
    let done: Vec<_> = sampled.into_par_iter().map(one).collect();
    let too_large: Vec<_> = done
        .iter()
        .filter_map(|(_, large)| large.as_ref())
        .collect();
    assert!(too_large.is_empty(), "{too_large:#?}");
    let mut times: Vec<u128> = done.into_iter().map(|(took, _)| took).collect();
    times.sort_unstable();
    // Only told: what a machine is fast enough for is no property of picklock.
    println!("median {} ms of {}", times[times.len() / 2], times.len());
}

#[test]
fn the_same_run_always_shrinks_to_the_same() {
    let (_, case) = find("zookeeper/unsorted-children", "zk-unsorted");
    let invariant = named("honest-answer");
    let (_, first) = shrunk(&case, invariant, 10);
    let (_, second) = shrunk(&case, invariant, 10);
    assert_eq!(first.steps, second.steps);
    assert_eq!(first.choices, second.choices);
    assert_eq!(first.simulated.hash, second.simulated.hash);
    assert_eq!(first.tried, second.tried);
}

#[test]
fn a_run_that_holds_is_not_shrunk() {
    let (_, case) = find("zookeeper/waiter-death", "zk-hardened");
    let invariant = named("mutual-exclusion");
    assert!(
        shrink(
            &case,
            0,
            invariant,
            Budget::default(),
            &SearchLimit::until(&NO_STOP)
        )
        .is_none()
    );
}

#[test]
fn without_a_budget_a_run_stays_as_it_is_and_says_so() {
    let (_, case) = find("zookeeper/waiter-death", "zk-no-recheck");
    let invariant = named("mutual-exclusion");
    let stopped = AtomicBool::new(true);
    let nothing = Budget {
        runs: 1,
        ..Budget::default()
    };
    for (budget, stop) in [(nothing, &NO_STOP), (Budget::default(), &stopped)] {
        let shrunk = shrink(&case, 0, invariant, budget, &SearchLimit::until(stop)).unwrap();
        assert!(shrunk.cut.is_some());
        assert_eq!((shrunk.from, shrunk.tried), (shrunk.to, 1));
    }
}

#[test]
fn names_made_of_a_tape_that_has_run_out_are_not_the_same() {
    // Two contenders of one name would each take the other's node for their own.
    let (_, case) = find("zookeeper/waiter-death", "zk-hardened");
    for invariant in invariants::INVARIANTS {
        assert!(!violates(&case.plan, &[], invariant), "{}", invariant.name);
    }
}

#[test]
fn a_reproduction_reads_back_and_is_the_same_run() {
    for (scenario, case, invariant, within) in [
        (
            "zookeeper/waiter-death",
            "zk-no-recheck",
            "mutual-exclusion",
            1,
        ),
        (
            "zookeeper/unsorted-children",
            "zk-unsorted",
            "fencing-monotonic",
            50,
        ),
        (
            "zookeeper/gc-pause",
            "zk-hardened-unfenced",
            "no-stale-effect",
            1,
        ),
        ("zookeeper/lost-create-reply", "zk-no-guid", "progress", 1),
    ] {
        let (scenario, case) = find(scenario, case);
        let (seed, shrunk) = shrunk(&case, named(invariant), within);
        let saved = reproduction(&scenario, &case, seed, &shrunk);
        let text = write(&saved, &saved.cases[0]);
        let again = parse(&saved.name, &text, &Catalogue::EVERYTHING);
        let mut again = again.unwrap_or_else(|mistakes| panic!("{}\n{text}", mistakes[0]));
        assert_eq!(again.source, saved.source);
        let case = again.cases.remove(0);
        let simulated = runner::simulated(&case, 0);
        assert_eq!(simulated.hash, shrunk.simulated.hash);
        assert_eq!(
            case.recorded
                .as_ref()
                .and_then(|recorded| recorded.was.hash),
            Some(simulated.hash)
        );
        let outcome = runner::judge(&case, 0, &simulated);
        assert_eq!(outcome.vacuous, None);
        for (name, verdict) in outcome.verdicts {
            let as_recorded = match runner::wanted(&case, name) {
                Some(Want::Violated { .. }) => verdict.witness().is_some(),
                Some(Want::Undecided { .. }) => matches!(verdict, Verdict::Undecided(_)),
                _ => false,
            };
            assert!(as_recorded, "{name}: {verdict:?}");
        }
        assert!(matches!(
            runner::wanted(&case, invariant),
            Some(Want::Violated { .. })
        ));
    }
}

#[test]
fn a_reproduction_shrinks_no_further() {
    let (scenario, case) = find("zookeeper/unsorted-children", "zk-unsorted");
    let invariant = named("honest-answer");
    let (seed, once) = shrunk(&case, invariant, 10);
    let mut saved = reproduction(&scenario, &case, seed, &once);
    let case = saved.cases.remove(0);
    let twice = shrink(
        &case,
        0,
        invariant,
        Budget::default(),
        &SearchLimit::until(&NO_STOP),
    )
    .unwrap();
    assert_eq!(twice.steps, Vec::<String>::new());
    assert_eq!(twice.choices, once.choices);
}

#[test]
fn a_recorded_run_is_the_same_with_every_seed() {
    let (_, mut case) = find("zookeeper/waiter-death", "zk-no-recheck");
    case.recorded = Some(Recorded {
        choices: vec![7, 5, 3],
        was: RecordedRun::default(),
    });
    let hashes = [0, 1, 99].map(|seed| runner::simulated(&case, seed).hash);
    assert_eq!(hashes, [hashes[0]; 3]);
}

#[test]
fn a_file_name_is_harmless() {
    let (mut scenario, case) = find("zookeeper/waiter-death", "zk-no-recheck");
    let name = file_name(&scenario, &case, "fifo");
    assert_eq!(name, "waiter-death-zk-no-recheck-fifo");
    scenario.name = "../.. a\u{7}b\\c".to_owned();
    let name = file_name(&scenario, &case, "fifo");
    assert_eq!(name, "a-b-c-zk-no-recheck-fifo");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_seed_what_is_left_is_smaller_and_violates_the_same(
        seed in any::<u64>(),
        which in 0_usize..3,
    ) {
        let (scenario, case, invariant) = [
            ("zookeeper/unsorted-children", "zk-unsorted", "mutual-exclusion"),
            ("zookeeper/read-then-write", "zk-read-then-write", "own-release-only"),
            ("zookeeper/isolated-follower", "zk-hardened", "mutual-exclusion"),
        ][which];
        let (_, case) = find(scenario, case);
        let invariant = named(invariant);
        let shrunk = shrink(&case, seed, invariant, Budget::default(), &SearchLimit::until(&NO_STOP));
        let holds = violation(invariant, false, &simulate(&case.plan, seed)).is_none();
        prop_assert_eq!(shrunk.is_none(), holds);
        if let Some(shrunk) = shrunk {
            let Size { contenders, faults, choices, .. } = shrunk.from;
            prop_assert!(shrunk.to.contenders <= contenders && shrunk.to.faults <= faults);
            prop_assert!(shrunk.to.choices <= choices);
            assert_minimal(&shrunk, (invariant, false), &format!("{} seed {seed}", case.name));
        }
    }
}

#[test]
fn a_semaphore_stays_one_and_a_majority_one_of_several() {
    let least = |scenario: &str, case: &str| {
        let (_, case) = find(scenario, case);
        let mut plan = case.settled(0).plan.clone();
        plan.workload.permits = Some(4);
        let changes = super::structure::counts(&plan);
        let permits = changes.iter().map(|change| change.plan.workload.permits());
        let changes = super::structure::services(&plan);
        let servers = changes.iter().map(|change| change.plan.service.voters());
        (permits.min(), servers.min())
    };
    assert_eq!(
        least("redis/redlock-split-vote", "redlock"),
        (Some(2), Some(3))
    );
    let ensemble = least("zookeeper/waiter-death", "zk-no-recheck");
    assert_eq!(ensemble, (Some(2), Some(1)));
}
