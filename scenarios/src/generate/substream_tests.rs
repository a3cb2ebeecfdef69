//! What is drawn from streams of its own: regions, and how long code takes.

use std::time::Duration;

use picklock_sim::plan::{LockOrder, Plan, Regions, Trigger};

use crate::scenario::{Case, Catalogue};
use crate::{parse, write};

const CLOSED: &str = r#"
claim = "Anything can happen."
because = "Nothing is settled."
source = "a test"
faults.any = { at-most = 4, kinds = ["crash", "clock-jump", "expire-session"] }

[service.zookeeper]
servers = [3, 5]
observers = 1

[network]
latency = ["200us..500us", "1ms..20ms"]
#network

[workload]
contenders = "2..6"
rounds = "1..3"
#workload

[[case]]
algorithm = "zk-hardened"
"#;

const NETWORK: &str = r#"
regions = "1..3"
between = ["5ms..10ms", "40ms"]
"#;

const WORKLOAD: &str = r#"
processing = ["0s", "0s..2ms", "5ms"]
"#;

fn case(text: &str) -> Case {
    let read = parse("drawn", text, &Catalogue::EVERYTHING);
    let read = read.unwrap_or_else(|mistakes| panic!("{}\n{text}", mistakes[0]));
    read.cases[0].clone()
}

fn open() -> String {
    CLOSED
        .replace("#network", NETWORK)
        .replace("#workload", WORKLOAD)
}

fn plans(text: &str) -> Vec<Plan> {
    let case = case(text);
    (0..400)
        .map(|seed| case.plan_for(seed).into_owned())
        .collect()
}

fn assert_same(one: &Plan, other: &Plan) {
    assert_eq!(one.service, other.service);
    assert_eq!(one.network, other.network);
    assert_eq!(one.workload, other.workload);
    assert_eq!(one.faults, other.faults);
    assert_eq!(one.event_budget, other.event_budget);
}

fn awaits_receipt(plan: &Plan) -> usize {
    let received = |when: &Trigger| matches!(when, Trigger::Received { .. });
    let faults = plan.faults.iter();
    faults.filter(|fault| received(&fault.when)).count()
}

#[test]
fn regions_and_times_take_nothing_from_what_else_is_drawn() {
    for (with, without) in plans(&open()).into_iter().zip(plans(CLOSED)) {
        let mut same = with;
        same.network.regions = Regions::default();
        same.workload.processing = without.workload.processing;
        for (fault, before) in same.faults.iter_mut().zip(&without.faults) {
            if let Trigger::Received { .. } = fault.when {
                fault.when = before.when.clone();
            }
        }
        assert_same(&same, &without);
    }
}

#[test]
fn a_plan_places_every_participant_in_a_region_or_none() {
    let plans = plans(&open());
    let far: Vec<&Plan> = (plans.iter())
        .filter(|plan| !plan.network.regions.is_empty())
        .collect();
    assert!((150..350).contains(&far.len()), "{}", far.len());
    for plan in &far {
        let all = &plan.network.regions.all;
        let contenders: usize = all.iter().map(|region| region.contenders.len()).sum();
        assert_eq!(contenders, plan.workload.contenders as usize);
        let servers: usize = all.iter().map(|region| region.servers.len()).sum();
        assert_eq!(servers, usize::from(plan.service.machines()));
        assert_eq!(all.iter().filter(|region| region.resource).count(), 1);
        let pairs = all.len() * (all.len() - 1) / 2;
        assert_eq!(plan.network.regions.between.len(), pairs);
    }
    let three = far.iter().filter(|far| far.network.regions.all.len() == 3);
    assert!(three.count() > 50);
}

#[test]
fn faults_strike_before_code_goes_on_where_it_takes_time_and_only_there() {
    let plans = plans(&open());
    let slow = |plan: &&Plan| !plan.processing_at_most().is_zero();
    let (slow, quick): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(slow);
    assert!((200..330).contains(&slow.len()), "{}", slow.len());
    let received: usize = slow.into_iter().map(awaits_receipt).sum();
    assert!(received > 10, "{received}");
    assert_eq!(quick.into_iter().map(awaits_receipt).sum::<usize>(), 0);
}

