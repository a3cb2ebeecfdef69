use futures_lite::future::{block_on, poll_once};
use picklock_clients::completion::completion;
use picklock_clients::redis::{RedisError, subscription};
use picklock_machines::Machine;

use super::super::Input;
use super::super::test_harness::{ClientHarness, SHARED, now};
use super::*;

use std::time::Duration;

const SETTINGS: RedisClientConfig = RedisClientConfig {
    cluster: 4,
    ..super::super::tests::SETTINGS
};

fn run(first: i64, last: i64, host: &str) -> Value {
    let owner = Value::array([Value::bulk(host), Value::Integer(6_379), Value::bulk("id")]);
    Value::array([Value::Integer(first), Value::Integer(last), owner])
}

impl ClientHarness {
    /// The node at the newest connection is asked which nodes serve which slots, and says so.
    fn learn(&mut self, rows: &[Value]) {
        let connection = self.opened.len() - 1;
        assert!(
            self.opened[connection].starts_with("any-"),
            "{:?}",
            self.opened
        );
        self.open(connection);
        assert_eq!(self.last(), (connection, "CLUSTER SLOTS"));
        self.hear(connection, Value::array(rows.iter().cloned()));
    }
}

/// `b` is the first one's, and `a` the second one's.
fn halves() -> [Value; 2] {
    [run(0, 8_191, "one"), run(8_192, 16_383, "two")]
}

#[test]
fn commands_go_to_the_node_that_serves_the_slot_of_their_key() {
    let mut harness = ClientHarness::new(SETTINGS);
    let first = harness.submit(SHARED, &["GET", "a"]);
    let second = harness.submit(SHARED, &["GET", "b"]);
    harness.learn(&halves());
    assert_eq!(harness.opened, ["any-0", "two", "one"]);
    assert_eq!(harness.closed, [0]);
    for connection in [1, 2] {
        harness.open(connection);
        harness.hear(connection, Value::Integer(connection as i64));
    }
    assert_eq!(now(first), Some(Ok(Value::Integer(1))));
    assert_eq!(now(second), Some(Ok(Value::Integer(2))));
    // What has no key goes where the last one went.
    let _unheard = harness.submit(SHARED, &["WAIT", "1", "0"]);
    assert_eq!(harness.last(), (2, "WAIT 1 0"));
}

#[test]
fn a_redirected_command_goes_there_and_the_next_asks_again() {
    let mut harness = ClientHarness::new(SETTINGS);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&halves());
    harness.open(1);
    harness.hear(1, Value::error("MOVED 15495 three:6379"));
    assert_eq!(harness.opened.last().map(String::as_str), Some("three"));
    harness.open(2);
    assert_eq!(harness.last(), (2, "GET a"));
    harness.hear(2, Value::Nil);
    assert_eq!(now(answer), Some(Ok(Value::Nil)));
    let _unheard = harness.submit(SHARED, &["WAIT", "1", "0"]);
    assert_eq!(harness.opened.last().map(String::as_str), Some("any-1"));
    harness.learn(&[run(0, 8_191, "one"), run(8_192, 16_383, "three")]);
    // What has no key goes there, too.
    assert_eq!(harness.last(), (2, "WAIT 1 0"));
}

#[test]
fn a_key_on_its_way_is_asked_for_once_and_with_the_word_for_it() {
    let mut harness = ClientHarness::new(SETTINGS);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&halves());
    harness.open(1);
    harness.hear(1, Value::error("ASK 15495 one:6379"));
    harness.open(2);
    assert_eq!(
        harness.sent[2..],
        [(2, "ASKING".to_owned()), (2, "GET a".to_owned())]
    );
    harness.hear(2, Value::OK);
    harness.hear(2, Value::bulk("found"));
    assert_eq!(now(answer), Some(Ok(Value::bulk("found"))));
    let _unheard = harness.submit(SHARED, &["GET", "a"]);
    assert_eq!(harness.last(), (1, "GET a"));
}

#[test]
fn a_command_is_not_redirected_for_ever() {
    let mut harness = ClientHarness::new(SETTINGS);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&halves());
    harness.open(1);
    for hop in 0..17 {
        let (here, there) = if hop % 2 == 0 { (1, "one") } else { (2, "two") };
        harness.hear(here, Value::error(format!("MOVED 15495 {there}:6379")));
        if hop == 0 {
            harness.open(2);
        }
    }
    let moved = Value::error("MOVED 15495 one:6379");
    assert_eq!(now(answer), Some(Ok(moved)));
}

