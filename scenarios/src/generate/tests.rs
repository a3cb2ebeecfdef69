use std::collections::BTreeSet;
use std::time::Duration;

use picklock_algorithms::registry;
use picklock_sim::engine::Tape;
use picklock_sim::plan::{
    Direction, Fault, FaultKind, LockCall, Plan, PlannedFault, Service, Share, Strategy, Trigger,
};
use picklock_sim::{simulate, simulate_with};

use crate::excuses::excuses;
use crate::runner::wanted;
use crate::scenario::{Case, Catalogue, Scenario};
use crate::search::detection_rate::{Effort, PlanSource};
use crate::search::knowledge::all_find;
use crate::{parse, write};

const OPEN: &str = r#"
claim = "Anything can happen."
because = "Nothing is settled."
source = "a test"
faults.any = { at-most = 4 }

[service.zookeeper]
servers = [1, 3, 5]

[network]
latency = ["200us..500us", "1ms..20ms"]
server-latency = ["200us", "1ms..3ms"]
chance = ["even", "extremes", { delays = 2 }, { priorities = 5 }]

[workload]
contenders = "2..6"
arrive = ["together", "in-order", "behind-holder", { within = "2s" }]
rounds = "1..3"
hold = "0s..3s"
think = ["0s", "10ms..1s"]
section = "count"

[[fault]]
when.acquired = { by = "contender-2" }
inject.cut = { target = "contender-2" }

[[case]]
algorithm = "zk-hardened"
"#;

fn read(text: &str) -> Scenario {
    let read = parse("drawn", text, &Catalogue::EVERYTHING);
    read.unwrap_or_else(|mistakes| panic!("{}\n{text}", mistakes[0]))
}

fn open() -> (Scenario, Case) {
    let scenario = read(OPEN);
    let case = scenario.cases[0].clone();
    (scenario, case)
}

#[test]
fn what_a_file_leaves_unchecked_stays_unchecked_under_faults_that_would_excuse_it() {
    let text = format!("{OPEN}expect.mutual-exclusion = \"unchecked\"\n");
    let case = read(&text).cases[0].clone();
    let settled: Vec<Case> = (0..200)
        .map(|seed| case.settled(seed).into_owned())
        .collect();
    let excusing = settled.iter().filter(|case| {
        let excuses = excuses(&case.plan, &case.plan.faults[1..]);
        excuses
            .iter()
            .any(|excuse| excuse.invariant == "mutual-exclusion")
    });
    assert!(excusing.count() > 0, "no plan excuses anything");
    for case in settled {
        assert_eq!(wanted(&case, "mutual-exclusion"), None);
    }
}

#[test]
fn each_seed_takes_one_client_of_a_list_and_draws_all_else_as_without() {
    let either = OPEN.replace(
        "servers = [1, 3, 5]",
        "servers = [1, 3, 5]\nclient = [\"go\", \"java\"]",
    );
    let (either, (_, java)) = (read(&either).cases[0].clone(), open());
    let mut drawn = BTreeSet::new();
    for seed in 0..100 {
        let mut drawn_plan = case_plan(&either, seed);
        let Service::ZooKeeper(ensemble) = &mut drawn_plan.service else {
            panic!("the service is ZooKeeper");
        };
        drawn.insert(std::mem::take(&mut ensemble.library).name());
        let plan = case_plan(&java, seed);
        assert_eq!(drawn_plan.service, plan.service, "seed {seed}");
        assert_eq!(drawn_plan.network, plan.network, "seed {seed}");
        assert_eq!(drawn_plan.workload, plan.workload, "seed {seed}");
    }
    assert_eq!(drawn, BTreeSet::from(["go", "java"]));
}

