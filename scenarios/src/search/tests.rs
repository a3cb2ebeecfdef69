use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use picklock_checker::{Evidence, Nearness};
use picklock_sim::engine::Tape;
use picklock_sim::plan::{ContenderName, Direction, Fault, FaultKind, Plan, PlannedFault, Trigger};
use picklock_sim::{SeenMoment, Simulated, simulate, simulate_seen};

use super::candidate::Candidate;
use super::detection_rate::{self, Effort, measure};
use super::hunt::{BATCH, Bounds, Hunted, hunt};
use super::near_miss::Nearer;
use super::next_run::NextRun;
use super::portfolio::SearchStrategy;
use super::profile::Profile;
use super::strategies::{Aimed, BasePlan};
use super::targeted::{self, CandidatePlans, TryOrder};
use crate::describe;
use crate::library::BUILT_IN;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::{Case, Catalogue};

/// A case of the library.
pub(super) fn case(scenario: &str, name: &str) -> Case {
    let (_, text) = BUILT_IN
        .iter()
        .find(|(known, _)| *known == scenario)
        .unwrap();
    let parsed = crate::parse(scenario, text, &Catalogue::EVERYTHING);
    let scenario = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let mut cases = scenario.cases.into_iter();
    cases.find(|case| case.name == name).unwrap()
}

/// All that there is to try in a world, the most promising first.
pub(super) fn all_shots(plan: &Plan, seen: &[SeenMoment], kinds: &[FaultKind]) -> Vec<Candidate> {
    targeted::shots(&Profile::of(plan, seen), kinds, usize::MAX).plans
}

