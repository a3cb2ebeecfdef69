use std::sync::atomic::AtomicBool;

use picklock_checker::invariants;
use picklock_sim::plan::{Deployment, Fault, FaultKind};
use picklock_sim::simulate;

use super::*;
use crate::scenario::{Case, Catalogue};
use crate::shrink::struck::TargetRole;
use crate::shrink::violation::violation;
use crate::shrink::{Budget, SearchLimit, Shrunk, shrink};
use crate::{BUILT_IN, parse};

fn case(scenario: &str, case: &str) -> Case {
    let (name, text) = BUILT_IN.iter().find(|(name, _)| *name == scenario).unwrap();
    let parsed = parse(name, text, &Catalogue::EVERYTHING);
    let parsed = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    parsed
        .cases
        .into_iter()
        .find(|found| found.name == case)
        .unwrap()
}

fn first_case(text: &str) -> Case {
    let parsed = parse("it", text, &Catalogue::EVERYTHING);
    let mut parsed = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    parsed.cases.swap_remove(0)
}

/// How seed 0 of a case breaks a promise.
fn mechanism(case: &Case, invariant: &str) -> Option<Mechanism> {
    let simulated = simulate(&case.plan, 0);
    let witness = violation(invariants::find(invariant).unwrap(), false, &simulated)?;
    Some(Mechanism::of(&case.plan, &simulated, &witness))
}

fn shrunk(case: &Case, invariant: &str) -> Shrunk {
    shrunk_of(case, 0, invariant)
}

fn shrunk_of(case: &Case, seed: u64, invariant: &str) -> Shrunk {
    let stop = AtomicBool::new(false);
    let invariant = invariants::find(invariant).unwrap();
    let watch = SearchLimit::until(&stop);
    shrink(case, seed, invariant, Budget::default(), &watch).unwrap()
}

fn retries(plan: &Plan) -> u32 {
    plan.service
        .get::<Deployment>()
        .map_or(0, |deployment| deployment.retries)
}

#[test]
fn an_overlap_is_measured_by_the_latency_and_by_the_lease() {
    let ms = Duration::from_millis;
    let of = |overlap| Extent::of(ms(overlap), ms(5), ms(10_000));
    assert_eq!([of(1), of(100)], [Extent::Messages; 2]);
    assert_eq!([of(101), of(999)], [Extent::Short; 2]);
    assert_eq!([of(1_000), of(9_999)], [Extent::Long; 2]);
    assert_eq!([of(10_000), of(30_000)], [Extent::Lease; 2]);
    // Where a lease is as short as a few messages, an overlap as long as it is no matter of messages.
    assert_eq!(Extent::of(ms(50), ms(5), ms(40)), Extent::Lease);
}

#[test]
fn a_wait_that_ends_by_time_is_none_that_never_ends() {
    let text = |gives_up: &str| {
        format!(
            "[workload]\ncontenders = 3\nhold = \"10s\"\nprogress-bound = \"12s\"\n{gives_up}\n\
             [[fault]]\nwhen.acquired = {{ by = \"contender-1\" }}\n\
             inject.pause = {{ target = \"contender-1\", for = \"1h\" }}\n\
             [[case]]\nalgorithm = \"zk-persistent\"\n"
        )
    };
    let turns = |gives_up: &str| {
        let mechanism = mechanism(&first_case(&text(gives_up)), "progress");
        mechanism.expect("a violation of progress").turns
    };
    assert!(!turns("").contains(&TurningPoint::TimedOut));
    assert!(turns("acquire-timeout = \"1s\"").contains(&TurningPoint::TimedOut));
}

#[test]
fn a_failover_by_sentinels_is_not_shrunk_to_a_primary_that_restarts_empty() {
    let case = case("redis/sentinel-failover", "redis-compare-and-delete");
    let promoted = TurningPoint::Server(ServerChange::Promoted);
    let original = mechanism(&case, "mutual-exclusion").unwrap();
    assert!(original.turns.contains(&promoted), "{original:?}");

    // What it was shrunk to when only the argument had to be the same.
    let mut traded = case.clone();
    traded.plan.faults.drain(..2);
    traded.plan.faults[0].inject = Fault::CrashServer {
        target: picklock_sim::plan::ServerName::Number(0),
        restart_after: Some(Duration::from_millis(5)),
    };
    let other = mechanism(&traded, "mutual-exclusion").unwrap();
    assert_eq!(other.argument, original.argument);
    assert!(!other.is(&original, false), "{other:?}");

    let shrunk = shrunk(&case, "mutual-exclusion");
    let until = shrunk.witness.at;
    let mut events = shrunk.simulated.run.history.events.iter();
    let promotion = events.find(|event| {
        let to = ServerChange::Promoted;
        matches!(event.what, EventKind::ServerChanged { to: change, .. } if change == to)
    });
    assert!(promotion.is_some_and(|event| event.at <= until));
    let kinds = |mechanism: &Mechanism| mechanism.faults.iter().map(|struck| struck.kind).collect();
    let kinds: BTreeSet<FaultKind> = kinds(&shrunk.mechanism);
    assert_eq!(kinds, [FaultKind::CrashServer, FaultKind::HoldLink].into());
}

