use std::time::Duration;

use futures_lite::future::{block_on, poll_once};
use picklock_clients::completion::{Answer, completion};
use picklock_clients::redis::{Command, RedisError, RedisResult, subscription};
use picklock_machines::Boring;

use super::*;

pub(in crate::client) const SETTINGS: RedisClientConfig = RedisClientConfig {
    nodes: 1,
    timeout: Duration::from_millis(500),
    connect_timeout: Duration::from_secs(1),
    retries: 0,
    retry_pause: Duration::from_millis(100),
    retry_pause_max: None,
    replay: false,
    resend: true,
    close_on_timeout: None,
    switch_master: SwitchMaster::Nowhere,
    sentinels: 0,
    poll: None,
    cluster: 0,
    replicas: 0,
    read_from: ReadFrom::Primary,
    connections: ConnectionMode::Multiplexed,
};
const LANE: Lane = Lane { node: 0, number: 0 };

type Reply = RedisResult<Value>;

/// A client, and what it has wanted done.
struct ClientHarness {
    client: Client,
    now: VirtualTime,
    next: u32,
    out: Vec<Output>,
}

impl ClientHarness {
    fn new(settings: RedisClientConfig) -> Self {
        Self {
            client: Client::new(settings),
            now: VirtualTime::ZERO,
            next: 0,
            out: Vec::new(),
        }
    }

    fn tell(&mut self, input: Input) {
        let now = Now {
            monotonic: self.now,
            wall_micros: 0,
        };
        let client = &mut self.client;
        client.handle(now, input, &mut Boring, &mut self.out);
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.tell(Input::Wake);
    }

    fn submit(&mut self, text: &str) -> Answer<Reply> {
        let (completion, answer) = completion();
        let (lane, command) = (LANE, Command::of(text.split(' ')).expect("a name"));
        self.tell(Input::Submit {
            lane,
            command,
            completion,
            caller: None,
        });
        answer
    }

    /// Gives the connection that it asks for a number, and opens it.
    fn open(&mut self) -> ConnectionId {
        let connection = self.connection();
        self.tell(Input::Opened { connection });
        connection
    }

    fn connection(&mut self) -> ConnectionId {
        let connection = ConnectionId(self.next);
        self.next += 1;
        let end = self.out.drain(..).find_map(|output| match output {
            Output::Connect { end, .. } => Some(end),
            Output::Send { .. } | Output::Disconnect { .. } => None,
        });
        let end = end.expect("it asks for a connection");
        self.client.connecting(self.now, end, connection);
        connection
    }

    fn sent(&mut self) -> Vec<String> {
        let sent = self.out.drain(..).filter_map(|output| match output {
            Output::Send { command, .. } => Some(command.to_string()),
            Output::Connect { .. } | Output::Disconnect { .. } => None,
        });
        sent.collect()
    }

    fn hear(&mut self, connection: ConnectionId, value: Value) {
        self.tell(Input::Received { connection, value });
    }
}

fn now(answer: Answer<Reply>) -> Option<Reply> {
    block_on(poll_once(answer))
}

#[test]
fn commands_wait_for_the_connection_and_are_answered_in_their_order() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (first, second) = (harness.submit("GET"), harness.submit("INCR"));
    assert_eq!(harness.client.requests_in_flight(), 2);
    let connection = harness.open();
    assert_eq!(harness.sent(), ["GET", "INCR"]);
    harness.hear(connection, Value::Nil);
    harness.hear(connection, Value::Integer(1));
    assert_eq!(now(first), Some(Ok(Value::Nil)));
    assert_eq!(now(second), Some(Ok(Value::Integer(1))));
    assert_eq!(harness.client.requests_in_flight(), 0);
}