#[test]
fn an_event_thread_is_blocked_only_where_each_client_of_the_list_has_one() {
    let blocks = OPEN.replace(
        "inject.cut = { target = \"contender-2\" }",
        "inject.block-events = { target = \"contender-2\", for = \"1s\" }",
    );
    let reads = |clients: &str| {
        let servers = format!("servers = [1, 3, 5]\nclient = {clients}");
        let text = blocks.replace("servers = [1, 3, 5]", &servers);
        parse("drawn", &text, &Catalogue::EVERYTHING).is_ok()
    };
    assert!(reads("[\"java\", \"kazoo\"]"));
    assert!(!reads("[\"java\", \"go\"]"));
}

fn case_plan(case: &Case, seed: u64) -> Plan {
    case.settled(seed).plan.clone()
}

#[test]
fn a_drawn_plan_that_is_saved_is_the_same_plan() {
    let (scenario, case) = open();
    for seed in 0..2_000 {
        let drawn = case.settled(seed);
        let again = read(&write(&scenario, &drawn));
        // The text of a fault comes from the fault, and so does all that runs.
        assert_eq!(again.cases[0].plan.faults, drawn.plan.faults, "seed {seed}");
        assert_eq!(again.cases[0].plan.workload, drawn.plan.workload);
        assert_eq!(again.cases[0].plan.network, drawn.plan.network);
        assert_eq!(again.cases[0].plan.service, drawn.plan.service);
        assert_eq!(again.cases[0].plan.event_budget, drawn.plan.event_budget);
        assert!(again.cases[0].open.is_none());
    }
}

#[test]
fn a_saved_plan_shows_the_same_run_with_the_same_seed() {
    let (scenario, case) = open();
    for seed in 0..20 {
        let drawn = case.settled(seed);
        let again = read(&write(&scenario, &drawn));
        let hashes = [&drawn.plan, &again.cases[0].plan].map(|plan| simulate(plan, seed).hash);
        assert_eq!(hashes[0], hashes[1], "seed {seed}");
    }
}

#[test]
fn what_is_left_open_is_written_as_open() {
    let (scenario, case) = open();
    let again = read(&write(&scenario, &case));
    assert_eq!(again.cases[0].open, case.open);
    assert_eq!(again.cases[0].plan_for(7).faults, case.plan_for(7).faults);
}

#[test]
fn the_faults_of_the_file_stand_before_those_that_are_drawn() {
    let (_, case) = open();
    for seed in 0..500 {
        let drawn = case.plan_for(seed);
        assert_eq!(drawn.faults[0], case.plan.faults[0]);
        assert!(drawn.faults.len() <= 1 + 4, "seed {seed}");
    }
}

#[test]
fn every_kind_of_fault_is_drawn_and_no_other_than_asked_for() {
    let (_, mut case) = open();
    let has_swallowed = |kinds: &BTreeSet<FaultKind>| kinds.contains(&FaultKind::SwallowReply);
    let kinds = |case: &Case| {
        let mut kinds = BTreeSet::new();
        for seed in 0..2_000 {
            let faults = case.plan_for(seed).faults[1..].to_vec();
            kinds.extend(faults.iter().map(|fault| FaultKind::of(&fault.inject)));
        }
        kinds
    };
    // Without a timeout for requests, a client has no remedy for an answer that never comes; and a recipe that does not
    // read the wall clock does not mind its jumps.
    let without = kinds(&case);
    assert!(!has_swallowed(&without) && !without.contains(&FaultKind::ClockJump));
    if let Service::ZooKeeper(ensemble) = &mut case.plan.service {
        ensemble.request_timeout = Some(Duration::from_secs(2));
    }
    case.plan.recipe = *registry::find("curator-mutex").expect("an algorithm");
    case.plan.workload.acquire_timeout = Some(Duration::from_secs(5));
    let all = FaultKind::named_on(case.plan.service.kind()).map(|(_, kind)| kind);
    // No holder heeds a request for a lock that is not revocable.
    let unasked =
        all.filter(|kind| FaultKind::unasked().contains(kind) && *kind != FaultKind::Revoke);
    assert_eq!(kinds(&case), unasked.collect());
    let few = [FaultKind::Pause, FaultKind::LoseReply, FaultKind::Partition];
    let asked = |case: &mut Case, few: &[FaultKind]| {
        if let Some(any) = case.open.as_mut().and_then(|open| open.faults.as_mut()) {
            any.kinds = few.to_vec();
        }
    };
    asked(&mut case, &few);
    assert_eq!(kinds(&case), few.into_iter().collect());
    // A file that asks only for kinds that are not felt gets them: that they are not felt may be what is to be seen.
    case.plan.workload.acquire_timeout = None;
    asked(&mut case, &[FaultKind::ClockJump]);
    assert_eq!(kinds(&case), [FaultKind::ClockJump].into());
}

