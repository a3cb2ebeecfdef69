//! What a server that cannot serve refuses, in the words of a real one: all of it was seen of 7.0.15.

use std::time::Duration;

use picklock_redis::test_cluster::Machine;
use picklock_redis::{Fsync, Input, Persistence, ProcessEnd, SavePoint, ServerConfig};

use crate::server::bench::Bench;
use crate::server::group::{Group, settings};

const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.";
const DOWN: &str =
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
const LOADING: &str = "-LOADING Redis is loading the dataset in memory";

fn each(redis: &mut Bench, table: &[(&str, &str)]) {
    for (command, answer) in table {
        assert_eq!(redis.on(1, command), *answer, "{command}");
    }
}

#[test]
fn without_memory_what_may_take_more_is_refused_and_what_takes_away_is_not() {
    let mut redis = Bench::new();
    each(
        &mut redis,
        &[
            ("SET k v", "+OK"),
            ("HSET h f 2", ":1"),
            ("CONFIG SET maxmemory 1", "+OK"),
        ],
    );
    let table = [
        ("SET k w", OOM),
        ("INCR n", OOM),
        ("HINCRBY h f -1", OOM),
        ("PEXPIRE h 100000", ":1"),
        ("PUBLISH a b", ":0"),
        ("PING", "+PONG"),
        ("GET k", "v"),
        ("MULTI", "+OK"),
        // A queue takes memory, too.
        ("GET k", OOM),
        (
            "EXEC",
            "-EXECABORT Transaction discarded because of previous errors.",
        ),
    ];
    each(&mut redis, &table);
    let refused = redis.eval("return redis.call('set', 'k', 'w')");
    assert!(refused.starts_with(OOM), "{refused}");
    // A script that has begun to write may go on.
    assert_eq!(
        redis.eval("redis.call('del', 'z') return redis.call('set', 'k', 'w')"),
        "+OK"
    );
    each(
        &mut redis,
        &[("CONFIG SET maxmemory 0", "+OK"), ("SET k x", "+OK")],
    );
}

fn full(redis: &mut Bench, is_full: bool) {
    redis.input(Input::Disk { is_full });
}

#[test]
fn a_server_that_could_not_save_refuses_writes_and_pings() {
    let point = SavePoint {
        after: Duration::from_secs(1),
        changes: 1,
    };
    let mut redis = Bench::with(ServerConfig {
        persistence: Persistence::Snapshots(vec![point]),
        ..ServerConfig::default()
    });
    full(&mut redis, true);
    each(&mut redis, &[("SET k v", "+OK"), ("SET k w", "+OK")]);
    redis.pass(3_000);
    for refused in ["SET k x", "DEL k", "PING"] {
        let answer = redis.on(1, refused);
        assert!(
            answer.starts_with("-MISCONF Redis is configured to save RDB snapshots, but"),
            "{refused}: {answer}"
        );
    }
    each(&mut redis, &[("GET k", "w"), ("PUBLISH a b", ":0")]);
    let in_script = redis.eval("return redis.call('del', 'k')");
    assert!(in_script.starts_with("-MISCONF Redis"), "{in_script}");
    full(&mut redis, false);
    assert!(
        redis.on(1, "DEL k").starts_with("-MISCONF"),
        "it has not tried again yet"
    );
    redis.pass(7_000);
    assert_eq!(redis.on(1, "DEL k"), ":1");
}

#[test]
fn a_log_that_cannot_be_written_refuses_at_once_and_what_it_lacks_dies_with_the_process() {
    let mut redis = Bench::with(ServerConfig {
        persistence: Persistence::Log(Fsync::EverySecond),
        ..ServerConfig::default()
    });
    redis.on(1, "SET old v");
    full(&mut redis, true);
    assert_eq!(redis.on(1, "SET new v"), "+OK", "not noticed yet");
    let refused = "-MISCONF Errors writing to the AOF file: No space left on device";
    assert_eq!(redis.on(1, "SET newer v"), refused);
    redis.restart(ProcessEnd::Kill);
    assert_eq!(redis.on(2, "KEYS *"), "[old]");
}