#[test]
fn who_is_told_that_the_server_still_loads_connects_again_if_it_may() {
    let loading = || Value::error("LOADING Redis is loading the dataset in memory");
    let mut harness = ClientHarness::new(SETTINGS);
    let once = harness.submit("GET");
    let connection = harness.open();
    harness.hear(connection, loading());
    assert_eq!(now(once), Some(Ok(loading())));

    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let twice = harness.submit("GET");
    let connection = harness.open();
    harness.hear(connection, loading());
    harness.pass(SETTINGS.retry_pause);
    let connection = harness.open();
    assert_eq!(harness.sent(), ["GET"]);
    harness.hear(connection, Value::Nil);
    assert_eq!(now(twice), Some(Ok(Value::Nil)));
}

#[test]
fn a_connection_that_nobody_takes_is_given_up_and_asked_for_again() {
    let mut harness = ClientHarness::new(SETTINGS);
    let _first = harness.submit("GET");
    let nobody = harness.connection();
    harness.pass(Duration::from_millis(999));
    let second = harness.submit("GET");
    assert!(harness.out.is_empty());
    harness.pass(Duration::from_millis(1));
    assert_eq!(now(second), Some(Err(RedisError::NotConnected)));
    let left = |output: &Output| matches!(output, Output::Disconnect { connection } if *connection == nobody);
    assert!(harness.out.iter().any(left));
    let _third = harness.submit("GET");
    harness.pass(SETTINGS.retry_pause);
    harness.open();
    assert_eq!(harness.sent(), ["GET"]);
}

#[test]
fn an_answer_that_comes_too_late_is_nobody_elses() {
    let mut harness = ClientHarness::new(SETTINGS);
    let late = harness.submit("GET");
    let connection = harness.open();
    harness.pass(Duration::from_millis(500));
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    let next = harness.submit("INCR");
    harness.hear(connection, Value::Nil);
    harness.hear(connection, Value::Integer(1));
    assert_eq!(now(next), Some(Ok(Value::Integer(1))));
}

#[test]
fn what_was_sent_may_have_happened_and_what_was_not_has_not() {
    let mut harness = ClientHarness::new(SETTINGS);
    let sent = harness.submit("SET");
    let connection = harness.open();
    harness.tell(Input::Broken { connection });
    assert_eq!(now(sent), Some(Err(RedisError::ConnectionLoss)));
    let unsent = harness.submit("SET");
    harness.pass(SETTINGS.retry_pause);
    let connection = harness.connection();
    harness.tell(Input::Broken { connection });
    assert_eq!(now(unsent), Some(Err(RedisError::NotConnected)));
}

#[test]
fn a_client_that_repeats_commands_sends_them_again_by_the_next_connection() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.submit("DEL");
    let connection = harness.open();
    assert_eq!(harness.sent(), ["DEL"]);
    harness.tell(Input::Broken { connection });
    assert_eq!(
        harness.client.next_wake(),
        harness.now + SETTINGS.retry_pause
    );
    harness.pass(SETTINGS.retry_pause);
    let connection = harness.open();
    assert_eq!(harness.sent(), ["DEL"]);
    harness.hear(connection, Value::Integer(0));
    assert_eq!(now(answer), Some(Ok(Value::Integer(0))));
}

#[test]
fn a_client_that_repeats_commands_gives_up_in_the_end() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.submit("DEL");
    for _ in 0..2 {
        let connection = harness.open();
        harness.tell(Input::Broken { connection });
        harness.pass(SETTINGS.retry_pause);
    }
    assert_eq!(now(answer), Some(Err(RedisError::ConnectionLoss)));
}

#[test]
fn a_late_answer_closes_the_connection_of_a_client_that_repeats_commands() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.submit("DEL");
    let connection = harness.open();
    harness.out.clear();
    harness.pass(SETTINGS.timeout);
    let closed = |output: &Output| matches!(output, Output::Disconnect { connection: it } if *it == connection);
    assert!(harness.out.iter().any(closed));
    harness.pass(SETTINGS.retry_pause);
    let connection = harness.open();
    harness.hear(connection, Value::Integer(1));
    assert_eq!(now(answer), Some(Ok(Value::Integer(1))));
}