#[test]
fn every_kind_but_those_that_are_left_out_is_drawn() {
    let text = OPEN.replace("{ at-most = 4 }", "{ except = [\"pause\", \"cancel\"] }");
    let scenario = read(&text);
    let case = &scenario.cases[0];
    let kinds = |case: &Case| {
        let drawn = (0..500).flat_map(|seed| case.plan_for(seed).faults[1..].to_vec());
        drawn.map(|fault| FaultKind::of(&fault.inject)).collect()
    };
    let left: BTreeSet<FaultKind> = kinds(case);
    let mut all: BTreeSet<FaultKind> = kinds(&read(OPEN).cases[0]);
    assert!(all.remove(&FaultKind::Pause) && all.remove(&FaultKind::Cancel));
    assert_eq!(left, all);
    let again = write(&scenario, case);
    assert!(
        again.contains("except = [\"pause\", \"cancel\"]"),
        "{again}"
    );
    assert_eq!(read(&again).cases[0].open, case.open);
}

#[test]
fn releases_are_dropped_where_a_file_names_cancel_and_all_else_stays_as_it_was() {
    let drawn = |any: &str, cancellable: bool| {
        let text = OPEN.replace("{ at-most = 4 }", any);
        let mut case = read(&text).cases[0].clone();
        case.plan.recipe.cancellable = cancellable;
        let faults = (0..300).flat_map(|seed| case.plan_for(seed).faults[1..].to_vec());
        faults.collect::<Vec<_>>()
    };
    let of = |faults: &[PlannedFault], call: LockCall| {
        let drops = |fault: &&PlannedFault| matches!(fault.inject, Fault::Cancel { call: of, .. } if of == call);
        faults.iter().filter(drops).count()
    };
    let named = drawn("{ kinds = [\"cancel\", \"cut\"] }", true);
    assert!(of(&named, LockCall::Release) > 50 && of(&named, LockCall::Acquire) > 50);
    let unasked = drawn("{ at-most = 4 }", true);
    assert!(of(&unasked, LockCall::Acquire) > 5);
    assert_eq!(of(&unasked, LockCall::Release), 0);
    // Nothing drops a call of a recipe that says so.
    let never = drawn("{ kinds = [\"cancel\", \"cut\"] }", false);
    let both = [LockCall::Acquire, LockCall::Release];
    assert!(!never.is_empty() && both.iter().all(|call| of(&never, *call) == 0));
}

#[test]
fn every_value_that_is_left_open_is_drawn() {
    let (_, case) = open();
    let plans: Vec<_> = (0..500).map(|seed| case.plan_for(seed)).collect();
    let contenders: BTreeSet<u32> = plans.iter().map(|plan| plan.workload.contenders).collect();
    assert_eq!(contenders, (2..=6).collect());
    let rounds: BTreeSet<u32> = plans.iter().map(|plan| plan.workload.rounds).collect();
    assert_eq!(rounds, (1..=3).collect());
    let thinking = plans.iter().filter(|plan| !plan.workload.think.1.is_zero());
    assert!((100..400).contains(&thinking.count()));
}