#[test]
fn a_cluster_that_is_down_is_an_error_when_it_has_been_asked_for_long_enough() {
    let down = || Value::error("CLUSTERDOWN The cluster is down");
    for retries in [0, 2] {
        let mut harness = ClientHarness::new(RedisClientConfig {
            retries,
            ..SETTINGS
        });
        let answer = harness.submit(SHARED, &["GET", "a"]);
        harness.learn(&halves());
        harness.open(1);
        // Three times a quarter of a second later, and then as often as anything is tried again.
        for pause in [250, 250, 250, 100, 100]
            .into_iter()
            .take(3 + retries as usize)
        {
            harness.hear(1, down());
            let asked = harness.opened.len();
            harness.pass(pause - 1);
            assert_eq!(harness.opened.len(), asked);
            harness.pass(1);
            harness.learn(&halves());
            assert_eq!(harness.last(), (1, "GET a"));
        }
        harness.hear(1, down());
        assert_eq!(now(answer), Some(Ok(down())));
    }
}

#[test]
fn a_lost_connection_and_a_missing_answer_are_reasons_to_ask_again() {
    let mut harness = ClientHarness::new(SETTINGS);
    let lost = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&halves());
    harness.open(1);
    harness.break_off(1);
    assert_eq!(now(lost), Some(Err(RedisError::ConnectionLoss)));
    let late = harness.submit(SHARED, &["GET", "b"]);
    harness.learn(&halves());
    harness.open(3);
    harness.pass(500);
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    let _unheard = harness.submit(SHARED, &["GET", "b"]);
    assert_eq!(harness.opened.last().map(String::as_str), Some("any-2"));
}

#[test]
fn nodes_that_do_not_answer_are_passed_over_until_none_is_left() {
    let mut harness = ClientHarness::new(SETTINGS);
    let answer = harness.submit(SHARED, &["GET", "a"]);
    harness.break_off(0);
    harness.open(1);
    harness.break_off(1);
    harness.open(2);
    harness.hear(
        2,
        Value::error("LOADING Redis is loading the dataset in memory"),
    );
    assert_eq!(harness.opened, ["any-0", "any-1", "any-2", "any-3"]);
    harness.break_off(3);
    assert_eq!(now(answer), Some(Err(RedisError::NotConnected)));
    assert_eq!(harness.client.next_wake(), VirtualTime::NEVER);
}

#[test]
fn what_belongs_together_is_never_torn_apart() {
    let mut harness = ClientHarness::new(SETTINGS);
    let own = harness.client.dedicated(0);
    let watched = harness.submit(own, &["WATCH", "a"]);
    harness.learn(&halves());
    harness.open(1);
    harness.hear(1, Value::OK);
    assert_eq!(now(watched), Some(Ok(Value::OK)));
    let [_multi, deleted, _exec] =
        [&["MULTI"][..], &["DEL", "a"], &["EXEC"]].map(|words| harness.submit(own, words));
    assert!(
        harness.sent[1..]
            .iter()
            .all(|(connection, _)| *connection == 1)
    );
    harness.hear(1, Value::OK);
    let moved = Value::error("MOVED 15495 one:6379");
    harness.hear(1, moved.clone());
    assert_eq!(now(deleted), Some(Ok(moved)));
}

#[test]
fn subscriptions_are_made_where_the_channel_belongs_and_again_when_that_is_lost() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (listener, heard) = subscription();
    let (completion, confirmed) = completion();
    harness.tell(Input::Subscribe {
        node: 0,
        channel: (*b"a").into(),
        listener,
        completion,
    });
    harness.learn(&halves());
    harness.open(1);
    assert_eq!(harness.last(), (1, "SUBSCRIBE a"));
    let word = |kind: &str, last: Value| Value::array([Value::bulk(kind), Value::bulk("a"), last]);
    harness.hear(1, word("subscribe", Value::Integer(1)));
    assert_eq!(now(confirmed), Some(Ok(Value::OK)));
    harness.break_off(1);
    harness.pass(100);
    harness.learn(&[run(0, 16_383, "three")]);
    assert_eq!(harness.opened.last().map(String::as_str), Some("three"));
    harness.open(3);
    harness.hear(3, word("message", Value::bulk("told")));
    assert_eq!(
        block_on(poll_once(heard.next())).as_deref(),
        Some(&b"told"[..])
    );
}