#[test]
fn who_sends_nothing_again_tries_again_only_what_had_no_connection() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        resend: false,
        ..SETTINGS
    });
    let unsent = harness.submit("SET");
    let connection = harness.connection();
    harness.tell(Input::Broken { connection });
    harness.pass(SETTINGS.retry_pause);
    let connection = harness.open();
    assert_eq!(harness.sent(), ["SET"]);
    harness.tell(Input::Broken { connection });
    assert_eq!(now(unsent), Some(Err(RedisError::ConnectionLoss)));
}

#[test]
fn a_late_answer_is_awaited_on_the_connection_of_who_keeps_it() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        close_on_timeout: Some(false),
        ..SETTINGS
    });
    let late = harness.submit("DEL");
    let connection = harness.open();
    harness.out.clear();
    harness.pass(SETTINGS.timeout);
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    let next = harness.submit("GET");
    assert_eq!(harness.sent(), ["GET"]);
    harness.hear(connection, Value::Integer(1));
    harness.hear(connection, Value::Nil);
    assert_eq!(now(next), Some(Ok(Value::Nil)));
}

fn subscribe(
    harness: &mut ClientHarness,
) -> (Answer<Reply>, picklock_clients::redis::Subscription) {
    let (listener, subscription) = subscription();
    let (completion, answer) = completion();
    harness.tell(Input::Subscribe {
        node: 0,
        channel: b"c"[..].into(),
        listener,
        completion,
    });
    (answer, subscription)
}

fn told(kind: &str, last: Value) -> Value {
    Value::Push([Value::bulk(kind), Value::bulk("c"), last].into())
}

#[test]
fn a_subscription_is_confirmed_and_then_hears_messages() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (answer, subscription) = subscribe(&mut harness);
    let connection = harness.open();
    assert_eq!(harness.sent(), ["SUBSCRIBE c"]);
    harness.hear(connection, told("subscribe", Value::Integer(1)));
    assert_eq!(now(answer), Some(Ok(Value::OK)));
    harness.hear(connection, told("message", Value::bulk("unlock")));
    let heard = block_on(poll_once(subscription.next()));
    assert_eq!(heard.as_deref(), Some(&b"unlock"[..]));
}

#[test]
fn a_subscription_goes_over_to_the_next_connection_without_what_was_said_meanwhile() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (_confirmed, subscription) = subscribe(&mut harness);
    let connection = harness.open();
    harness.hear(connection, told("subscribe", Value::Integer(1)));
    harness.tell(Input::Broken { connection });
    harness.pass(SETTINGS.retry_pause);
    let _next = harness.open();
    assert_eq!(harness.sent(), ["SUBSCRIBE c"]);
    assert!(block_on(poll_once(subscription.next())).is_none());
}

#[test]
fn a_subscription_that_nobody_listens_to_is_left() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (_confirmed, subscription) = subscribe(&mut harness);
    let connection = harness.open();
    harness.hear(connection, told("subscribe", Value::Integer(1)));
    harness.out.clear();
    drop(subscription);
    harness.hear(connection, told("message", Value::bulk("unlock")));
    assert_eq!(harness.sent(), ["UNSUBSCRIBE c"]);
}

#[test]
fn a_confirmation_that_does_not_come_is_not_waited_for_for_ever() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (answer, _subscription) = subscribe(&mut harness);
    let _connection = harness.open();
    harness.pass(SETTINGS.timeout);
    assert_eq!(now(answer), Some(Err(RedisError::TimedOut)));
}

const POOL_OF_TWO: RedisClientConfig = RedisClientConfig {
    connections: ConnectionMode::Pool(2),
    ..SETTINGS
};

#[test]
fn whoever_waits_for_an_answer_has_its_connection_of_the_pool_for_itself() {
    let mut harness = ClientHarness::new(POOL_OF_TWO);
    let first = harness.submit("FIRST");
    let one = harness.open();
    assert_eq!(harness.sent(), ["FIRST"]);
    let second = harness.submit("SECOND");
    let two = harness.open();
    assert_eq!(harness.sent(), ["SECOND"]);
    // Both are out: the third waits for whoever comes back first.
    let third = harness.submit("THIRD");
    assert!(harness.out.is_empty());
    assert_eq!(harness.client.requests_in_flight(), 3);
    harness.hear(two, Value::Integer(2));
    assert_eq!(now(second), Some(Ok(Value::Integer(2))));
    assert_eq!(harness.sent(), ["THIRD"]);
    harness.hear(one, Value::Integer(1));
    harness.hear(two, Value::Integer(3));
    assert_eq!(now(first), Some(Ok(Value::Integer(1))));
    assert_eq!(now(third), Some(Ok(Value::Integer(3))));
    assert_eq!(harness.client.requests_in_flight(), 0);
}