#[test]
fn a_replica_without_its_primary_serves_nothing_if_it_is_told_not_to() {
    let mut group = Group::of(1);
    assert_eq!(group.on(0, 1, "SET k v"), "+OK");
    group.pass(100);
    assert_eq!(
        group.on(1, 1, "CONFIG SET replica-serve-stale-data no"),
        "+OK"
    );
    assert_eq!(group.on(1, 1, "GET k"), "v");
    let known = group.on(1, 1, "SCRIPT LOAD 'return 1'");
    group.kill(Machine::Server(0));
    let mut replica = |command: &str| group.on(1, 1, command);
    for (command, answer) in [
        ("GET k", DOWN),
        ("PING", DOWN),
        ("WAIT 0 1", DOWN),
        ("SCRIPT EXISTS x", DOWN),
        ("PUBLISH a b", ":0"),
        (
            "SET k w",
            "-READONLY You can't write against a read only replica.",
        ),
    ] {
        assert_eq!(replica(command), answer, "{command}");
    }
    assert_eq!(replica("EVAL 'return 1' 0"), DOWN);
    assert_eq!(replica(&format!("EVALSHA {known} 0")), DOWN);
    let unknown = format!("EVALSHA {} 0", "f".repeat(40));
    assert!(replica(&unknown).starts_with("-NOSCRIPT"));
    assert_eq!(replica("CONFIG SET replica-serve-stale-data yes"), "+OK");
    assert_eq!(replica("GET k"), "v");
}

#[test]
fn a_loading_server_refuses_most_commands_and_time_goes_on() {
    let mut redis = Bench::with(ServerConfig {
        persistence: Persistence::Log(Fsync::Always),
        load_time: Duration::from_secs(3),
        ..ServerConfig::default()
    });
    each(
        &mut redis,
        &[("SET k v", "+OK"), ("SET short v PX 2000", "+OK")],
    );
    redis.restart(ProcessEnd::Kill);
    redis.pass(2_900);
    let table = [
        ("GET k", LOADING),
        ("PING", LOADING),
        ("SET k w", LOADING),
        ("EVAL 'return 1' 0", LOADING),
        ("WAIT 0 1", LOADING),
        ("PUBLISH a b", ":0"),
        ("MULTI", "+OK"),
        ("GET k", LOADING),
        ("DISCARD", "+OK"),
    ];
    each(&mut redis, &table);
    redis.pass(200);
    each(
        &mut redis,
        &[("GET k", "v"), ("GET short", "nil"), ("PING", "+PONG")],
    );
}

#[test]
fn a_replica_that_reads_its_keys_follows_its_primary_when_it_has_them() {
    let loads = |number| ServerConfig {
        persistence: Persistence::Log(Fsync::Always),
        load_time: Duration::from_secs(3),
        ..settings(number)
    };
    let mut group = Group::with(vec![loads(0), loads(1)]);
    group.restart(1, ProcessEnd::Kill);
    assert_eq!(group.on(0, 1, "SET k v"), "+OK");
    group.pass(2_000);
    assert_eq!(group.on(1, 1, "GET k"), LOADING);
    assert!(group.on(1, 1, "ROLE").contains("slave"));
    group.pass(4_000);
    assert_eq!(group.on(1, 1, "GET k"), "v");
}

#[test]
fn a_script_that_says_what_it_does_is_refused_before_it_does_anything() {
    let says = |flags: &str, what: &str| format!("#!lua flags={flags}\nreturn redis.call({what})");
    let mut redis = Bench::new();
    each(
        &mut redis,
        &[("SET k v", "+OK"), ("CONFIG SET maxmemory 1", "+OK")],
    );
    assert_eq!(redis.eval("#!lua\nreturn 1"), OOM);
    assert_eq!(redis.eval(&says("allow-oom", "'set','k','w'")), "+OK");
    assert_eq!(redis.eval(&says("no-writes", "'get','k'")), "w");
    let read_only = "-ERR Write commands are not allowed from read-only scripts.";
    for write in ["'set','k','x'", "'publish','a','b'"] {
        let refused = redis.eval(&says("no-writes", write));
        assert!(refused.starts_with(read_only), "{refused}");
    }
    let unknown = redis.eval(&says("fast", "'get','k'"));
    assert_eq!(unknown, "-ERR Unexpected flag in script shebang: fast");
    assert_eq!(
        redis.eval("#!python\nreturn 1"),
        "-ERR Unexpected engine in script shebang: #!python"
    );
}
