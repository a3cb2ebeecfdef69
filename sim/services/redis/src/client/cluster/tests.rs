use futures_lite::future::{block_on, poll_once};
use picklock_clients::completion::{Answer, completion};
use picklock_clients::redis::{RedisError, RedisResult, subscription};

use super::super::Input;
use super::*;

use std::time::Duration;

const SETTINGS: RedisClientConfig = RedisClientConfig {
    cluster: 4,
    ..super::super::tests::SETTINGS
};
pub(in crate::client) const SHARED: Lane = Lane { node: 0, number: 0 };

/// A client of several servers, its connections, and where each goes.
pub(in crate::client) struct Desk {
    client: Client,
    now: VirtualTime,
    pub opened: Vec<String>,
    pub sent: Vec<(usize, String)>,
    pub closed: Vec<usize>,
}

fn name(to: &Destination) -> String {
    match to {
        Destination::Node(place) => format!("any-{place}"),
        Destination::Sentinel(place) => format!("sentinel-{place}"),
        Destination::Replica(nth) => format!("replica-{nth}"),
        Destination::Address(address) => address.host.to_string(),
    }
}

fn run(first: i64, last: i64, host: &str) -> Value {
    let owner = Value::array([Value::bulk(host), Value::Integer(6_379), Value::bulk("id")]);
    Value::array([Value::Integer(first), Value::Integer(last), owner])
}

impl Desk {
    pub fn new(settings: RedisClientConfig) -> Self {
        Self {
            client: Client::new(settings),
            now: VirtualTime::ZERO,
            opened: Vec::new(),
            sent: Vec::new(),
            closed: Vec::new(),
        }
    }

    fn tell(&mut self, input: Input) {
        let mut out = Vec::new();
        self.client.handle(self.now, input, &mut out);
        for output in out {
            match output {
                Output::Connect { end, to } => {
                    let connection = ConnectionId(self.opened.len() as u32);
                    self.opened.push(name(&to));
                    self.client.connecting(self.now, end, connection);
                }
                Output::Send {
                    connection,
                    command,
                    ..
                } => self.sent.push((connection.0 as usize, command.to_string())),
                Output::Disconnect { connection } => self.closed.push(connection.0 as usize),
            }
        }
    }

    pub fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.tell(Input::Wake);
    }

    pub fn submit(&mut self, lane: Lane, words: &[&str]) -> Answer<RedisResult<Value>> {
        let (completion, answer) = completion();
        let start = Command::new(words[0]);
        let command = words[1..].iter().fold(start, Command::arg);
        self.tell(Input::Submit {
            lane,
            command,
            completion,
        });
        answer
    }

    pub fn open(&mut self, connection: usize) {
        let connection = ConnectionId(connection as u32);
        self.tell(Input::Opened { connection });
    }

    pub fn hear(&mut self, connection: usize, value: Value) {
        let connection = ConnectionId(connection as u32);
        self.tell(Input::Heard { connection, value });
    }

    pub fn break_off(&mut self, connection: usize) {
        let connection = ConnectionId(connection as u32);
        self.tell(Input::Broken { connection });
    }

    /// The newest connection is to somebody who is asked who serves what, and says so.
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

    pub fn last(&self) -> (usize, &str) {
        let (connection, command) = self.sent.last().expect("something was sent");
        (*connection, command)
    }
}

/// `b` is the first one's, and `a` the second one's.
fn halves() -> [Value; 2] {
    [run(0, 8_191, "one"), run(8_192, 16_383, "two")]
}

pub(in crate::client) fn now<T>(answer: Answer<T>) -> Option<T> {
    block_on(poll_once(answer))
}

#[test]
fn commands_go_to_whoever_serves_the_slot_of_their_key() {
    let mut desk = Desk::new(SETTINGS);
    let first = desk.submit(SHARED, &["GET", "a"]);
    let second = desk.submit(SHARED, &["GET", "b"]);
    desk.learn(&halves());
    assert_eq!(desk.opened, ["any-0", "two", "one"]);
    assert_eq!(desk.closed, [0]);
    for connection in [1, 2] {
        desk.open(connection);
        desk.hear(connection, Value::Integer(connection as i64));
    }
    assert_eq!(now(first), Some(Ok(Value::Integer(1))));
    assert_eq!(now(second), Some(Ok(Value::Integer(2))));
    // What has no key goes where the last one went.
    let _unheard = desk.submit(SHARED, &["WAIT", "1", "0"]);
    assert_eq!(desk.last(), (2, "WAIT 1 0"));
}

#[test]
fn a_command_is_sent_where_a_node_says_and_the_next_asks_another_node_who_serves_what() {
    let mut desk = Desk::new(SETTINGS);
    let answer = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&halves());
    desk.open(1);
    desk.hear(1, Value::error("MOVED 15495 three:6379"));
    assert_eq!(desk.opened.last().map(String::as_str), Some("three"));
    desk.open(2);
    assert_eq!(desk.last(), (2, "GET a"));
    desk.hear(2, Value::Nil);
    assert_eq!(now(answer), Some(Ok(Value::Nil)));
    let _unheard = desk.submit(SHARED, &["WAIT", "1", "0"]);
    assert_eq!(desk.opened.last().map(String::as_str), Some("any-1"));
    desk.learn(&[run(0, 8_191, "one"), run(8_192, 16_383, "three")]);
    // What has no key goes there, too.
    assert_eq!(desk.last(), (2, "WAIT 1 0"));
}