#[test]
fn an_overlap_of_seconds_is_not_shrunk_to_one_of_message_latencies() {
    for (scenario, algorithm) in [
        ("redis/clock-jump", "redis-compare-and-delete"),
        ("redis/eviction", "redis-compare-and-delete"),
        ("redis/failover", "redis-compare-and-delete"),
        ("redis/restart", "redis-compare-and-delete"),
    ] {
        let case = case(scenario, algorithm);
        let simulated = simulate(&case.plan, 0);
        let invariant = invariants::find("mutual-exclusion").unwrap();
        let before = violation(invariant, false, &simulated)
            .unwrap()
            .overlap
            .unwrap();
        let shrunk = shrunk(&case, "mutual-exclusion");
        let after = shrunk.witness.overlap.unwrap();
        let (latency, lease) = (
            shrunk.plan.network.client_latency.1,
            shrunk.simulated.run.facts.lease,
        );
        assert!(before > Duration::from_secs(1), "{scenario}: {before:?}");
        assert!(after > latency * LATENCIES, "{scenario}: {after:?}");
        let small = |overlap, lease| overlap < lease / 10;
        assert_eq!(
            small(after, lease),
            small(before, simulated.run.facts.lease),
            "{scenario}: {before:?} to {after:?}"
        );
    }
}

#[test]
fn a_request_that_a_client_library_repeats_is_still_repeated_and_its_retries_stay() {
    for (scenario, algorithm, invariant) in [
        (
            "redis/hidden-retry",
            "redis-set-nx-px-del",
            "mutual-exclusion",
        ),
        (
            "redis/hidden-retry",
            "redis-set-nx-px-del",
            "own-release-only",
        ),
        (
            "redis/watch-retries",
            "redis-watch-exec",
            "mutual-exclusion",
        ),
        (
            "redis/watch-retries",
            "redis-watch-exec",
            "own-release-only",
        ),
    ] {
        let case = case(scenario, algorithm);
        let original = mechanism(&case, invariant).unwrap();
        assert!(
            original.turns.contains(&TurningPoint::Resent),
            "{original:?}"
        );
        let shrunk = shrunk(&case, invariant);
        assert!(
            shrunk.mechanism.turns.contains(&TurningPoint::Resent),
            "{scenario}"
        );
        assert!(retries(&shrunk.plan) > 0, "{scenario} {invariant}");
    }
}

#[test]
fn the_target_of_a_fault_is_part_of_the_mechanism() {
    let of_waiter = mechanism(
        &case("zookeeper/waiter-death", "zk-no-recheck"),
        "mutual-exclusion",
    );
    let struck = |mechanism: Option<Mechanism>| mechanism.unwrap().faults;
    let of_waiter = struck(of_waiter);
    assert!(
        of_waiter
            .iter()
            .all(|struck| struck.role == TargetRole::Waiter),
        "{of_waiter:?}"
    );
    let of_holder = case("zookeeper/gc-pause", "zk-predecessor-watch-unfenced");
    let of_holder = struck(mechanism(&of_holder, "mutual-exclusion"));
    assert!(
        of_holder
            .iter()
            .all(|struck| struck.role == TargetRole::Holder),
        "{of_holder:?}"
    );
    let of_primary = case("redis/sentinel-failover", "redis-compare-and-delete");
    let of_primary = struck(mechanism(&of_primary, "mutual-exclusion"));
    let crash = of_primary
        .iter()
        .find(|struck| struck.kind == FaultKind::CrashServer);
    assert!(
        crash.is_some_and(|crash| crash.role == TargetRole::Primary),
        "{of_primary:?}"
    );
}

