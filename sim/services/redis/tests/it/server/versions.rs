//! What newer servers can do, by the documents of Redis 7.2 and 8.4, and of Valkey 8.1 and 9.0.

use picklock_redis::{ConnectionId, Fsync, Persistence, ServerConfig, ServerVersion};

use crate::server::bench::Bench;
use crate::server::group::{Group, settings};

fn bench(version: ServerVersion, persistence: Persistence) -> Bench {
    Bench::with(ServerConfig {
        version,
        persistence,
        ..ServerConfig::default()
    })
}

#[test]
fn set_ifeq_sets_what_holds_the_value_and_makes_no_key() {
    for version in [ServerVersion::Redis8_4, ServerVersion::Valkey8_1] {
        let mut redis = bench(version, Persistence::None);
        assert_eq!(redis.on(1, "SET k b IFEQ a"), "nil");
        redis.on(1, "SET k a");
        assert_eq!(redis.on(1, "SET k b IFEQ x PX 5000"), "nil");
        assert_eq!(redis.on(1, "SET k b IFEQ a PX 5000"), "+OK");
        assert_eq!(redis.on(1, "PTTL k"), ":5000");
        assert_eq!(redis.on(1, "SET k c IFEQ b GET"), "b");
        assert_eq!(redis.on(1, "PTTL k"), ":-1");
        assert_eq!(redis.on(1, "SET k c IFEQ c NX"), "-ERR syntax error");
        redis.on(1, "LPUSH l a");
        assert!(redis.on(1, "SET l b IFEQ a").starts_with("-WRONGTYPE"));
    }
}

#[test]
fn set_ifne_is_of_redis_and_makes_a_missing_key() {
    let mut redis = bench(ServerVersion::Redis8_4, Persistence::None);
    assert_eq!(redis.on(1, "SET k a IFNE a"), "+OK");
    assert_eq!(redis.on(1, "SET k b IFNE a"), "nil");
    assert_eq!(redis.on(1, "SET k b IFNE x"), "+OK");
    let mut valkey = bench(ServerVersion::Valkey9_0, Persistence::None);
    assert_eq!(valkey.on(1, "SET k a IFNE b"), "-ERR syntax error");
}

#[test]
fn delex_deletes_by_the_value_and_without_one_whatever_it_is() {
    let mut redis = bench(ServerVersion::Redis8_4, Persistence::None);
    assert_eq!(redis.on(1, "DELEX k IFEQ a"), ":0");
    redis.on(1, "SET k a");
    assert_eq!(redis.on(1, "DELEX k IFEQ b"), ":0");
    assert_eq!(redis.on(1, "DELEX k IFNE a"), ":0");
    assert_eq!(redis.on(1, "DELEX k IFEQ a"), ":1");
    redis.on(1, "LPUSH l a");
    assert!(redis.on(1, "DELEX l IFEQ a").starts_with("-WRONGTYPE"));
    assert!(redis.on(1, "DELEX l IFEQ").starts_with("-ERR wrong number"));
    assert_eq!(redis.on(1, "DELEX l"), ":1");
    redis.on(1, "SET k a");
    let in_script = "return redis.call('DELEX', 'k', 'IFEQ', 'a')";
    assert_eq!(redis.eval(in_script), ":1");
}

#[test]
fn delifeq_is_of_valkey_9() {
    let mut valkey = bench(ServerVersion::Valkey9_0, Persistence::None);
    valkey.on(1, "SET k a");
    assert_eq!(valkey.on(1, "DELIFEQ k b"), ":0");
    assert_eq!(valkey.on(1, "DELIFEQ k a"), ":1");
    assert_eq!(valkey.on(1, "DELIFEQ k a"), ":0");
}

#[test]
fn what_a_version_has_not_is_an_unknown_command() {
    for line in ["DELEX k", "DELIFEQ k a", "WAITAOF 0 0 0"] {
        let mut redis = bench(ServerVersion::default(), Persistence::None);
        assert!(redis.on(1, line).starts_with("-ERR unknown command"));
    }
    let mut redis = bench(ServerVersion::Redis7_0, Persistence::None);
    assert_eq!(redis.on(1, "SET k a IFEQ b"), "-ERR syntax error");
    let mut redis = bench(ServerVersion::Redis8_4, Persistence::None);
    let unknown = redis.on(1, "DELIFEQ k a");
    assert!(unknown.starts_with("-ERR unknown command"), "{unknown}");
}