#[test]
fn a_run_of_any_strategy_replays_from_its_choices_alone() {
    let (_, case) = open();
    let strategies = [
        Strategy::Even,
        Strategy::Extremes,
        Strategy::Delays(3),
        Strategy::Priorities(3),
        Strategy::Orders,
    ];
    let hashes = strategies.map(|chance| {
        let mut plan = case.plan_for(3).into_owned();
        plan.network.chance = chance;
        let first = simulate(&plan, 3);
        let again = simulate_with(&plan, Tape::recorded(first.choices));
        assert_eq!(first.hash, again.hash, "{chance:?}");
        first.hash
    });
    let different: BTreeSet<u64> = hashes.into_iter().collect();
    assert_eq!(different.len(), strategies.len());
}

const ON_REDIS: &str = r#"
claim = "Anything can happen."
because = "Nothing is settled."
source = "a test"
faults = "any"

[service.redis]
lease = "10s"

[workload]
contenders = 3
arrive = "in-order"

[[case]]
algorithm = "redis-fencing-token"
"#;

/// In how many of a thousand plans of a case there are two faults, one behind the other, of which this holds.
fn with_pair(case: &Case, holds: impl Fn(&PlannedFault, &PlannedFault) -> bool) -> usize {
    let has = |seed: &u64| {
        let plan = case.plan_for(*seed);
        plan.faults.windows(2).any(|pair| holds(&pair[0], &pair[1]))
    };
    (0..1_000).filter(has).count()
}

fn follows(fault: &PlannedFault) -> bool {
    matches!(fault.when, Trigger::Fired { .. }) && fault.after.is_zero()
}

#[test]
fn an_agreement_that_is_held_up_comes_with_the_end_of_a_connection() {
    let (_, case) = open();
    let drawn = with_pair(&case, |first, second| {
        let Trigger::Proposed { by, .. } = first.when else {
            return false;
        };
        let held = matches!(
            first.inject,
            Fault::HoldLink { .. } | Fault::LagServer { .. }
        );
        held && follows(second) && second.inject == Fault::Cut { target: by }
    });
    assert!(drawn >= 40, "{drawn}");
}

#[test]
fn a_waiter_hears_nothing_while_its_client_keeps_the_session() {
    let (_, case) = open();
    let given_up = Duration::from_secs(10)..=Duration::from_secs(12);
    let lapses = |fault: &PlannedFault| match (&fault.inject, &fault.when) {
        (
            Fault::BlackHole {
                target,
                direction: Direction::ToClient,
                length,
            },
            Trigger::Waiting { by, .. },
        ) => {
            by == target
                && length
                    .duration()
                    .is_some_and(|length| given_up.contains(&length))
        }
        _ => false,
    };
    let drawn = (0..1_000).filter(|seed| case.plan_for(*seed).faults.iter().any(lapses));
    let drawn = drawn.count();
    assert!(drawn >= 40, "{drawn}");
}

#[test]
fn a_server_that_forgets_its_keys_comes_with_a_holder_who_stands_still() {
    let case = read(ON_REDIS).cases[0].clone();
    let drawn = with_pair(&case, |first, second| {
        let holder = match first.when {
            Trigger::Writing { by, .. } | Trigger::Acquired { by, .. } => by,
            _ => return false,
        };
        let forgets = matches!(first.inject, Fault::CrashServer { .. });
        let stands = matches!(second.inject, Fault::Pause { target, .. } if target == holder);
        forgets && follows(second) && stands
    });
    assert!(drawn >= 40, "{drawn}");
}

#[test]
fn what_takes_a_promise_from_every_lock_is_mostly_not_drawn_beside_what_does_not() {
    let (_, mut case) = open();
    case.plan.faults.clear();
    let (mut spared, mut taken) = (0, 0);
    for seed in 0..1_000 {
        let plan = case.plan_for(seed);
        let first = &plan.faults[..plan.faults.len().min(1)];
        match (
            excuses(&plan, first).is_empty(),
            excuses(&plan, &plan.faults).is_empty(),
        ) {
            (true, true) => spared += 1,
            (true, false) => taken += 1,
            (false, _) => {}
        }
    }
    assert!(spared >= taken * 3, "{spared} {taken}");
}

