//! Every table of a scenario file, and a file in which a line of it may be added.

use picklock_scenarios::keys::{FILE, Holds, Key, KeyTable};

const ZOOKEEPER: &str = "[[case]]\nalgorithm = \"zk-hardened\"\n";
const REDIS: &str = "[[case]]\nalgorithm = \"redis-compare-and-delete\"\n";
const ETCD: &str = "[[case]]\nalgorithm = \"etcd-mutex\"\n";
const CHUBBY: &str = "[[case]]\nalgorithm = \"chubby-lock\"\n";
const SQL: &str = "[[case]]\nalgorithm = \"sql-for-update\"\n";
const MEMCACHED: &str = "[[case]]\nalgorithm = \"memcached-token-lock\"\n";
const CONSUL: &str = "[[case]]\nalgorithm = \"consul-lock\"\n";
const LEASE: &str = "[[case]]\nalgorithm = \"lease-lock\"\n";

/// A table by its title, and a file in which `@` stands where a line of it may be added.
type Place = (&'static str, String);

fn places() -> Vec<Place> {
    let place = |title, table: &str, rest: &str| (title, format!("{table}\n{rest}"));
    vec![
        place("The head", "@", ZOOKEEPER),
        place("[service.zookeeper]", "[service.zookeeper]\n@", ZOOKEEPER),
        place("[service.redis]", "[service.redis]\n@", REDIS),
        place(
            "cluster of [service.redis]",
            "[service.redis.cluster]\nprimaries = 3\n@",
            REDIS,
        ),
        place("[service.lease-server]", "[service.lease-server]\n@", LEASE),
        place("[service.etcd]", "[service.etcd]\n@", ETCD),
        place("[service.sql]", "[service.sql]\n@", SQL),
        place("[service.memcached]", "[service.memcached]\n@", MEMCACHED),
        place("[service.consul]", "[service.consul]\n@", CONSUL),
        place("[service.chubby]", "[service.chubby]\n@", CHUBBY),
        place("[network]", "[network]\n@", ZOOKEEPER),
        place("[workload]", "[workload]\n@", ZOOKEEPER),
        place("sell", "[workload.section.sell]\nstock = 3\n@", ZOOKEEPER),
        place(
            "[[contender]]",
            "[[contender]]\nname = \"contender-1\"\nhold = \"1s\"\n@",
            ZOOKEEPER,
        ),
        place(
            "[[fault]]",
            "[[fault]]\nwhen.acquired.by = \"contender-1\"\ninject.cut.target = \"contender-1\"\n@",
            ZOOKEEPER,
        ),
        // A case on Redis knows all keys of cases.
        place("[[case]]", REDIS, "@"),
        place("[replay]", "[replay]\nchoices = []\n@", ZOOKEEPER),
        place("[saved]", "[saved]\nseed = 7\n@", ZOOKEEPER),
        place("faults.any", "[faults.any]\n@", ZOOKEEPER),
        place(
            "violated",
            ZOOKEEPER,
            "[case.expect.fifo.violated]\nbecause = \"no\"\nwithin-seeds = 1\n@",
        ),
        place(
            "excused, undecided",
            ZOOKEEPER,
            "[case.expect.progress.undecided]\nbecause = \"no\"\n@",
        ),
        place("unchecked", ZOOKEEPER, "[case.expect.fifo.unchecked]\n@"),
        place(
            "measure",
            ZOOKEEPER,
            "[case.measure.wakeups-per-release]\nat-least = 0\n@",
        ),
    ]
}

/// All tables that there are.
pub fn tables() -> Vec<KeyTable> {
    fn within(holds: &Holds, found: &mut Vec<KeyTable>) {
        match holds {
            Holds::Table(table) | Holds::Tables(table) => with(table, found),
            Holds::Variants(_, variants) => {
                for holds in variants.iter().filter_map(|variant| variant.holds.as_ref()) {
                    within(holds, found);
                }
            }
            Holds::ByWord(_, _, value) | Holds::OneOrList(value) | Holds::List(value) => {
                within(value, found);
            }
            _ => {}
        }
    }
    fn with(table: &KeyTable, found: &mut Vec<KeyTable>) {
        if found.iter().any(|known| known.title == table.title) {
            return;
        }
        found.push(*table);
        for key in table.keys() {
            within(&key.holds, found);
        }
    }
    let mut found = Vec::new();
    with(&FILE, &mut found);
    found
}

/// Each table with a place where its keys may stand.
pub fn each() -> Vec<(KeyTable, String)> {
    let mut places = places();
    let with_place = tables().into_iter().map(|table| {
        let at = places.iter().position(|(title, _)| *title == table.title);
        let at = at.unwrap_or_else(|| panic!("no place for {}", table.title));
        (table, places.swap_remove(at).1)
    });
    let all = with_place.collect();
    assert!(places.is_empty(), "no such tables: {places:?}");
    all
}

/// What a key needs beside it.
pub fn context(table: &KeyTable, key: &Key) -> &'static str {
    match (table.title, key.name) {
        (
            "[service.redis]",
            "quorum" | "parallel-syncs" | "down-after" | "failover-timeout" | "poll"
            | "switch-master",
        ) => "sentinels = 7\nreplicas = 1",
        (
            "[service.redis]",
            "read-from" | "serve-stale-data" | "min-replicas-to-write" | "min-replicas-max-lag",
        ) => "replicas = 5",
        ("[workload]", "share") => "tasks-per-process = 3",
        ("[workload]", "lock-order") => "locks = 2\nlocks-at-once = 2",
        ("[workload]", "locks-at-once") => "locks = 26\nrounds = 9",
        ("[workload]", "locks") => "rounds = 9",
        _ => "",
    }
}

/// The key among what it needs, with this value.
pub fn line(table: &KeyTable, key: &Key, value: &str) -> String {
    format!("{}\n{} = {value}", context(table, key), key.name)
}

/// A place without a line that gives the key already.
pub fn freed(place: &str, key: &Key) -> String {
    let keep = |line: &&str| !line.starts_with(&format!("{} = ", key.name));
    place.lines().filter(keep).collect::<Vec<_>>().join("\n")
}
