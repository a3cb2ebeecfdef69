use picklock_clients::redis::RedisError;

use super::super::test_harness::{ClientHarness, SHARED, now};
use super::*;

const SETTINGS: RedisClientConfig = RedisClientConfig {
    replicas: 2,
    read_from: ReadFrom::Replicas,
    ..super::super::tests::SETTINGS
};

fn with_sentinels(poll: Option<std::time::Duration>) -> ClientHarness {
    ClientHarness::new(RedisClientConfig {
        sentinels: 2,
        poll,
        ..SETTINGS
    })
}

/// What a Sentinel says of replicas, by name and flags.
fn replicas(rows: &[(&str, &str)]) -> Value {
    let row = |(host, flags): &(&str, &str)| {
        let words = ["ip", *host, "port", "6379", "flags", *flags];
        Value::array(words.map(Value::bulk))
    };
    Value::array(rows.iter().map(row))
}

#[test]
fn what_only_reads_goes_to_replicas_in_turn_and_all_else_to_the_primary() {
    let mut harness = ClientHarness::new(SETTINGS);
    for words in [
        &["GET", "a"][..],
        &["SET", "a", "1"],
        &["GET", "b"],
        &["GET", "c"],
    ] {
        drop(harness.submit(SHARED, words));
    }
    assert_eq!(harness.opened, ["replica-0", "any-0", "replica-1"]);
    for connection in 0..3 {
        harness.open(connection);
    }
    let said = |connection: usize, words: &str| (connection, words.to_owned());
    let sent = [
        said(0, "GET a"),
        said(0, "GET c"),
        said(1, "SET a 1"),
        said(2, "GET b"),
    ];
    assert_eq!(harness.sent, sent);
}

#[test]
fn a_reader_from_any_server_reads_from_the_primary_in_turn() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        read_from: ReadFrom::Any,
        ..SETTINGS
    });
    for _ in 0..4 {
        drop(harness.submit(SHARED, &["GET", "a"]));
    }
    assert_eq!(harness.opened, ["any-0", "replica-0", "replica-1"]);
}

#[test]
fn what_goes_by_a_connection_of_its_own_is_the_primarys() {
    let mut harness = ClientHarness::new(SETTINGS);
    let own = Lane { node: 0, number: 1 };
    drop(harness.submit(own, &["GET", "a"]));
    assert_eq!(harness.opened, ["any-0"]);
}

#[test]
fn a_replica_that_cannot_be_reached_is_passed_over_and_at_last_the_primary_is_read_from() {
    let mut harness = ClientHarness::new(SETTINGS);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.break_off(0);
    harness.break_off(1);
    assert_eq!(harness.opened, ["replica-0", "replica-1", "any-0"]);
    harness.open(2);
    harness.hear(2, Value::Integer(1));
    assert_eq!(now(answer), Some(Ok(Value::Integer(1))));
    // As long as that connection stands, and no longer.
    drop(harness.submit(SHARED, &["GET", "a"]));
    drop(harness.submit(SHARED, &["GET", "a"]));
    assert_eq!(harness.opened.len(), 4);
    harness.break_off(2);
    harness.pass(100);
    drop(harness.submit(SHARED, &["GET", "a"]));
    drop(harness.submit(SHARED, &["GET", "a"]));
    assert!(
        harness.opened[4].starts_with("replica-"),
        "{:?}",
        harness.opened
    );
}

#[test]
fn a_command_fails_if_no_server_can_be_reached() {
    let mut harness = ClientHarness::new(SETTINGS);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    for connection in 0..3 {
        harness.break_off(connection);
    }
    assert_eq!(now(answer), Some(Err(RedisError::NotConnected)));
}

#[test]
fn after_a_replica_that_does_not_answer_the_next_one_is_asked() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.open(0);
    harness.pass(500);
    assert_eq!(harness.closed, [0]);
    harness.pass(100);
    harness.open(1);
    harness.hear(1, Value::Nil);
    assert_eq!(harness.opened, ["replica-0", "replica-1"]);
    assert_eq!(now(answer), Some(Ok(Value::Nil)));
}

#[test]
fn sentinels_are_asked_and_a_replica_down_for_them_is_left_out() {
    let mut harness = with_sentinels(None);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.open(0);
    assert_eq!(harness.last(), (0, "SENTINEL REPLICAS mymaster"));
    let rows = [
        ("one", "s_down,slave"),
        ("two", "slave,disconnected"),
        ("three", "slave"),
    ];
    harness.hear(0, replicas(&rows));
    assert_eq!(harness.opened, ["sentinel-0", "three"]);
    harness.open(1);
    assert_eq!(harness.last(), (1, "GET a"));
    harness.hear(1, Value::Nil);
    assert_eq!(now(answer), Some(Ok(Value::Nil)));
}

#[test]
fn where_sentinels_name_no_replica_the_primary_is_looked_for() {
    let mut harness = with_sentinels(None);
    drop(harness.submit(SHARED, &["GET", "a"]));
    harness.open(0);
    harness.hear(0, replicas(&[("one", "s_down,slave")]));
    assert_eq!(harness.opened, ["sentinel-0", "sentinel-0"]);
    harness.open(1);
    assert_eq!(
        harness.last(),
        (1, "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster")
    );
    harness.hear(1, Value::array(["first", "6379"].map(Value::bulk)));
    harness.open(2);
    assert_eq!(harness.last(), (2, "ROLE"));
    harness.hear(2, Value::array([Value::bulk("master")]));
    assert_eq!(harness.last(), (2, "GET a"));
}

#[test]
fn a_sentinel_that_does_not_answer_is_followed_by_the_next_and_after_the_last_the_read_fails() {
    let mut harness = with_sentinels(None);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.break_off(0);
    harness.break_off(1);
    assert_eq!(harness.opened, ["sentinel-0", "sentinel-1"]);
    assert_eq!(now(answer), Some(Err(RedisError::NotConnected)));
}

#[test]
fn a_polling_client_leaves_a_replica_that_is_named_no_more() {
    let mut harness = with_sentinels(Some(std::time::Duration::from_secs(1)));
    let first = harness.submit(SHARED, &["GET", "a"]);
    harness.open(0);
    harness.hear(0, replicas(&[("one", "slave")]));
    harness.open(1);
    harness.hear(1, Value::Nil);
    assert!(now(first).is_some());
    harness.pass(1_000);
    harness.hear(0, replicas(&[("one", "s_down,slave")]));
    assert_eq!(harness.closed, [1]);
    harness.pass(100);
    // Now the primary is read from.
    for _ in 0..2 {
        drop(harness.submit(SHARED, &["GET", "a"]));
    }
    harness.hear(0, replicas(&[]));
    harness.open(2);
    harness.hear(2, Value::array(["first", "6379"].map(Value::bulk)));
    harness.open(3);
    assert_eq!(harness.last(), (3, "ROLE"));
    harness.hear(3, Value::array([Value::bulk("master")]));
    assert_eq!(harness.last(), (3, "GET a"));
    // As soon as there is a replica again, it is.
    harness.pass(1_000);
    harness.hear(0, replicas(&[("one", "slave")]));
    assert!(harness.closed.contains(&3), "{:?}", harness.closed);
}