#[test]
fn a_key_on_its_way_is_asked_for_once_and_with_the_word_for_it() {
    let mut desk = Desk::new(SETTINGS);
    let answer = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&halves());
    desk.open(1);
    desk.hear(1, Value::error("ASK 15495 one:6379"));
    desk.open(2);
    assert_eq!(
        desk.sent[2..],
        [(2, "ASKING".to_owned()), (2, "GET a".to_owned())]
    );
    desk.hear(2, Value::OK);
    desk.hear(2, Value::bulk("found"));
    assert_eq!(now(answer), Some(Ok(Value::bulk("found"))));
    let _unheard = desk.submit(SHARED, &["GET", "a"]);
    assert_eq!(desk.last(), (1, "GET a"));
}

#[test]
fn nobody_is_sent_about_for_ever() {
    let mut desk = Desk::new(SETTINGS);
    let answer = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&halves());
    desk.open(1);
    for hop in 0..17 {
        let (here, there) = if hop % 2 == 0 { (1, "one") } else { (2, "two") };
        desk.hear(here, Value::error(format!("MOVED 15495 {there}:6379")));
        if hop == 0 {
            desk.open(2);
        }
    }
    let moved = Value::error("MOVED 15495 one:6379");
    assert_eq!(now(answer), Some(Ok(moved)));
}

#[test]
fn a_cluster_that_is_down_is_an_error_when_it_has_been_asked_for_long_enough() {
    let down = || Value::error("CLUSTERDOWN The cluster is down");
    for retries in [0, 2] {
        let mut desk = Desk::new(RedisClientConfig {
            retries,
            ..SETTINGS
        });
        let answer = desk.submit(SHARED, &["GET", "a"]);
        desk.learn(&halves());
        desk.open(1);
        // Three times a quarter of a second later, and then as often as anything is tried again.
        for pause in [250, 250, 250, 100, 100]
            .into_iter()
            .take(3 + retries as usize)
        {
            desk.hear(1, down());
            let asked = desk.opened.len();
            desk.pass(pause - 1);
            assert_eq!(desk.opened.len(), asked);
            desk.pass(1);
            desk.learn(&halves());
            assert_eq!(desk.last(), (1, "GET a"));
        }
        desk.hear(1, down());
        assert_eq!(now(answer), Some(Ok(down())));
    }
}

#[test]
fn a_lost_connection_and_a_missing_answer_are_reasons_to_ask_again() {
    let mut desk = Desk::new(SETTINGS);
    let lost = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&halves());
    desk.open(1);
    desk.break_off(1);
    assert_eq!(now(lost), Some(Err(RedisError::ConnectionLoss)));
    let late = desk.submit(SHARED, &["GET", "b"]);
    desk.learn(&halves());
    desk.open(3);
    desk.pass(500);
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    let _unheard = desk.submit(SHARED, &["GET", "b"]);
    assert_eq!(desk.opened.last().map(String::as_str), Some("any-2"));
}

#[test]
fn nodes_that_do_not_answer_are_passed_over_until_none_is_left() {
    let mut desk = Desk::new(SETTINGS);
    let answer = desk.submit(SHARED, &["GET", "a"]);
    desk.break_off(0);
    desk.open(1);
    desk.break_off(1);
    desk.open(2);
    desk.hear(
        2,
        Value::error("LOADING Redis is loading the dataset in memory"),
    );
    assert_eq!(desk.opened, ["any-0", "any-1", "any-2", "any-3"]);
    desk.break_off(3);
    assert_eq!(now(answer), Some(Err(RedisError::NotConnected)));
    assert_eq!(desk.client.next_wake(), VirtualTime::NEVER);
}

#[test]
fn what_belongs_together_is_never_torn_apart() {
    let mut desk = Desk::new(SETTINGS);
    let own = desk.client.dedicated(0);
    let watched = desk.submit(own, &["WATCH", "a"]);
    desk.learn(&halves());
    desk.open(1);
    desk.hear(1, Value::OK);
    assert_eq!(now(watched), Some(Ok(Value::OK)));
    let [_multi, deleted, _exec] =
        [&["MULTI"][..], &["DEL", "a"], &["EXEC"]].map(|words| desk.submit(own, words));
    assert!(
        desk.sent[1..]
            .iter()
            .all(|(connection, _)| *connection == 1)
    );
    desk.hear(1, Value::OK);
    let moved = Value::error("MOVED 15495 one:6379");
    desk.hear(1, moved.clone());
    assert_eq!(now(deleted), Some(Ok(moved)));
}

