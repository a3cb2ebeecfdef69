//! Settings of the service that one case of a file has for itself.

use crate::common::slips;

use std::time::Duration;

use picklock_scenarios::{Catalogue, Scenario, parse, write};
use picklock_sim::plan::{ConnectionMode, Deployment, Ensemble, Library, Service};
use slips::{Slip, refused, said};

const REDIS: &str = r#"[service.redis]
replicas = 2
sentinels = 3
lease = "30s"
retries = 1

[workload]
contenders = 2
hold = "5m"

[[fault]]
when.acquired = { by = "contender-1" }
inject.full-memory = { target = "primary", for = "1s" }

[[case]]
algorithm = "redisson-lock"

[[case]]
name = "own"
algorithm = "redisson-lock"
service.redis.lease = "2m"
"#;

const ENSEMBLE: &str = r#"[service.zookeeper]
servers = [3, 5]
client = ["java", "kazoo"]
tick = "1s"

[workload]
contenders = 2

[[fault]]
when.acquired = { by = "contender-1" }
inject.block-events = { target = "contender-1", for = "1s" }

[[case]]
algorithm = "zk-hardened"

[[case]]
name = "own"
algorithm = "zk-hardened"
service.zookeeper.session-timeout = "15s"
"#;

fn read(text: &str) -> Scenario {
    parse("test", text, &Catalogue::EVERYTHING).expect("it has no mistake")
}

#[test]
fn a_case_has_its_own_settings_and_the_others_of_its_file() {
    let cases = read(REDIS).cases;
    let [of_file, own] = [0, 1].map(|index| cases[index].plan.service.get::<Deployment>().unwrap());
    assert_eq!(own.lease, Duration::from_mins(2));
    assert_eq!(of_file.lease, Duration::from_secs(30));
    // What the file says of clients counts beside the library of the recipe, too.
    assert_eq!(
        (own.retries, own.connections),
        (1, ConnectionMode::Pool(64))
    );
    let mut same = own.clone();
    same.lease = of_file.lease;
    assert_eq!(&same, of_file);
}

#[test]
fn a_case_of_an_ensemble_leaves_open_what_its_file_leaves_open() {
    let cases = read(ENSEMBLE).cases;
    let own = cases[1].plan.service.get::<Ensemble>().unwrap();
    assert_eq!(own.session_timeout, Duration::from_secs(15));
    assert_eq!(own.tick, Duration::from_secs(1));
    let open = |index: usize| cases[index].open.clone().unwrap();
    assert_eq!(open(1), open(0));
    let settled = ENSEMBLE.to_owned() + "service.zookeeper.client = \"kazoo\"\n";
    let cases = read(&settled).cases;
    assert_eq!(cases[1].open.as_ref().unwrap().choices("client"), []);
    for seed in 0..20 {
        let plan = cases[1].settled(seed).plan.clone();
        assert_eq!(
            plan.service.get::<Ensemble>().unwrap().library,
            Library::Kazoo
        );
    }
}

#[test]
fn the_budget_of_a_case_fits_its_own_settings() {
    let short = REDIS.replace("\"2m\"", "\"1ms\"");
    let budget = |text: &str| read(text).cases.remove(1).plan.event_budget;
    assert!(budget(&short) > budget(REDIS) * 2);
    let given = |text: &str| budget(&format!("event-budget = 5000\n{text}"));
    assert_eq!((given(&short), given(REDIS)), (5_000, 5_000));
}

#[test]
fn a_case_with_its_own_settings_is_written_as_a_file_of_its_own() {
    for (text, seed) in [(REDIS, 3), (ENSEMBLE, 4)] {
        let mut scenario = read(text);
        let case = scenario.cases[1].settled(seed).into_owned();
        scenario.cases = vec![case.clone()];
        let again = read(&write(&scenario, &case));
        assert_eq!(again.cases[0].plan.service, case.plan.service);
        assert_eq!(again.cases[0].plan.event_budget, case.plan.event_budget);
    }
}

#[test]
fn a_file_that_says_no_service_has_cases_with_settings() {
    let text =
        "[workload]\n[[case]]\nalgorithm = \"redisson-lock\"\nservice.redis.lease = \"2m\"\n";
    let service = &read(text).cases[0].plan.service;
    assert_eq!(service.lease(), Duration::from_mins(2));
    assert!(matches!(service, Service::Redis(_)));
}

const LEASE: &str = "service.redis.lease = \"2m\"";

const OF_REDIS: &[Slip] = &[
    ("name_of_a_case_with_settings", "name = \"own\"\n", ""),
    (
        "another_service_of_a_case",
        LEASE,
        "service.zookeeper.tick = \"2s\"",
    ),
    ("servers_of_a_case", LEASE, "service.redis.replicas = 3"),
    (
        "unknown_setting_of_a_case",
        LEASE,
        "service.redis.leese = \"2m\"",
    ),
    (
        "lease_of_a_case_that_is_nothing",
        LEASE,
        "service.redis.lease = \"0s\"",
    ),
    (
        "setting_of_a_case_against_its_file",
        LEASE,
        "service.redis.replay = true",
    ),
    (
        "mistake_of_the_file_is_told_once",
        "lease = \"30s\"",
        "lease = 30",
    ),
];

const OF_DISKS: &[Slip] = &[(
    "fault_of_a_case_that_has_nothing_to_fill",
    "service.redis.lease = \"2m\"",
    "service.redis.persistence = \"aof-always\"",
)];

const OF_AN_ENSEMBLE: &[Slip] = &[
    (
        "tick_of_a_case_against_its_file",
        "service.zookeeper.session-timeout = \"15s\"",
        "service.zookeeper.tick = \"20s\"",
    ),
    (
        "client_of_a_case_without_an_event_thread",
        "service.zookeeper.session-timeout = \"15s\"",
        "service.zookeeper.client = [\"java\", \"go\"]",
    ),
];

#[test]
fn settings_of_a_case_are_read_as_strictly_as_those_of_a_file() {
    let full = REDIS.replace("full-memory", "full-disk");
    let full = full.replace("retries = 1", "persistence = \"rdb\"");
    let all = refused(REDIS, OF_REDIS).chain(refused(&full, OF_DISKS));
    for (name, said) in all.chain(refused(ENSEMBLE, OF_AN_ENSEMBLE)) {
        insta::assert_snapshot!(name, said);
    }
}

#[test]
fn a_client_without_an_event_loop_has_none_to_be_blocked() {
    let blocks = r#"[service.redis]
[workload]
contenders = 2
[[fault]]
when.acquired = { by = "contender-1" }
inject.block-events = { target = "contender-1", for = "20s" }
[[case]]
algorithm = "redisson-lock"
"#;
    assert_eq!(said(blocks), "");
    insta::assert_snapshot!(
        "blocked_loop_of_jedis",
        said(&blocks.replace(
            "redisson-lock",
            "redis-compare-and-delete\"\nclient = \"jedis"
        ))
    );
    // A plan names no library, and is read back: without one, clients are not those of the recipe's library either.
    assert_eq!(said(&blocks.replace("redisson-lock", "redis-py-lock")), "");
    let lease = blocks.replace("service.redis", "service.lease-server");
    let lease = lease.replace("redisson-lock", "lease-lock");
    insta::assert_snapshot!("blocked_loop_of_a_lease_server", said(&lease));
}
