//! Primaries and replicas.

use std::time::Duration;

use picklock_redis::{Input, ServerConfig};

use crate::server::group::{Group, address, settings};

#[test]
fn a_replica_has_what_its_primary_has_and_writes_nothing() {
    let mut group = Group::of(1);
    assert_eq!(group.on(0, 1, "SET lock a NX PX 10000"), "+OK");
    assert_eq!(group.on(1, 1, "GET lock"), "a");
    assert_eq!(
        group.on(1, 1, "SET lock b"),
        "-READONLY You can't write against a read only replica."
    );
    assert_eq!(
        group
            .on(1, 1, "EVAL 'return redis.call(\"del\", \"lock\")' 0")
            .split(" script")
            .next(),
        Some("-READONLY You can't write against a read only replica.")
    );
    assert_eq!(
        group.on(1, 1, "EVAL 'return redis.call(\"get\", \"lock\")' 0"),
        "a"
    );
    let role = group.on(1, 1, "ROLE");
    assert!(role.starts_with("[slave server :0 connected"), "{role}");
}

#[test]
fn offsets_agree_byte_for_byte() {
    let mut group = Group::of(2);
    group.on(0, 1, "SET lock a NX PX 10000");
    group.on(
        0,
        1,
        "EVAL 'redis.call(\"incr\", \"n\") redis.call(\"publish\", \"c\", \"x\")' 0",
    );
    let offset = |group: &mut Group, server: usize| {
        let text = group.on(server, 1, "INFO replication");
        let line = text
            .split("\\r\\n")
            .find(|line| line.starts_with("master_repl_offset"));
        line.unwrap_or_default().to_owned()
    };
    // SELECT 23, SET … PXAT 60, MULTI 15, INCR 21, PUBLISH 31, EXEC 14.
    assert_eq!(offset(&mut group, 0), "master_repl_offset:164");
    assert_eq!(offset(&mut group, 1), "master_repl_offset:164");
    assert_eq!(offset(&mut group, 2), "master_repl_offset:164");
}

#[test]
fn wait_counts_the_replicas_with_the_write_and_undoes_nothing() {
    let mut group = Group::of(2);
    assert_eq!(group.on(0, 1, "SET k a"), "+OK");
    assert_eq!(group.on(0, 1, "WAIT 2 0"), ":2");
    group.hold_links_of(0);
    assert_eq!(group.on(0, 1, "SET k b"), "+OK");
    assert_eq!(group.on(0, 1, "WAIT 1 300"), "");
    assert_eq!(group.on(0, 2, "GET k"), "b");
    group.pass(310);
    assert_eq!(group.read(0, 1), ":0");
    assert_eq!(group.on(1, 1, "GET k"), "a");
}

#[test]
fn a_paused_replica_puts_off_what_its_primary_says_and_loses_it_with_the_link() {
    let mut group = Group::of(1);
    group.on(0, 1, "SET k a");
    assert_eq!(group.on(1, 1, "CLIENT PAUSE 1500 WRITE"), "+OK");
    group.on(0, 1, "SET k b");
    assert_eq!(group.on(0, 1, "WAIT 1 100"), "");
    assert_eq!(group.on(1, 1, "GET k"), "a");
    group.pass(1_600);
    assert_eq!(group.on(1, 1, "GET k"), "b");
    group.on(1, 1, "CLIENT PAUSE 1500 WRITE");
    group.on(0, 1, "SET k c");
    group.cut_off(0);
    assert_eq!(group.on(1, 1, "GET k"), "b");
    group.on(1, 1, "CLIENT UNPAUSE");
    assert_eq!(group.on(1, 1, "GET k"), "b");
    group.pass(3_000);
    assert_eq!(group.on(1, 1, "GET k"), "c", "it has asked for the rest");
}

#[test]
fn a_replica_that_was_away_for_a_while_goes_on_where_it_was() {
    let mut group = Group::of(1);
    group.on(0, 1, "SET k a");
    group.hold_links_of(0);
    group.on(0, 1, "SET k b");
    group.cut_off(1);
    group.release();
    assert_eq!(group.on(1, 1, "GET k"), "a");
    group.pass(1_100);
    assert_eq!(group.on(1, 1, "GET k"), "b");
}

