//! What a restart takes.

use std::time::Duration;

use picklock_redis::{Fsync, Persistence, ProcessEnd, SavePoint, ServerConfig};

use crate::server::bench::Bench;
use crate::server::group::Group;

fn bench(persistence: Persistence) -> Bench {
    Bench::with(ServerConfig {
        persistence,
        ..ServerConfig::default()
    })
}

/// A key that is old, and two that were written a moment ago; which of them are left?
fn left(persistence: Persistence, end: ProcessEnd) -> String {
    let mut redis = bench(persistence);
    redis.on(1, "SET old a");
    redis.pass(40_000);
    redis.pass(3_600_000);
    redis.on(1, "SET new a");
    redis.pass(10);
    redis.on(1, "SET newest a");
    redis.pass(10);
    redis.restart(end);
    redis.on(2, "KEYS *")
}

#[test]
fn each_mode_loses_what_it_loses() {
    let log = Persistence::Log;
    let all = "[new newest old]";
    let table = [
        (Persistence::None, "[]", "[]", "[]"),
        (Persistence::default_save_points(), all, "[old]", "[old]"),
        (log(Fsync::Never), all, all, "[old]"),
        // The first write after a long silence goes to the disk at once, and the next after a second.
        (log(Fsync::EverySecond), all, all, "[new old]"),
        (log(Fsync::Always), all, all, all),
    ];
    for (persistence, shutdown, kill, power) in table {
        assert_eq!(
            left(persistence.clone(), ProcessEnd::Shutdown),
            shutdown,
            "{persistence:?}"
        );
        assert_eq!(
            left(persistence.clone(), ProcessEnd::Kill),
            kill,
            "{persistence:?}"
        );
        assert_eq!(
            left(persistence.clone(), ProcessEnd::PowerLoss),
            power,
            "{persistence:?}"
        );
    }
}

#[test]
fn all_keys_are_saved_when_the_server_looks_next_and_not_at_once() {
    let point = SavePoint {
        after: Duration::from_secs(1),
        changes: 2,
    };
    for (passes, kept) in [(20, "[]"), (90, "[a b c]")] {
        let mut redis = bench(Persistence::Snapshots(vec![point]));
        redis.pass(5_030);
        for line in ["SET a 1", "SET b 1", "SET c 1"] {
            redis.on(1, line);
        }
        redis.pass(passes);
        redis.restart(ProcessEnd::Kill);
        assert_eq!(redis.on(2, "KEYS *"), kept);
    }
}

#[test]
fn time_goes_on_while_a_server_is_down_and_its_scripts_are_forgotten() {
    let mut redis = bench(Persistence::Log(Fsync::Always));
    redis.on(1, "SET short a PX 1000");
    redis.on(1, "SET long a PX 10000");
    redis.on(1, "SCRIPT LOAD 'return 1'");
    redis.pass_unseen(4_000);
    redis.restart(ProcessEnd::Kill);
    assert_eq!(redis.on(2, "DBSIZE"), ":1");
    assert_eq!(redis.on(2, "PTTL long"), ":6000");
    assert_eq!(
        redis.on(2, "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"),
        "-NOSCRIPT No matching script. Please use EVAL."
    );
}

#[test]
fn an_empty_primary_empties_its_replicas() {
    let mut group = Group::of(1);
    group.on(0, 1, "SET lock a");
    assert_eq!(group.on(1, 1, "GET lock"), "a");
    group.restart(0, ProcessEnd::Kill);
    group.pass(1_100);
    assert_eq!(group.on(1, 1, "DBSIZE"), ":0");
}

#[test]
fn a_replica_is_a_replica_again_after_a_restart() {
    let mut group = Group::of(1);
    group.on(0, 1, "SET lock a");
    group.restart(1, ProcessEnd::PowerLoss);
    group.pass(10);
    assert_eq!(group.on(1, 1, "GET lock"), "a");
    assert!(group.on(1, 1, "SET lock b").starts_with("-READONLY"));
}