#[test]
fn subscriptions_are_made_where_the_channel_belongs_and_again_when_that_is_lost() {
    let mut desk = Desk::new(SETTINGS);
    let (listener, heard) = subscription();
    let (completion, confirmed) = completion();
    desk.tell(Input::Subscribe {
        node: 0,
        channel: (*b"a").into(),
        listener,
        completion,
    });
    desk.learn(&halves());
    desk.open(1);
    assert_eq!(desk.last(), (1, "SUBSCRIBE a"));
    let word = |kind: &str, last: Value| Value::array([Value::bulk(kind), Value::bulk("a"), last]);
    desk.hear(1, word("subscribe", Value::Integer(1)));
    assert_eq!(now(confirmed), Some(Ok(Value::OK)));
    desk.break_off(1);
    desk.pass(100);
    desk.learn(&[run(0, 16_383, "three")]);
    assert_eq!(desk.opened.last().map(String::as_str), Some("three"));
    desk.open(3);
    desk.hear(3, word("message", Value::bulk("told")));
    assert_eq!(
        block_on(poll_once(heard.next())).as_deref(),
        Some(&b"told"[..])
    );
}

/// The desk of a client that may read from replicas.
fn reading_from(read_from: ReadFrom) -> Desk {
    Desk::new(RedisClientConfig {
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
    let mut desk = reading_from(ReadFrom::Replicas);
    let looked = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&[replicated()]);
    desk.open(1);
    // It says first that what a replica has is good enough.
    let said = |connection, words: &str| (connection, words.to_owned());
    assert_eq!(desk.sent[1..], [said(1, "READONLY"), said(1, "GET a")]);
    desk.hear(1, Value::OK);
    desk.hear(1, Value::bulk("old"));
    assert_eq!(now(looked), Some(Ok(Value::bulk("old"))));
    let _unheard = ["GET", "PTTL", "SET"].map(|name| desk.submit(SHARED, &[name, "a"]));
    assert_eq!(desk.last(), (1, "PTTL a"));
    assert_eq!(desk.opened, ["any-0", "two", "three", "one"]);
    // A connection of somebody's own goes to the primary.
    let own = desk.client.dedicated(0);
    let _unheard = desk.submit(own, &["GET", "a"]);
    assert_eq!(desk.opened.last().map(String::as_str), Some("one"));
    desk.open(4);
    assert_eq!(desk.last(), (4, "GET a"));
}

#[test]
fn whoever_reads_from_any_node_reads_from_the_primary_too() {
    let mut desk = reading_from(ReadFrom::Any);
    let _unheard = [(); 4].map(|()| desk.submit(SHARED, &["GET", "a"]));
    desk.learn(&[replicated()]);
    assert_eq!(desk.opened, ["any-0", "one", "two", "three"]);
    // Without replicas, nobody else can be read from.
    let mut desk = reading_from(ReadFrom::Replicas);
    let _unheard = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&halves());
    assert_eq!(desk.opened, ["any-0", "two"]);
}

#[test]
fn a_replica_that_is_sent_elsewhere_and_one_without_its_primary_are_asked_about_again() {
    let mut desk = reading_from(ReadFrom::Replicas);
    let looked = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&[replicated()]);
    desk.open(1);
    desk.hear(1, Value::OK);
    desk.hear(
        1,
        Value::error(
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        ),
    );
    desk.pass(250);
    desk.learn(&[replicated()]);
    // It is the next one's turn.
    assert_eq!(desk.opened.last().map(String::as_str), Some("three"));
    desk.open(3);
    desk.hear(3, Value::OK);
    desk.hear(3, Value::error("MOVED 15495 one:6379"));
    assert_eq!(desk.opened.last().map(String::as_str), Some("one"));
    desk.open(4);
    desk.hear(4, Value::OK);
    desk.hear(4, Value::Nil);
    assert_eq!(now(looked), Some(Ok(Value::Nil)));
}

#[test]
fn whoever_polls_asks_again_without_a_reason_each_time_another_node() {
    let mut desk = Desk::new(RedisClientConfig {
        poll: Some(Duration::from_secs(1)),
        ..SETTINGS
    });
    // Before anybody wants to know, nobody is asked.
    assert_eq!(desk.client.next_wake(), VirtualTime::NEVER);
    let _unheard = desk.submit(SHARED, &["GET", "a"]);
    desk.learn(&halves());
    desk.open(1);
    desk.hear(1, Value::Nil);
    desk.pass(999);
    assert_eq!(desk.opened, ["any-0", "two"]);
    desk.pass(1);
    assert_eq!(desk.opened[2..], ["any-1"]);
    desk.learn(&[run(0, 16_383, "three")]);
    // What comes next goes to whom it belongs now.
    let _unheard = desk.submit(SHARED, &["GET", "a"]);
    assert_eq!(desk.opened[3..], ["three"]);
    // Nobody answers: it asks again all the same.
    desk.pass(1_000);
    for connection in 4..8 {
        desk.break_off(connection);
    }
    assert_eq!(desk.opened.len(), 8);
    desk.pass(1_000);
    assert_eq!(desk.opened.len(), 9);
}