#[test]
fn a_deposed_primary_loses_what_only_it_had() {
    let mut group = Group::of(2);
    group.on(0, 1, "SET lock a PX 30000");
    group.on(0, 1, "INCR token");
    group.hold_links_of(0);
    group.on(0, 1, "INCR token");
    // Promotion of the first replica; the second follows it, and goes on without a new beginning.
    assert_eq!(group.on(1, 1, "REPLICAOF NO ONE"), "+OK");
    assert_eq!(group.on(2, 1, "REPLICAOF server 1"), "+OK");
    assert_eq!(group.on(1, 1, "INCR token"), ":2");
    assert_eq!(group.on(0, 1, "GET token"), "2");
    assert_eq!(group.on(0, 1, "SET mine x"), "+OK");
    group.release();
    assert_eq!(group.on(0, 1, "REPLICAOF server 1"), "+OK");
    group.pass(1_100);
    for server in 0..3 {
        assert_eq!(group.on(server, 1, "GET token"), "2", "server {server}");
        assert_eq!(group.on(server, 1, "GET mine"), "nil", "server {server}");
    }
    assert_eq!(
        group.on(0, 1, "SET mine x"),
        "-READONLY You can't write against a read only replica."
    );
}

#[test]
fn a_waiter_of_a_deposed_server_gets_an_error_and_is_dropped() {
    let mut group = Group::of(1);
    group.hold_links_of(0);
    group.on(0, 1, "SET k a");
    group.on(0, 1, "WAIT 1 0");
    group.on(0, 2, "REPLICAOF server 1");
    let told = group.read(0, 1);
    assert!(
        told.starts_with("-UNBLOCKED") && told.ends_with("| closed"),
        "{told}"
    );
}

#[test]
fn too_few_good_replicas_refuse_writes_after_the_lag_and_not_before() {
    let primary = ServerConfig {
        min_replicas_to_write: 1,
        min_replicas_max_lag: Duration::from_secs(2),
        ..settings(0)
    };
    let mut group = Group::with(vec![primary, settings(1)]);
    assert_eq!(group.on(0, 1, "SET k a"), "+OK");
    group.hold_links_of(1);
    group.pass(1_500);
    assert_eq!(group.on(0, 1, "SET k b"), "+OK");
    group.pass(3_000);
    assert_eq!(
        group.on(0, 1, "SET k c"),
        "-NOREPLICAS Not enough good replicas to write."
    );
    let script =
        "EVAL 'redis.call(\"publish\", \"c\", 1) return redis.call(\"set\", \"k\", \"c\")' 0";
    assert!(
        group
            .on(0, 1, script)
            .starts_with("-NOREPLICAS Not enough good replicas to write. script")
    );
    assert_eq!(group.on(0, 1, "GET k"), "b");
    group.release();
    group.pass(2_000);
    assert_eq!(group.on(0, 1, "SET k c"), "+OK");
}

#[test]
fn a_replica_that_is_called_online_may_not_get_writes_yet() {
    let primary = ServerConfig {
        sync_notice: Duration::from_millis(50),
        ..settings(0)
    };
    let mut group = Group::with(vec![primary, settings(1)]);
    let state = |group: &mut Group| {
        let text = group.on(0, 9, "INFO replication");
        let line = text.split("\\r\\n").find(|line| line.starts_with("slave0"));
        line.and_then(|line| line.split(',').nth(2))
            .unwrap_or_default()
            .to_owned()
    };
    // A second round: the first replica is away, and comes back with nothing.
    group.on(1, 1, "REPLICAOF NO ONE");
    group.on(1, 1, "REPLICAOF server 0");
    group.pass(60);
    assert_eq!(state(&mut group), "state=online");
    group.on(0, 1, "SET lock a");
    assert_eq!(group.on(1, 1, "GET lock"), "nil");
    group.pass(1_000);
    assert_eq!(group.on(1, 1, "GET lock"), "a");
}

#[test]
fn a_replica_follows_a_replica() {
    let third = ServerConfig {
        primary: Some(address(1)),
        ..settings(2)
    };
    let mut group = Group::with(vec![settings(0), settings(1), third]);
    group.pass(3_000);
    group.on(0, 1, "SET k a");
    assert_eq!(group.on(2, 1, "GET k"), "a");
}

#[test]
fn a_replica_tells_its_own_listeners() {
    let mut group = Group::of(1);
    group.on(1, 1, "SUBSCRIBE c");
    assert_eq!(group.on(0, 1, "PUBLISH c hello"), ":0");
    let told = group.read(1, 1);
    assert_eq!(told, ">[message c hello]");
    group.tell(1, Input::Wake);
}

#[test]
fn what_was_sent_to_a_replica_has_not_been_heard_by_it() {
    let mut group = Group::of(1);
    group.hold_links_of(0);
    group.on(0, 1, "SET k v");
    // Meanwhile it says how far it is, as it does every second.
    group.pass(3_000);
    assert_eq!(group.on(0, 1, "WAIT 1 10"), "");
    group.pass(200);
    let answer = group.read(0, 1);
    assert_eq!(answer, ":0");
}