/// The desk of a client that may read from replicas.
fn reading_from(read_from: ReadFrom) -> ClientHarness {
    ClientHarness::new(RedisClientConfig {
        read_from,
        ..SETTINGS
    })
}

/// One primary of everything, and its replicas.
fn replicated() -> Value {
    let node =
        |host: &str| Value::array([Value::bulk(host), Value::Integer(6_379), Value::bulk("id")]);
    let range = [Value::Integer(0), Value::Integer(16_383)];
    Value::array(range.into_iter().chain(["one", "two", "three"].map(node)))
}

#[test]
fn what_only_reads_goes_to_replicas_in_turn_and_all_else_to_the_primary() {
    let mut harness = reading_from(ReadFrom::Replicas);
    let looked = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&[replicated()]);
    harness.open(1);
    // It says first that what a replica has is good enough.
    let said = |connection, words: &str| (connection, words.to_owned());
    assert_eq!(harness.sent[1..], [said(1, "READONLY"), said(1, "GET a")]);
    harness.hear(1, Value::OK);
    harness.hear(1, Value::bulk("old"));
    assert_eq!(now(looked), Some(Ok(Value::bulk("old"))));
    let _unheard = ["GET", "PTTL", "SET"].map(|name| harness.submit(SHARED, &[name, "a"]));
    assert_eq!(harness.last(), (1, "PTTL a"));
    assert_eq!(harness.opened, ["any-0", "two", "three", "one"]);
    // A dedicated lane goes to the primary.
    let own = harness.client.dedicated(0);
    let _unheard = harness.submit(own, &["GET", "a"]);
    assert_eq!(harness.opened.last().map(String::as_str), Some("one"));
    harness.open(4);
    assert_eq!(harness.last(), (4, "GET a"));
}

#[test]
fn a_client_that_reads_from_any_node_reads_from_the_primary_too() {
    let mut harness = reading_from(ReadFrom::Any);
    let _unheard = [(); 4].map(|()| harness.submit(SHARED, &["GET", "a"]));
    harness.learn(&[replicated()]);
    assert_eq!(harness.opened, ["any-0", "one", "two", "three"]);
    // Without replicas, only the primary can be read from.
    let mut harness = reading_from(ReadFrom::Replicas);
    let _unheard = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&halves());
    assert_eq!(harness.opened, ["any-0", "two"]);
}

#[test]
fn a_replica_that_is_sent_elsewhere_and_one_without_its_primary_are_asked_about_again() {
    let mut harness = reading_from(ReadFrom::Replicas);
    let looked = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&[replicated()]);
    harness.open(1);
    harness.hear(1, Value::OK);
    harness.hear(
        1,
        Value::error(
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        ),
    );
    harness.pass(250);
    harness.learn(&[replicated()]);
    // It is the next one's turn.
    assert_eq!(harness.opened.last().map(String::as_str), Some("three"));
    harness.open(3);
    harness.hear(3, Value::OK);
    harness.hear(3, Value::error("MOVED 15495 one:6379"));
    assert_eq!(harness.opened.last().map(String::as_str), Some("one"));
    harness.open(4);
    harness.hear(4, Value::OK);
    harness.hear(4, Value::Nil);
    assert_eq!(now(looked), Some(Ok(Value::Nil)));
}

#[test]
fn a_polling_client_asks_another_node_each_time() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        poll: Some(Duration::from_secs(1)),
        ..SETTINGS
    });
    // Before the first command, no node is asked.
    assert_eq!(harness.client.next_wake(), VirtualTime::NEVER);
    let _unheard = harness.submit(SHARED, &["GET", "a"]);
    harness.learn(&halves());
    harness.open(1);
    harness.hear(1, Value::Nil);
    harness.pass(999);
    assert_eq!(harness.opened, ["any-0", "two"]);
    harness.pass(1);
    assert_eq!(harness.opened[2..], ["any-1"]);
    harness.learn(&[run(0, 16_383, "three")]);
    // The next command goes to the new owner of its slot.
    let _unheard = harness.submit(SHARED, &["GET", "a"]);
    assert_eq!(harness.opened[3..], ["three"]);
    // No node answers: it asks again all the same.
    harness.pass(1_000);
    for connection in 4..8 {
        harness.break_off(connection);
    }
    assert_eq!(harness.opened.len(), 8);
    harness.pass(1_000);
    assert_eq!(harness.opened.len(), 9);
}