#[test]
fn faults_that_are_not_needed_go_and_those_that_are_stay() {
    let with = |kinds: &[FaultKind]| {
        let mut mechanism = mechanism(
            &case("zookeeper/waiter-death", "zk-no-recheck"),
            "mutual-exclusion",
        )
        .unwrap();
        let struck = |kind: &FaultKind| Struck {
            kind: *kind,
            role: TargetRole::Waiter,
            for_good: false,
        };
        mechanism.faults = kinds.iter().map(struck).collect();
        mechanism
    };
    let (both, one) = (
        with(&[FaultKind::Cut, FaultKind::Pause]),
        with(&[FaultKind::Cut]),
    );
    assert!(one.is(&both, false) && !one.is(&both, true));
    assert!(!both.is(&one, false) && both.is(&both, true));
}

#[test]
fn a_contender_asked_in_vain_is_asked_in_vain_in_the_shrunk_run() {
    let of_waiter = TurningPoint::Unheeded(TargetRole::Waiter);
    let of_holder = TurningPoint::Unheeded(TargetRole::Holder);
    for (scenario, algorithm, unheeded) in [
        (
            "revoked-early",
            "zk-revocable-shared-locks-no-look",
            vec![of_waiter],
        ),
        (
            "revoked-twice",
            "curator-mutex-revocable-once",
            vec![of_holder, of_waiter],
        ),
    ] {
        let case = case(&format!("zookeeper/{scenario}"), algorithm);
        let shrunk = shrunk(&case, "progress");
        let turns = &shrunk.mechanism.turns;
        let kept: Vec<TurningPoint> = turns
            .iter()
            .copied()
            .filter(|turn| matches!(turn, TurningPoint::Unheeded(_)))
            .collect();
        assert_eq!(kept, unheeded, "{scenario}");
        assert_eq!(shrunk.plan.faults.len(), unheeded.len(), "{scenario}");
    }
}

#[test]
fn a_wait_behind_another_is_not_shrunk_to_one_behind_its_own() {
    let text = "[workload]\ncontenders = 8\nrounds = 3\nacquire-timeout = \"30ms\"\nhold = \"20ms\"\n\
                [[case]]\nalgorithm = \"zk-hardened\"\n";
    let plan = &first_case(text).plan;
    let of = |seed: u64| {
        let simulated = simulate(plan, seed);
        let witness = violation(invariants::find("progress").unwrap(), false, &simulated);
        let witness = witness.expect("a violation of progress");
        (Mechanism::of(plan, &simulated, &witness), witness.summary)
    };
    let (behind_another, summary) = of(0);
    assert!(summary.ends_with("blocks it"), "{summary}");
    let (behind_own, summary) = of(27);
    assert!(summary.ends_with("waits: it does not know"), "{summary}");
    // Nothing else tells the two apart.
    let but_for_that = Mechanism {
        behind_own: behind_another.behind_own,
        ..behind_own.clone()
    };
    assert!(but_for_that.is(&behind_another, true));
    assert!(!behind_own.is(&behind_another, false) && !behind_another.is(&behind_own, false));
}

#[test]
fn a_leader_that_crashes_is_not_shrunk_to_a_server_that_stands_alone() {
    let case = first_case(
        "[service.zookeeper]\nservers = 3\nsession-timeout = \"6s\"\n\
         [workload]\ncontenders = 3\narrive = \"in-order\"\nhold = \"500ms\"\n[[fault]]\n\
         when.applied = { request = \"create\", by = \"contender-2\", at = \"leader\" }\n\
         inject.crash-server = { target = \"leader\", restart-after = \"1s\" }\n\
         [[case]]\nalgorithm = \"zk-no-guid\"\n",
    );
    let small = shrunk(&case, "progress");
    assert_eq!(small.plan.service.voters(), 3);
    assert_eq!(small.plan.faults.len(), 1);
    // Where no server is struck, one shows it as well.
    let case = self::case("zookeeper/lost-create-reply", "zk-no-guid");
    assert_eq!(case.plan.service.voters(), 3);
    assert_eq!(shrunk(&case, "progress").plan.service.voters(), 1);
}

#[test]
fn a_semaphore_over_a_quorum_is_shrunk_to_one_over_a_quorum() {
    let mut case = case("zookeeper/semaphore-second-lease", "curator-semaphore");
    case.plan.workload.permits = Some(3);
    case.plan.workload.contenders = 4;
    let small = shrunk_of(&case, 6, "no-orphan");
    let left = &small.plan;
    assert_eq!((left.workload.permits(), left.service.voters()), (2, 3));
    assert_eq!(left.faults.len(), 1);
}

#[test]
fn a_livelock_by_time_outs_keeps_its_time_out() {
    let case = case("zookeeper/lock-order-livelock", "zk-hardened");
    let small = shrunk(&case, "progress");
    assert!(small.plan.workload.acquire_timeout.is_some());
    assert_eq!(small.plan.workload.locks_at_once, 2);
}