/// Two faults are enough to break these, or one. Before their parts were drawn together it took some hundreds of runs,
/// or some thousands.
#[test]
fn two_hundred_drawn_plans_are_enough_for_what_two_faults_break() {
    let cases = [
        ("zookeeper/curator-outlived-session", "curator-mutex"),
        ("zookeeper/curator-unheard-session", "curator-mutex"),
        ("zookeeper/lookup-without-sync", "curator-mutex"),
        ("zookeeper/observer-not-told", "curator-mutex"),
        ("zookeeper/read-only", "zk-known-by-name"),
        ("redis/restart", "redis-fencing-token"),
    ];
    let (bases, limit) = (6, 200);
    all_find(&cases, PlanSource::Swarm, Effort { bases, limit });
}

/// The swarms of several tasks, and what the same seeds draw without them.
#[test]
fn processes_are_drawn_from_a_stream_of_their_own() {
    let with = OPEN.replace(
        "rounds =",
        "tasks-per-process = \"1..3\"\nshare = [\"session\", \"nothing\"]\nrounds =",
    );
    let (with, without) = (read(&with), read(OPEN));
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let drawn = with.cases[0].settled(seed);
        let alone = without.cases[0].settled(seed);
        let (tasks, plain) = (&drawn.plan.workload, &alone.plan.workload);
        let each = tasks.tasks_per_process;
        assert_eq!(tasks.contenders, plain.contenders.next_multiple_of(each));
        assert_eq!(
            (tasks.rounds, tasks.hold, tasks.arrive),
            (plain.rounds, plain.hold, plain.arrive)
        );
        assert_eq!(drawn.plan.service, alone.plan.service);
        assert_eq!(drawn.plan.network, alone.plan.network);
        assert!(
            each > 1 || tasks.share == Share::Nothing,
            "there are no tasks to share with"
        );
        seen.insert((each, format!("{:?}", tasks.share)));
        if each == 1 {
            assert_eq!(drawn.plan.faults, alone.plan.faults, "seed {seed}");
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}

#[test]
fn a_drawn_process_is_on_one_machine() {
    let open = OPEN.replace(
        "[[fault]]",
        "[[contender]]\nname = \"any\"\nlatency = [\"30ms\"]\nclock-offset = \"-5s..5s\"\n\n\
         [[contender]]\nname = \"contender-1\"\nclock-offset = \"1s\"\n\n[[fault]]",
    );
    let open = open.replace("rounds =", "tasks-per-process = 2\nrounds =");
    let scenario = read(&open);
    for seed in 0..500 {
        let drawn = scenario.cases[0].settled(seed);
        // A file that said two times of one machine would not be read.
        read(&write(&scenario, &drawn));
    }
}

/// The number of permits, and what the same seeds draw without it.
#[test]
fn permits_are_drawn_from_a_stream_of_their_own() {
    let of = |permits: &str| {
        let open = OPEN.replace("rounds =", &format!("permits = {permits}\nrounds ="));
        read(&open.replace("zk-hardened", "kazoo-semaphore"))
    };
    let (drawn, fixed) = (of("\"1..3\""), of("2"));
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let (one, other) = (drawn.cases[0].settled(seed), fixed.cases[0].settled(seed));
        seen.insert(one.plan.workload.permits());
        assert_eq!(one.plan.faults, other.plan.faults, "seed {seed}");
        assert_eq!(one.plan.workload.contenders, other.plan.workload.contenders);
        // What is settled is written and read as any other.
        let again = read(&write(&drawn, &one));
        assert_eq!(again.cases[0].plan.workload, one.plan.workload);
    }
    assert_eq!(seen, (1..=3).collect());
}