/// What is aimed at in the calm world of a case: the triggers of the first faults, the most promising first.
fn aimed(scenario: &str, name: &str, kind: FaultKind) -> Vec<Trigger> {
    let calm = targeted::calm(&case(scenario, name).plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let plans = all_shots(&calm, &seen, &[kind]).into_iter();
    plans.map(|shot| shot.plan.faults[0].when.clone()).collect()
}

#[test]
fn the_most_promising_come_again_before_the_least_promising_come_at_all() {
    let plan = targeted::calm(&case("zookeeper/waiter-death", "zk-no-recheck").plan);
    let order = |plans| {
        let candidate = Candidate {
            plan: plan.clone(),
            depends_on_server: false,
            as_seen: false,
            elusive: false,
        };
        let shots = CandidatePlans {
            plans: vec![candidate; plans],
            sample: 8,
        };
        let mut order = TryOrder::of(&shots);
        std::iter::from_fn(|| order.next(|most| plans.min(most))).collect::<Vec<_>>()
    };
    let expected: Vec<usize> = (0..8).chain(0..16).chain(0..20).collect();
    assert_eq!(order(20), expected);
    assert_eq!(order(3), [0, 1, 2]);
    assert_eq!(order(0), [0; 0]);
    let mut once = TryOrder::once(2);
    assert_eq!([once.next(|_| 3), once.next(|_| 3)], [Some(2), None]);
}

#[test]
fn of_several_holders_the_one_with_the_most_waiters_comes_first() {
    let triggers = aimed(
        "zookeeper/lost-delete-reply",
        "zk-blind-unlock",
        FaultKind::LoseReply,
    );
    let first_delete = triggers.iter().position(|trigger| {
        matches!(trigger, Trigger::Sent { by, request, .. }
            if *by == ContenderName(0) && format!("{request:?}") == "Delete")
    });
    assert!(first_delete.is_some_and(|index| index < 2), "{triggers:?}");
}

#[test]
fn the_death_of_a_waiter_without_a_queue_is_tried_late() {
    let triggers = aimed(
        "redis/holder-crash",
        "redisson-message-only",
        FaultKind::Crash,
    );
    let first = |wanted: fn(&Trigger) -> bool| triggers.iter().position(wanted);
    let holder = first(|trigger| matches!(trigger, Trigger::Acquired { .. }));
    let waiter = first(|trigger| matches!(trigger, Trigger::Waiting { .. }));
    assert!(holder < waiter, "{triggers:?}");
}

#[test]
fn a_primary_whose_stream_stands_still_dies_when_it_has_given_the_lock_away() {
    let calm = targeted::calm(&case("redis/failover", "redis-compare-and-delete").plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let kinds = [
        FaultKind::HoldLink,
        FaultKind::CrashServer,
        FaultKind::Promote,
    ];
    let shots = all_shots(&calm, &seen, &kinds);
    let whens: Vec<&Trigger> = shots[0]
        .plan
        .faults
        .iter()
        .map(|fault| &fault.when)
        .collect();
    let dies = matches!(whens[1], Trigger::Acquired { by, .. } if *by == ContenderName(0));
    assert!(dies, "{whens:?}");
    assert!(matches!(whens[2], Trigger::Fired { fault: 1 }), "{whens:?}");
}

#[test]
fn what_bites_when_a_session_ends_is_tried_while_the_hold_lasts() {
    let triggers = aimed(
        "zookeeper/isolated-follower",
        "zk-hardened",
        FaultKind::IsolateServer,
    );
    let writing = triggers
        .iter()
        .position(|trigger| matches!(trigger, Trigger::Writing { .. }));
    let acquired = triggers
        .iter()
        .filter(|trigger| matches!(trigger, Trigger::Acquired { .. }));
    assert_eq!(acquired.count(), 4);
    assert!(writing.is_none_or(|index| index >= 4), "{triggers:?}");
}

fn nearness(simulated: &Simulated) -> Nearness {
    Nearness::of(&Evidence::of(&simulated.run))
}

/// The world of `holder-expiry` with a black hole around the first holder for so long.
fn cut_off_for(length: Duration) -> Plan {
    let mut plan = targeted::calm(&case("zookeeper/holder-expiry", "zk-predecessor-watch").plan);
    let inject = Fault::BlackHole {
        target: ContenderName(0),
        direction: Direction::Both,
        length: length.into(),
    };
    plan.faults.push(PlannedFault {
        when: Trigger::Acquired {
            by: ContenderName(0),
            nth: 1,
        },
        after: Duration::ZERO,
        repeat: None,
        text: describe::fault(&inject),
        inject,
    });
    plan
}

#[test]
fn a_near_miss_leads_to_an_overlap() {
    let plan = cut_off_for(Duration::from_secs(5));
    let missed = nearness(&simulate(&plan, 0));
    let near = missed.miss().expect("a session that nearly ended");
    let mut nearer = Nearer::default();
    nearer.learn(&plan, near);
    let runs = std::iter::from_fn(|| nearer.next(0))
        .map(NextRun::run)
        .take(8);
    let overlaps = |simulated: &Simulated| {
        let mut found = nearness(simulated).found();
        found.any(|(name, near)| name == "between-holds" && near.distance.is_zero())
    };
    assert!(runs.into_iter().any(|(_, simulated)| overlaps(&simulated)));
}

#[test]
fn the_nearest_miss_is_followed_first_and_only_once() {
    let mut nearer = Nearer::default();
    assert!(nearer.next(0).is_none());
    for millis in [4_300, 5_000, 4_600] {
        let plan = cut_off_for(Duration::from_millis(millis));
        let near = nearness(&simulate(&plan, 0)).miss().unwrap();
        nearer.learn(&plan, near);
        nearer.learn(&plan, near);
    }
    let longest = |plan: &Plan| {
        let Fault::BlackHole { length, .. } = plan.faults[0].inject else {
            panic!("another fault");
        };
        length.duration().expect("it ends")
    };
    let plans: Vec<Plan> = std::iter::from_fn(|| nearer.next(0))
        .map(|turn| turn.run().0)
        .collect();
    let twice = Duration::from_secs(10);
    let first: Vec<Duration> = plans[..6].iter().map(longest).collect();
    assert!(first.contains(&twice), "{first:?}");
    assert_eq!(
        plans.iter().filter(|plan| longest(plan) == twice).count(),
        1
    );
    assert_eq!(plans.len(), 3 * 6);
}

fn hunted(ways: &[SearchStrategy], runs: u64) -> Hunted {
    let case = case("zookeeper/waiter-death", "zk-no-recheck");
    let with = (FaultKind::ALL, ways);
    let stop = AtomicBool::new(false);
    hunt(&case, with, 0, Bounds::runs(runs), &stop, &|| ())
}

#[test]
fn a_hunt_reports_each_run_when_it_is_done() {
    let case = case("zookeeper/waiter-death", "zk-hardened");
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let with = (FaultKind::ALL, &SearchStrategy::ALL[..]);
    let hunted = hunt(&case, with, 0, Bounds::runs(40), &stop, &|| {
        done.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!((hunted.runs, done.into_inner()), (40, 40));
}

#[test]
fn ways_share_the_runs_and_each_says_what_it_found() {
    let hunted = hunted(&SearchStrategy::ALL, 200);
    let shares = &hunted.shares;
    assert_eq!(
        shares.iter().map(|share| share.runs).sum::<u64>(),
        hunted.runs
    );
    assert!(shares.iter().all(|share| share.runs > 0), "{shares:?}");
    let found: usize = shares.iter().map(|share| share.found.len()).sum();
    assert_eq!(found, hunted.found.len());
    for quarry in &hunted.found {
        let share = shares.iter().find(|share| share.way == quarry.way).unwrap();
        assert!(share.found.contains(&quarry.invariant));
    }
}

#[test]
fn a_hunt_finds_the_same_again_in_the_same_ways() {
    let once = hunted(&SearchStrategy::ALL, 120);
    let again = hunted(&SearchStrategy::ALL, 120);
    assert_eq!(once.shares, again.shares);
    let told = |hunted: &Hunted| -> Vec<_> {
        let found = hunted.found.iter();
        found
            .map(|found| (found.invariant, found.after, found.choices.clone()))
            .collect()
    };
    assert_eq!(told(&once), told(&again));
}

#[test]
fn what_a_hunt_finds_does_not_depend_on_the_number_of_threads() {
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let hunted = pool.unwrap().install(|| hunted(&SearchStrategy::ALL, 300));
        let found = hunted.found.into_iter();
        let found = found.map(|found| (found.invariant, found.after, found.way, found.choices));
        (hunted.runs, hunted.shares, found.collect::<Vec<_>>())
    };
    let alone = of(1);
    assert!(!alone.2.is_empty());
    assert_eq!(alone, of(4));
}

#[test]
fn a_hunt_runs_as_often_as_it_may() {
    for runs in [1, BATCH - 1, BATCH, BATCH + 1] {
        assert_eq!(hunted(&[SearchStrategy::Nearer], runs).runs, runs);
    }
}

#[test]
fn without_anything_to_go_on_from_the_search_aims() {
    let hunted = hunted(&[SearchStrategy::Nearer], 20);
    let aimed = hunted
        .shares
        .iter()
        .find(|share| share.way == SearchStrategy::Aimed);
    assert!(aimed.is_some_and(|share| share.runs > 0));
}

/// After how many runs each violation that a case expects is found from 99 of 100 bases, aimed.
fn found_after(text: &str) -> Vec<(&'static str, Option<u64>)> {
    let parsed = crate::parse("fresh", text, &Catalogue::EVERYTHING);
    let scenario = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let (bases, limit) = (20, 5);
    let yields = measure(
        &scenario.cases[0],
        detection_rate::PlanSource::Aimed,
        Effort { bases, limit },
    );
    let found = yields.iter();
    found
        .map(|found| (found.invariant, found.percentile(99)))
        .collect()
}

/// Other pairs of recipes and faults than those of the library, and other times. The first two were found as they
/// stand; the third took nine runs at first, and taught that a cut between two changes is as bad as a lost answer.
#[test]
fn five_runs_are_enough_in_worlds_that_are_not_in_the_library() {
    let worlds = [
        (
            "redis-set-nx-px-del",
            "delay-request = { target = \"contender-1\", by = \"3s\" }",
            "sent",
            "own-release-only",
        ),
        (
            "redis-get-compare-del",
            "pause = { target = \"contender-1\", for = \"9s\" }",
            "answered",
            "own-release-only",
        ),
        (
            "redis-setnx-expire",
            "cut = { target = \"contender-1\" }",
            "committed",
            "progress",
        ),
    ];
    for (recipe, fault, way, violated) in worlds {
        let request = if recipe == "redis-setnx-expire" {
            "setnx"
        } else {
            "del"
        };
        let text = format!(
            "claim = \"Fresh.\"\nbecause = \"Fresh.\"\nsource = \"Fresh\"\n\
             [service.redis]\nlease = \"7s\"\ntimeout = \"30s\"\n\
             [workload]\ncontenders = 4\narrive = \"in-order\"\nhold = \"3s\"\nsection = \"nothing\"\n\
             [[fault]]\nwhen.{way} = {{ request = \"{request}\", by = \"contender-1\" }}\ninject.{fault}\n\
             [[case]]\nalgorithm = \"{recipe}\"\n\
             expect.{violated}.violated = {{ because = \"fresh\", within-seeds = 1 }}\n"
        );
        let found = found_after(&text);
        assert!(
            found.iter().all(|(_, runs)| runs.is_some()),
            "{recipe}: {found:?}"
        );
    }
}

/// What is tried first with faults of these kinds in the calm world of a case, as sentences.
pub(super) fn told(scenario: &str, name: &str, kinds: &[FaultKind]) -> Vec<Vec<String>> {
    let calm = targeted::calm(&case(scenario, name).plan);
    let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
    let plans = all_shots(&calm, &seen, kinds).into_iter();
    let tell = |shot: Candidate| shot.plan.faults.iter().map(describe::planned).collect();
    plans.map(tell).collect()
}

#[test]
fn the_one_to_try_of_a_kind_is_the_first_of_all() {
    let worlds = [
        ("zookeeper/waiter-death", "zk-no-recheck"),
        ("redis/look-then-delete", "redis-get-compare-del"),
    ];
    for (scenario, name) in worlds {
        let calm = targeted::calm(&case(scenario, name).plan);
        let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
        for kind in FaultKind::tried_in(&calm, FaultKind::ALL) {
            let all = all_shots(&calm, &seen, &[kind]);
            let one = targeted::shot(&calm, &seen, kind, 0);
            let faults = |shot: &Candidate| shot.plan.faults.clone();
            assert_eq!(one.as_ref().map(faults), all.first().map(faults));
            let again = targeted::shot(&calm, &seen, kind, all.len());
            assert_eq!(again.as_ref().map(faults), all.first().map(faults));
        }
    }
}

#[test]
fn where_a_replica_lags_the_primary_dies_with_the_other_one() {
    let kinds = [FaultKind::HoldLink, FaultKind::CrashServer];
    let tried = told("redis/sentinel-wait-one-of-two", "redis-wait", &kinds);
    let [held, other, primary] = &tried[1][..] else {
        panic!("{:?}", tried[1]);
    };
    assert!(
        held.starts_with("hold-link from server-1 to server-2"),
        "{held}"
    );
    assert!(other.starts_with("crash-server server-3"), "{other}");
    assert!(primary.starts_with("crash-server server-1"), "{primary}");
}

#[test]
fn what_follows_a_hung_primary_waits_until_another_leads() {
    let kinds = [FaultKind::Cut, FaultKind::HangServer];
    let tried = told(
        "redis/sentinel-resumed-primary",
        "redis-compare-and-delete",
        &kinds,
    );
    let follows = tried.iter().take(4).filter_map(|faults| faults.get(1));
    let mut elected = follows.filter(|fault| fault.ends_with("when another server leads"));
    assert!(elected.next().is_some(), "{:?}", &tried[..4]);
    // Where no other server can lead, nothing waits for that.
    let tried = told("redis/restart", "redis-compare-and-delete", &kinds);
    let mut all = tried.iter().flatten();
    assert!(all.all(|fault| !fault.ends_with("when another server leads")));
}

#[test]
fn a_lost_request_is_followed_by_a_pause_into_the_next_section() {
    let kinds = [FaultKind::LoseRequest, FaultKind::Pause];
    let tried = told("redis/watch-retries", "redis-watch-exec", &kinds);
    let lasting = |faults: &Vec<String>| {
        let lost = faults[0].contains("sends a exec");
        lost && faults
            .get(1)
            .is_some_and(|pause| !pause.contains("for 15s"))
    };
    assert!(tried.iter().take(6).any(lasting), "{:?}", &tried[..6]);
}

/// Worlds of both services, with and without an ensemble, a queue, and a failover.
const WORLDS: [(&str, &str); 4] = [
    ("zookeeper/waiter-death", "zk-no-recheck"),
    ("redis/look-then-delete", "redis-get-compare-del"),
    ("redis/sentinel-resumed-primary", "redis-compare-and-delete"),
    ("redis/sentinel-wait-one-of-two", "redis-wait"),
];

#[test]
fn the_first_plans_to_try_are_the_same_however_many_are_made() {
    let three = [FaultKind::HangServer, FaultKind::Pause, FaultKind::Cut];
    for (scenario, name) in WORLDS {
        let calm = targeted::calm(&case(scenario, name).plan);
        let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
        let profile = Profile::of(&calm, &seen);
        for kinds in [FaultKind::tried_in(&calm, FaultKind::ALL), three.to_vec()] {
            let all = targeted::shots(&profile, &kinds, usize::MAX).plans;
            for most in [1, 2, 7, 50, 300, all.len(), all.len() + 1] {
                let first = targeted::shots(&profile, &kinds, most).plans;
                assert_eq!(first.len(), most.min(all.len()));
                let same = first.iter().zip(&all);
                assert!(
                    same.into_iter()
                        .all(|(one, all)| one.plan.faults == all.plan.faults),
                    "{most}"
                );
            }
        }
    }
}

#[test]
fn the_faults_that_teach_are_the_first_single_ones_of_each_kind() {
    for (scenario, name) in WORLDS {
        let calm = targeted::calm(&case(scenario, name).plan);
        let (_, seen) = simulate_seen(&calm, Tape::from_seed(0));
        let profile = Profile::of(&calm, &seen);
        for kind in FaultKind::tried_in(&calm, FaultKind::ALL) {
            let all = profile.aims(&[kind], usize::MAX).into_iter();
            let chains = all.map(|aim| profile.chain(&aim, &[kind]).faults);
            let single = chains.enumerate().filter(|(_, faults)| faults.len() == 1);
            let single: Vec<_> = single.take(16).collect();
            let found = profile.single_faults(kind, 16).into_iter();
            let found = found.map(|(place, aim)| (place, profile.chain(&aim, &[kind]).faults));
            assert_eq!(found.collect::<Vec<_>>(), single, "{scenario} {kind:?}");
        }
    }
}

#[test]
fn no_more_is_worked_out_than_is_soon_tried() {
    let plan = targeted::calm(&case("zookeeper/waiter-death", "zk-no-recheck").plan);
    let (_, seen) = simulate_seen(&plan, Tape::from_seed(0));
    let kinds = FaultKind::tried_in(&plan, FaultKind::ALL);
    let open = SampledParameters::default();
    let mut aimed = Aimed::new(
        BasePlan {
            plan: plan.clone(),
            open,
        },
        kinds.clone(),
    );
    let sample = kinds.len() * 2;
    for run in 0..=4 * sample {
        aimed.next(0);
        assert!(aimed.shots.len() <= 2 * (run + sample), "{run}");
    }
    assert!(all_shots(&plan, &seen, &kinds).len() > 8 * sample);
}

#[test]
fn a_hunt_that_is_stopped_begins_no_further_run() {
    let case = case("zookeeper/waiter-death", "zk-hardened");
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let with = (FaultKind::ALL, &SearchStrategy::ALL[..]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let hunted = pool.unwrap().install(|| {
        hunt(&case, with, 0, Bounds::runs(40), &stop, &|| {
            done.fetch_add(1, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
        })
    });
    assert_eq!(hunted.runs, 1);
    // What a second fault is aimed at had to run before.
    assert!(done.into_inner() <= 3);
}

#[test]
fn the_yield_of_every_way_can_be_measured() {
    let case = case("zookeeper/gc-pause", "zk-predecessor-watch-unfenced");
    let (bases, limit) = (3, 400);
    for way in detection_rate::PlanSource::ALL {
        let found = measure(&case, way, Effort { bases, limit });
        assert_eq!(found.len(), 2);
        for found in found {
            assert_eq!(found.found(), bases, "{} {}", way.name(), found.invariant);
        }
    }
}