#[test]
fn a_contender_with_its_own_latency_lies_in_no_region() {
    let far = "[[contender]]\nname = \"contender-1\"\nlatency = \"80ms\"\n\n[[case]]";
    let text = open().replace("[[case]]", far);
    let lies = |plan: &Plan| {
        let mut all = plan.network.regions.all.iter();
        all.any(|region| region.contenders.iter().any(|name| name.0 == 0))
    };
    assert!(!plans(&text).iter().any(lies));
}

#[test]
fn what_is_drawn_is_written_and_read_as_it_is() {
    let scenario = parse("drawn", &open(), &Catalogue::EVERYTHING).expect("it can be read");
    let text = write(&scenario, &scenario.cases[0]);
    assert_eq!(case(&text).open, scenario.cases[0].open);
    for seed in 0..50 {
        let settled = scenario.cases[0].settled(seed).into_owned();
        let text = write(&scenario, &settled);
        assert_same(&case(&text).plan, &settled.plan);
    }
}

#[test]
fn one_time_is_no_choice() {
    let text = CLOSED.replace("#workload", "processing = \"1ms..5ms\"");
    let plan = case(&text).plan;
    let range = (Duration::from_millis(1), Duration::from_millis(5));
    assert_eq!(plan.workload.processing, range);
}

#[test]
fn the_contender_that_differs_may_take_longer_until_it_acts() {
    let any = "[[contender]]\nname = \"any\"\nprocessing = [\"100ms\", \"1s\"]\n\n[[case]]";
    let text = CLOSED.replace("[[case]]", any);
    let slow = |plan: &Plan| {
        let mut own = plan.workload.contender_settings.values();
        own.any(|own| own.processing.is_some())
    };
    let slow = plans(&text).iter().filter(|plan| slow(plan)).count();
    assert!((50..150).contains(&slow), "{slow}");
}

#[test]
fn the_tasks_of_a_process_lie_in_one_region_and_what_was_drawn_can_be_run() {
    let tasks = "contenders = 4\ntasks-per-process = 2\nshare = \"session\"";
    let text = open().replace("contenders = \"2..6\"", tasks);
    let drawn = case(&text);
    let mut far = 0;
    for seed in 0..100 {
        let plan = drawn.plan_for(seed).into_owned();
        far += usize::from(!plan.network.regions.is_empty());
        for region in &plan.network.regions.all {
            let processes = region.contenders.iter().map(|name| name.0 / 2);
            let processes: Vec<u32> = processes.collect();
            let pairs = processes.chunks(2);
            assert!(
                { pairs }.all(|pair| pair.len() == 2 && pair[0] == pair[1]),
                "{seed}"
            );
        }
    }
    assert!(far > 30, "{far}");
}

const LOCKS: &str = r#"
locks = "1..4"
locks-at-once = "1..3"
lock-order = ["by-name", "in-turn", "drawn"]
"#;

#[test]
fn locks_at_once_take_nothing_from_what_else_is_drawn_and_are_there() {
    let text = CLOSED.replace("#workload", LOCKS);
    let mut seen = std::collections::BTreeSet::new();
    for (with, without) in plans(&text).into_iter().zip(plans(CLOSED)) {
        let workload = &with.workload;
        assert!(workload.locks_at_once <= workload.locks);
        let in_order = workload.lock_order;
        assert!(workload.locks_at_once > 1 || in_order == LockOrder::ByName);
        seen.insert((workload.locks_at_once, format!("{in_order:?}")));
        let mut same = with;
        same.event_budget = without.event_budget;
        same.workload.locks = 1;
        (same.workload.locks_at_once, same.workload.lock_order) = (1, without.workload.lock_order);
        assert_same(&same, &without);
    }
    // One lock, and two or three of them in each of three orders.
    assert_eq!(seen.len(), 7);
}

#[test]
fn locks_at_once_that_are_drawn_are_written_and_read_as_they_are() {
    let text = CLOSED.replace("#workload", LOCKS);
    let scenario = parse("drawn", &text, &Catalogue::EVERYTHING).expect("it can be read");
    let written = write(&scenario, &scenario.cases[0]);
    assert_eq!(case(&written).open, scenario.cases[0].open);
    for seed in 0..50 {
        let settled = scenario.cases[0].settled(seed).into_owned();
        let text = write(&scenario, &settled);
        assert_same(&case(&text).plan, &settled.plan);
    }
}
