//! Databases, and events of keys.

use picklock_redis::{ConnectionId, Fsync, KeyspaceEvents, Persistence, ProcessEnd, ServerConfig};

use crate::server::bench::Bench;

#[test]
fn a_script_leaves_its_caller_where_it_was() {
    let mut redis = Bench::new();
    redis.on(1, "SET k zero");
    redis.on(1, "SELECT 3");
    let script =
        "redis.call('select', 5) redis.call('set', 'k', 'five') return redis.call('get', 'k')";
    assert_eq!(redis.send(1, vec!["EVAL", script, "0"]), "five");
    assert_eq!(redis.on(1, "GET k"), "nil");
    assert_eq!(redis.on(2, "GET k"), "zero");
    redis.on(1, "SELECT 5");
    assert_eq!(redis.on(1, "GET k"), "five");
}

#[test]
fn all_databases_outlive_a_restart_and_expire() {
    let mut redis = Bench::with(ServerConfig {
        persistence: Persistence::Log(Fsync::Always),
        ..ServerConfig::default()
    });
    redis.on(1, "SELECT 2");
    redis.on(1, "SET k a PX 500");
    redis.restart(ProcessEnd::Kill);
    redis.on(2, "SELECT 2");
    assert_eq!(redis.on(2, "GET k"), "a");
    redis.pass(700);
    assert_eq!(redis.on(2, "DBSIZE"), ":0");
}

fn telling(events: &str) -> Bench {
    let mut redis = Bench::with(ServerConfig {
        notify_keyspace_events: KeyspaceEvents::parse(events).expect("letters"),
        ..ServerConfig::default()
    });
    redis.on(9, "SUBSCRIBE __keyevent@0__:expired __keyevent@0__:del");
    redis
}

#[test]
fn an_expired_event_is_sent_when_the_key_is_removed_and_not_when_its_time_is_over() {
    let mut redis = telling("Exg");
    redis.on(1, "SET k a PX 1010");
    redis.pass(1_050);
    assert_eq!(redis.read(ConnectionId(9)), "");
    redis.pass(60);
    assert_eq!(
        redis.read(ConnectionId(9)),
        ">[message __keyevent@0__:expired k]"
    );
    redis.on(1, "SET k a PX 10");
    redis.pass_unseen(20);
    redis.on(1, "GET k");
    assert_eq!(
        redis.read(ConnectionId(9)),
        ">[message __keyevent@0__:expired k]"
    );
}

#[test]
fn a_key_that_is_deleted_in_time_does_not_expire() {
    let mut redis = telling("Exg");
    redis.on(1, "SET k a PX 1000");
    redis.on(1, "DEL k");
    redis.pass(2_000);
    assert_eq!(
        redis.read(ConnectionId(9)),
        ">[message __keyevent@0__:del k]"
    );
}

#[test]
fn a_server_that_is_not_told_to_sends_no_events() {
    let mut redis = telling("");
    redis.on(1, "SET k a PX 10");
    redis.pass(200);
    assert_eq!(redis.read(ConnectionId(9)), "");
}
