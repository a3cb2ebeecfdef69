//! Every key that the reference (`docs/scenario-keys.md`) lists for a service, the network, the workload, and
//! contenders, in a run on each service that takes it.

use picklock_checker::Verdict;
use picklock_scenarios::keys::{Holds, Key, KeyTable};
use picklock_scenarios::runner::run_seed;
use picklock_scenarios::{Catalogue, Scenario, parse, write};
use picklock_sim::plan::Value;

use crate::common::key_tables::{context, tables};

/// A table of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    ZooKeeper,
    Redis,
    LeaseServer,
    Network,
    Workload,
    Contender,
}

use Table::{Contender, LeaseServer, Network, Redis, Workload, ZooKeeper};

/// By its title.
const TITLES: [(&str, Table); 6] = [
    ("[service.zookeeper]", ZooKeeper),
    ("[service.redis]", Redis),
    ("[service.lease-server]", LeaseServer),
    ("[network]", Network),
    ("[workload]", Workload),
    ("[[contender]]", Contender),
];

/// A key, its values, each in a run of its own, and what else the service must have for them.
type Row = (
    Table,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// Keys whose values do not follow from their rows.
const KEYS: &[Row] = &[
    (ZooKeeper, "servers", &["1", "5"], &[]),
    (ZooKeeper, "tick", &["\"1s\""], &[]),
    (ZooKeeper, "max-session-timeout", &["\"5s\""], &[]),
    (ZooKeeper, "jute-max-buffer", &["\"4MiB\"", "2097152"], &[]),
    (Redis, "servers", &["3", "15"], &[]),
    (Redis, "sentinels", &["3", "7"], &["replicas = 1"]),
    (
        Redis,
        "cluster",
        &[
            "{ primaries = 3 }",
            "{ primaries = 3, replicas-of-each = 1, node-timeout = \"2s\", validity-factor = 0 }",
        ],
        &[],
    ),
    (Redis, "load-time", &["\"1s\""], &["persistence = \"rdb\""]),
    (
        Redis,
        "notify-keyspace-events",
        &["\"Exg\"", "\"KEA\""],
        &[],
    ),
    (Redis, "connections", &["{ pool = 2 }"], &[]),
    (
        Network,
        "chance",
        &[
            "\"extremes\"",
            "{ delays = 3 }",
            "{ priorities = 3 }",
            "\"orders\"",
            "[\"even\", \"orders\"]",
        ],
        &[],
    ),
    (Network, "latency", &["\"2ms\"", "[\"1ms\", \"2ms\"]"], &[]),
    (Network, "server-latency", &["\"1ms..2ms\""], &[]),
    (
        Network,
        "regions",
        &[
            "{ us = [\"server-1\"], eu = [\"contender-1\"] }\nbetween.us.eu = \"20ms\"",
            "\"1..3\"\nbetween = \"20ms\"",
        ],
        &[],
    ),
    (
        Network,
        "between",
        &["{ us.us = \"20ms\" }\nregions.us = [\"server-1\", \"contender-1\"]"],
        &[],
    ),
    (Workload, "contenders", &["7", "\"2..4\""], &[]),
    (Workload, "tasks-per-process", &["3", "\"1..3\""], &[]),
    // What a service lets tasks share is its own: `sim/tests/it/tasks.rs` has all of it.
    (
        Workload,
        "share",
        &["\"nothing\"\ntasks-per-process = 3"],
        &[],
    ),
    (Workload, "locks", &["2"], &[]),
    (
        Workload,
        "arrive",
        &[
            "\"in-order\"",
            "\"behind-holder\"",
            "\"in-order-behind-holder\"",
            "{ within = \"5ms\" }",
        ],
        &[],
    ),
    (
        Workload,
        "locks-at-once",
        &["2\nlocks = 2\nhold = \"50ms\"", "\"1..2\"\nlocks = 2"],
        &[],
    ),
    (
        Workload,
        "lock-order",
        &[
            "\"in-turn\"\nlocks = 3\nlocks-at-once = 2\ncontenders = 2",
            "[\"by-name\"]\nlocks = 2\nlocks-at-once = 2",
        ],
        &[],
    ),
    (Workload, "rounds", &["3"], &[]),
    (Workload, "reads", &["\"50%\"\nrounds = 5"], &[]),
    (
        Workload,
        "permits",
        &["2\nhold = \"1s\"", "\"1..2\"\nhold = \"1s\""],
        &[],
    ),
    (
        Workload,
        "permits-per-acquire",
        &["2\npermits = 3\nhold = \"1s\""],
        &[],
    ),
    (Workload, "count", &["2\nhold = \"1s\""], &[]),
    (Workload, "acquire-timeout", &["\"1s\""], &[]),
    (Workload, "reentrancy-depth", &["2"], &[]),
    (
        Workload,
        "allow-self-deadlock",
        &["true\nreentrancy-depth = 2"],
        &[],
    ),
    (Workload, "hold", &["\"1s\"", "\"settled\""], &[]),
    (Workload, "think", &["\"1ms..5ms\""], &[]),
    (Workload, "processing", &["\"1ms..5ms\""], &[]),
    (
        Workload,
        "section",
        &[
            "\"count\"",
            "{ sell = { stock = 2 } }",
            "{ delayed-write = \"1ms\" }",
            "\"nothing\"",
        ],
        &[],
    ),
    (Workload, "bystanders", &["3"], &[]),
    (Workload, "bystander-every", &["\"20ms\""], &[]),
    (Workload, "progress-bound", &["\"90s\""], &[]),
    (Workload, "bypass-bound", &["5"], &[]),
    (Workload, "starvation-bound", &["5"], &[]),
    (Workload, "storm", &["\"5s\""], &[]),
    (
        Contender,
        "name",
        &["\"contender-1\"", "[\"contender-1\", \"contender-3\"]"],
        &[],
    ),
    (Contender, "hold", &["\"5s\"", "\"settled\""], &[]),
    (Contender, "rounds", &["3"], &[]),
    (Contender, "locks", &["[\"lock-a\"]"], &[]),
    (Contender, "think", &["\"1ms..5ms\""], &[]),
    (Contender, "processing", &["\"1ms..5ms\""], &[]),
    (Contender, "reads", &["\"always\""], &[]),
    (Contender, "conversion", &["\"downgrade\""], &[]),
    (Contender, "permits-per-acquire", &["1"], &[]),
    (Contender, "acquire-timeout", &["\"1s\""], &[]),
    (Contender, "latency", &["\"20ms\"", "\"5ms..50ms\""], &[]),
    (Contender, "clock-offset", &["\"-5s\""], &[]),
];

/// The rows of the reference.
fn documented() -> Vec<(Table, KeyTable, &'static Key)> {
    let of_table = |table: &KeyTable| {
        let known = TITLES.iter().find(|(title, _)| *title == table.title);
        let (table, of) = (*table, known.map(|(_, table)| *table));
        let keys = table.keys();
        keys.filter_map(move |key| Some((of?, table, key)))
            .collect::<Vec<_>>()
    };
    tables().iter().flat_map(of_table).collect()
}

/// Values of a setting that are not its default, by its row.
fn values(key: &Key) -> Vec<String> {
    let default = (key.default)();
    match (&key.holds, &default) {
        (Holds::Boolean, _) => vec![true, false]
            .into_iter()
            .filter(|flag| default != Some(Value::Flag(*flag)))
            .map(|flag| flag.to_string())
            .collect(),
        (Holds::Words(words) | Holds::OneOrList(Holds::Words(words)), _) => {
            let others = (words.names)().into_iter();
            let others = others.filter(|name| default != Some(Value::Named(name, None)));
            others
                .filter(|name| *name != "none")
                .map(|name| format!("\"{name}\""))
                .collect()
        }
        (Holds::Whole(..), Some(Value::Whole(number))) => vec![(number + 1).to_string()],
        (Holds::Duration | Holds::DurationOrZero, Some(Value::Time(time))) if time.is_zero() => {
            vec!["\"1ms\"".to_owned()]
        }
        (Holds::Duration | Holds::DurationOrZero, Some(Value::Time(time))) => {
            vec![format!("\"{}us\"", time.as_micros() * 2)]
        }
        (Holds::Duration, None) => vec!["\"5s\"".to_owned()],
        (other, _) => panic!("`{}` needs a row of its own: {other:?}", key.name),
    }
}

/// Every key with its values, and what it needs beside it.
fn runs() -> Vec<(Table, &'static str, Vec<String>, Vec<String>)> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let documented = documented().into_iter();
    documented
        .map(|(of, table, key)| {
            let mut rows = KEYS.iter();
            match rows.find(|(table, name, ..)| (*table, *name) == (of, key.name)) {
                Some((_, _, values, needs)) => (of, key.name, owned(values), owned(needs)),
                None => {
                    let needs = context(&table, key).lines().map(str::to_owned).collect();
                    (of, key.name, values(key), needs)
                }
            }
        })
        .collect()
}

/// A scenario on a service, with these lines in its tables.
fn scenario(service: Table, of_service: &[String], (table, line): (Table, &str)) -> Scenario {
    let with = |own: Table| if own == table { line } else { "" };
    let contender = match (table, line.starts_with("name")) {
        (Contender, _) if line.is_empty() => String::new(),
        (Contender, true) => format!("[[contender]]\n{line}\nhold = \"1s\""),
        (Contender, false) => format!("[[contender]]\nname = \"contender-1\"\n{line}"),
        _ => String::new(),
    };
    let reentrant = line.contains("reentrancy-depth");
    let shared = line.starts_with("reads");
    let (semaphore, latch) = (line.starts_with("permits ="), line.starts_with("count ="));
    let several_permits = table == Workload && line.starts_with("permits-per-acquire");
    let converts = line.starts_with("conversion");
    let reaps = line.starts_with("reaper-interval");
    let restores = line.starts_with("releases-for-others");
    // It takes a recipe that makes the lock's node if it is not there.
    let makes_parents = line.starts_with("lock-node");
    let several = |line: &str| line.starts_with("servers");
    let (name, algorithm) = match service {
        Redis if several(line) || of_service.iter().any(|key| several(key)) => ("redis", "redlock"),
        Redis if reentrant => ("redis", "redisson-lock"),
        Redis if restores => ("redis", "laravel-cache-lock"),
        Redis if reaps => ("redis", "sidekiq-unique-jobs"),
        Redis if latch => ("redis", "redisson-count-down-latch"),
        Redis => ("redis", "redis-compare-and-delete"),
        LeaseServer => ("lease-server", "lease-lock"),
        ZooKeeper | Network | Workload | Contender if shared => ("zookeeper", "zk-shared-locks"),
        ZooKeeper | Network | Workload | Contender if several_permits => {
            ("zookeeper", "curator-semaphore-hardened")
        }
        ZooKeeper | Network | Workload | Contender if semaphore => ("zookeeper", "kazoo-semaphore"),
        ZooKeeper | Network | Workload | Contender if reentrant => ("zookeeper", "curator-mutex"),
        ZooKeeper if converts => ("zookeeper", "curator-read-write-lock"),
        ZooKeeper if makes_parents => ("zookeeper", "curator-mutex"),
        ZooKeeper | Network | Workload | Contender => ("zookeeper", "zk-hardened"),
    };
    let text = format!(
        "claim = \"A lock is a lock.\"\nbecause = \"It says so.\"\nsource = \"Nowhere\"\n\
         [service.{name}]\n{}\n{}\n[network]\n{}\n[workload]\n{}\n{contender}\n[[case]]\nalgorithm = \"{algorithm}\"\n",
        of_service.join("\n"),
        with(service),
        with(Network),
        with(Workload),
    );
    parse("test", &text, &Catalogue::EVERYTHING)
        .unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
}

/// Runs a few seeds, which are to say something, and to find that all is well.
fn run(scenario: &Scenario, what: &str) {
    let case = &scenario.cases[0];
    for seed in 0..3 {
        let outcome = run_seed(case, seed, false).unwrap_or_else(|_| panic!("{what}"));
        assert_eq!(outcome.vacuous, None, "{what}");
        for (invariant, verdict) in &outcome.verdicts {
            assert_eq!(*verdict, Verdict::Holds, "{what}: {invariant}");
        }
    }
}

#[test]
fn every_key_that_has_values_of_its_own_is_documented() {
    let documented = documented();
    for (of, name, ..) in KEYS {
        let is_it = |(table, _, key): &(Table, KeyTable, &Key)| (*table, key.name) == (*of, *name);
        assert!(documented.iter().any(is_it), "{name}");
    }
}

/// Keys that only read-write locks or semaphores take.
const OF_KINDS: [&str; 4] = ["reads", "permits", "permits-per-acquire", "conversion"];

#[test]
fn every_documented_key_does_something_and_runs_on_each_service_that_takes_it() {
    for (table, key, values, needs) in runs() {
        let services = match table {
            ZooKeeper => &[ZooKeeper][..],
            Redis => &[Redis],
            LeaseServer => &[LeaseServer],
            // There are read-write locks and semaphores on ZooKeeper alone.
            Workload | Contender if OF_KINDS.contains(&key) => &[ZooKeeper],
            // And latches on Redis alone.
            Workload if key == "count" => &[Redis],
            // So far reapers and restored locks, too.
            Contender if ["reaper-interval", "releases-for-others"].contains(&key) => &[Redis],
            Network | Workload | Contender => &[ZooKeeper, Redis],
        };
        for (service, value) in services
            .iter()
            .flat_map(|service| values.iter().map(move |value| (service, value)))
        {
            let line = format!("{key} = {value}");
            let with = scenario(*service, &needs, (table, &line));
            let without = scenario(*service, &needs, (table, ""));
            let written = |scenario: &Scenario| write(scenario, &scenario.cases[0]);
            let what = format!("{line} on {service:?}");
            let open = with.cases[0].open.is_some();
            assert!(open || written(&with) != written(&without), "{what}");
            run(&with, &what);
        }
    }
}

#[test]
fn bystanders_run_wherever_redis_does() {
    for deployment in [
        "servers = 1",
        "servers = 5",
        "replicas = 2",
        "replicas = 2\nread-from = \"replicas\"",
        "replicas = 1\nsentinels = 3",
        "cluster = { primaries = 3, replicas-of-each = 1 }",
        "connections = { pool = 2 }",
    ] {
        let of_service = [deployment.to_owned()];
        let all = scenario(Redis, &of_service, (Workload, "bystanders = 2"));
        run(&all, deployment);
    }
}