#[test]
fn an_exhausted_pool_is_waited_for_as_long_as_an_answer_and_nothing_is_sent() {
    let connections = ConnectionMode::Pool(1);
    let timeout = Duration::from_secs(2);
    let mut harness = ClientHarness::new(RedisClientConfig {
        connections,
        timeout,
        ..SETTINGS
    });
    let _slow = harness.submit("SLOW");
    let connection = harness.open();
    harness.sent();
    harness.pass(Duration::from_secs(1));
    let served = harness.submit("SERVED");
    harness.pass(Duration::from_millis(999));
    let late = harness.submit("LATE");
    harness.hear(connection, Value::OK);
    // It has waited for a second, and now waits for its answer.
    assert_eq!(harness.sent(), ["SERVED"]);
    harness.pass(Duration::from_millis(1_999));
    assert_eq!(harness.client.requests_in_flight(), 2);
    harness.hear(connection, Value::OK);
    assert_eq!(now(served), Some(Ok(Value::OK)));
    assert_eq!(harness.sent(), ["LATE"]);
    let never = harness.submit("NEVER");
    harness.pass(Duration::from_millis(2_000));
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    assert_eq!(now(never), Some(Err(RedisError::NotConnected)));
}

#[test]
fn each_connection_of_a_pool_that_has_died_unheard_costs_one_command() {
    let mut harness = ClientHarness::new(POOL_OF_TWO);
    let _first = harness.submit("FIRST");
    let one = harness.open();
    let _second = harness.submit("SECOND");
    let two = harness.open();
    harness.sent();
    harness.hear(one, Value::OK);
    harness.hear(two, Value::OK);
    // The server is gone, and nobody has been told. Whoever came back last is handed out first.
    for connection in [two, one] {
        let lost = harness.submit("LOST");
        let sent = harness.out.drain(..).map(|output| match output {
            Output::Send { connection, .. } => Some(connection),
            Output::Connect { .. } | Output::Disconnect { .. } => None,
        });
        assert_eq!(sent.collect::<Vec<_>>(), [Some(connection)]);
        harness.pass(Duration::from_millis(500));
        assert_eq!(now(lost), Some(Err(RedisError::TimedOut)));
        let closed = harness.out.drain(..).any(
            |output| matches!(output, Output::Disconnect { connection: it } if it == connection),
        );
        assert!(closed, "{connection:?}");
    }
    let found = harness.submit("FOUND");
    harness.pass(Duration::from_millis(100));
    let anew = harness.open();
    harness.hear(anew, Value::OK);
    assert_eq!(now(found), Some(Ok(Value::OK)));
}

#[test]
fn a_late_answer_on_a_shared_connection_keeps_those_behind_it_waiting() {
    let mut harness = ClientHarness::new(SETTINGS);
    let first = harness.submit("FIRST");
    let connection = harness.open();
    let second = harness.submit("SECOND");
    assert_eq!(harness.sent(), ["FIRST", "SECOND"]);
    harness.pass(Duration::from_millis(500));
    assert_eq!(now(first), Some(Err(RedisError::TimedOut)));
    assert_eq!(now(second), Some(Err(RedisError::TimedOut)));
    // The connection stays, and what comes next goes behind what is late.
    let third = harness.submit("THIRD");
    assert_eq!(harness.sent(), ["THIRD"]);
    harness.hear(connection, Value::Integer(1));
    harness.hear(connection, Value::Integer(2));
    harness.hear(connection, Value::Integer(3));
    assert_eq!(now(third), Some(Ok(Value::Integer(3))));
}