#[test]
fn waitaof_waits_until_the_log_is_on_the_disk() {
    let log = Persistence::Log(Fsync::EverySecond);
    let mut redis = bench(ServerVersion::Redis7_2, log);
    assert_eq!(redis.on(1, "WAITAOF 1 0 0"), "[:1 :0]");
    redis.on(1, "SET k a");
    assert_eq!(redis.on(1, "WAITAOF 1 0 0"), "");
    redis.pass(2_000);
    assert_eq!(redis.read(ConnectionId(1)), "[:1 :0]");
    // The disk was written to a second ago: a change goes there at once, and the next one a second later.
    redis.on(1, "SET k b");
    assert_eq!(redis.on(1, "WAITAOF 1 0 0"), "[:1 :0]");
    redis.on(1, "SET k c");
    assert_eq!(redis.on(1, "WAITAOF 1 0 100"), "");
    redis.pass(100);
    assert_eq!(redis.read(ConnectionId(1)), "[:0 :0]");
    let refused = redis.on(1, "WAITAOF 2 0 0");
    assert!(refused.starts_with("-ERR value is out of range"));
}

#[test]
fn waitaof_needs_a_log_and_one_that_is_always_there_is_at_once() {
    let mut redis = bench(ServerVersion::Redis7_2, Persistence::None);
    redis.on(1, "SET k a");
    let refused = redis.on(1, "WAITAOF 1 0 0");
    assert!(refused.contains("appendonly is disabled"), "{refused}");
    let always = Persistence::Log(Fsync::Always);
    let mut redis = bench(ServerVersion::Redis7_2, always);
    redis.on(1, "SET k a");
    assert_eq!(redis.on(1, "WAITAOF 1 0 0"), "[:1 :0]");
}

#[test]
fn waitaof_counts_the_replicas_that_have_it_on_their_disks() {
    let of = |fsyncs: [Option<Fsync>; 3]| {
        let servers = fsyncs.into_iter().enumerate();
        let servers = servers.map(|(number, fsync)| ServerConfig {
            version: ServerVersion::Redis7_2,
            persistence: fsync.map_or(Persistence::None, Persistence::Log),
            ..settings(number)
        });
        Group::with(servers.collect())
    };
    let mut group = of([None, Some(Fsync::Always), Some(Fsync::EverySecond)]);
    group.on(0, 1, "SET k a");
    assert_eq!(group.on(0, 1, "WAITAOF 0 1 0"), "[:0 :1]");
    group.pass(3_000);
    group.on(0, 1, "SET k b");
    group.on(0, 1, "SET k c");
    assert_eq!(group.on(0, 1, "WAITAOF 0 2 0"), "");
    group.pass(3_000);
    assert_eq!(group.read(0, 1), "[:0 :2]");
    let mut group = of([Some(Fsync::Always), None, None]);
    group.on(0, 1, "SET k a");
    assert_eq!(group.on(0, 1, "WAITAOF 1 1 200"), "");
    group.pass(300);
    assert_eq!(group.read(0, 1), "[:1 :0]");
}

#[test]
fn a_release_is_followed_by_the_newest_version_that_is_no_newer() {
    let followed_by = |server, release| {
        let version = ServerVersion::followed_by(server, release);
        version.map(ServerVersion::name)
    };
    assert_eq!(followed_by("redis", (7, 0)), Some("redis-7.0"));
    assert_eq!(followed_by("redis", (7, 9)), Some("redis-7.4"));
    assert_eq!(followed_by("redis", (255, 255)), Some("redis-8.4"));
    assert_eq!(followed_by("valkey", (8, 0)), Some("redis-7.2"));
    assert_eq!(followed_by("redis", (6, 2)), None);
}