#[test]
fn a_command_that_waits_at_the_server_is_waited_for_as_long_and_then_as_for_any_answer() {
    let mut harness = ClientHarness::new(SETTINGS);
    let waits = harness.submit("BLPOP list 2.500");
    let for_ever = harness.submit("BLMOVE a b LEFT LEFT 0");
    harness.open();
    harness.pass(Duration::from_millis(2_999));
    assert_eq!(harness.client.requests_in_flight(), 2);
    harness.pass(Duration::from_millis(1));
    assert_eq!(now(waits), Some(Err(RedisError::TimedOut)));
    harness.pass(Duration::from_secs(86_400));
    assert_eq!(now(for_ever), None);
}

const REPLAYS: RedisClientConfig = RedisClientConfig {
    retry_pause: Duration::from_millis(1),
    retry_pause_max: Some(Duration::from_millis(4)),
    replay: true,
    ..SETTINGS
};

#[test]
fn a_client_that_replays_sends_what_waits_in_its_order_until_the_timeout_of_each() {
    let mut harness = ClientHarness::new(REPLAYS);
    let first = harness.submit("FIRST");
    let connection = harness.open();
    harness.pass(Duration::from_millis(200));
    harness.tell(Input::Broken { connection });
    let second = harness.submit("SECOND");
    harness.pass(Duration::from_millis(1));
    let connection = harness.open();
    assert_eq!(harness.sent(), ["FIRST", "SECOND"]);
    // The first has waited since before the connection broke. The connection stays.
    harness.pass(Duration::from_millis(299));
    assert_eq!(now(first), Some(Err(RedisError::TimedOut)));
    assert!(harness.out.is_empty());
    harness.tell(Input::Broken { connection });
    harness.pass(Duration::from_millis(1));
    let connection = harness.open();
    assert_eq!(
        harness.sent(),
        ["SECOND"],
        "nobody waits for the first any more"
    );
    harness.hear(connection, Value::Integer(2));
    assert_eq!(now(second), Some(Ok(Value::Integer(2))));
}

#[test]
fn a_client_that_replays_waits_twice_as_long_after_each_connection_in_a_row_that_fails() {
    let mut harness = ClientHarness::new(REPLAYS);
    let _answer = harness.submit("GET");
    for pause in [1, 2, 4, 4] {
        let connection = harness.connection();
        harness.out.clear();
        harness.tell(Input::Broken { connection });
        let pause = Duration::from_millis(pause);
        assert_eq!(harness.client.next_wake(), harness.now + pause);
        harness.pass(pause);
    }
    let connection = harness.open();
    harness.tell(Input::Broken { connection });
    let first = harness.now + Duration::from_millis(1);
    assert_eq!(harness.client.next_wake(), first, "a connection stood");
}

#[test]
fn a_command_that_has_not_been_tried_waits_for_no_pause_of_another() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        replay: false,
        ..REPLAYS
    });
    let failed = harness.submit("DEL");
    for _ in 0..2 {
        let connection = harness.connection();
        harness.out.clear();
        harness.tell(Input::Broken { connection });
        harness.pass(Duration::from_millis(1));
    }
    assert_eq!(now(failed), Some(Err(RedisError::NotConnected)));
    let _next = harness.submit("DEL");
    harness.open();
    assert_eq!(harness.sent(), ["DEL"]);
}

#[test]
fn a_time_out_of_reading_counts_from_when_it_is_sent() {
    let answered = |close_on_timeout| {
        let mut harness = ClientHarness::new(RedisClientConfig {
            close_on_timeout: Some(close_on_timeout),
            ..SETTINGS
        });
        let asked = harness.submit("GET");
        let connection = harness.connection();
        harness.pass(Duration::from_millis(400));
        harness.tell(Input::Opened { connection });
        harness.pass(Duration::from_millis(400));
        harness.hear(connection, Value::Nil);
        now(asked)
    };
    assert_eq!(answered(true), Some(Ok(Value::Nil)));
    assert_eq!(answered(false), Some(Err(RedisError::TimedOut)));
}
