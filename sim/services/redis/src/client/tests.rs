use std::time::Duration;

use futures_lite::future::{block_on, poll_once};
use picklock_clients::completion::{Answer, completion};
use picklock_clients::redis::{RedisError, RedisResult, subscription};

use super::test_harness::{ClientHarness, now};
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

type Reply = RedisResult<Value>;

#[test]
fn commands_wait_for_the_connection_and_are_answered_in_their_order() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (first, second) = (harness.ask("GET"), harness.ask("INCR"));
    assert_eq!(harness.client.requests_in_flight(), 2);
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["GET", "INCR"]);
    harness.hear(connection, Value::Nil);
    harness.hear(connection, Value::Integer(1));
    assert_eq!(now(first), Some(Ok(Value::Nil)));
    assert_eq!(now(second), Some(Ok(Value::Integer(1))));
    assert_eq!(harness.client.requests_in_flight(), 0);
}

#[test]
fn a_client_of_a_loading_server_connects_again_if_it_may() {
    let loading = || Value::error("LOADING Redis is loading the dataset in memory");
    let mut harness = ClientHarness::new(SETTINGS);
    let once = harness.ask("GET");
    let connection = harness.open_next();
    harness.hear(connection, loading());
    assert_eq!(now(once), Some(Ok(loading())));

    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let twice = harness.ask("GET");
    let connection = harness.open_next();
    harness.hear(connection, loading());
    harness.pass_for(SETTINGS.retry_pause);
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["GET"]);
    harness.hear(connection, Value::Nil);
    assert_eq!(now(twice), Some(Ok(Value::Nil)));
}

#[test]
fn an_unaccepted_connection_is_given_up_and_asked_for_again() {
    let mut harness = ClientHarness::new(SETTINGS);
    let _first = harness.ask("GET");
    let untaken = harness.next_connection();
    harness.pass(999);
    let second = harness.ask("GET");
    assert!(harness.is_idle());
    harness.pass(1);
    assert_eq!(now(second), Some(Err(RedisError::NotConnected)));
    assert_eq!(harness.closed, [untaken]);
    let _third = harness.ask("GET");
    harness.pass_for(SETTINGS.retry_pause);
    harness.open_next();
    assert_eq!(harness.newly_sent(), ["GET"]);
}

#[test]
fn a_late_answer_is_not_taken_for_another_commands() {
    let mut harness = ClientHarness::new(SETTINGS);
    let late = harness.ask("GET");
    let connection = harness.open_next();
    harness.pass(500);
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    let next = harness.ask("INCR");
    harness.hear(connection, Value::Nil);
    harness.hear(connection, Value::Integer(1));
    assert_eq!(now(next), Some(Ok(Value::Integer(1))));
}

#[test]
fn what_was_sent_may_have_happened_and_what_was_not_has_not() {
    let mut harness = ClientHarness::new(SETTINGS);
    let sent = harness.ask("SET");
    let connection = harness.open_next();
    harness.break_off(connection);
    assert_eq!(now(sent), Some(Err(RedisError::ConnectionLoss)));
    let unsent = harness.ask("SET");
    harness.pass_for(SETTINGS.retry_pause);
    let connection = harness.next_connection();
    harness.break_off(connection);
    assert_eq!(now(unsent), Some(Err(RedisError::NotConnected)));
}

#[test]
fn a_client_that_repeats_commands_sends_them_again_by_the_next_connection() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.ask("DEL");
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["DEL"]);
    harness.break_off(connection);
    assert_eq!(
        harness.client.next_wake(),
        harness.now + SETTINGS.retry_pause
    );
    harness.pass_for(SETTINGS.retry_pause);
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["DEL"]);
    harness.hear(connection, Value::Integer(0));
    assert_eq!(now(answer), Some(Ok(Value::Integer(0))));
}

#[test]
fn a_client_that_repeats_commands_gives_up_in_the_end() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.ask("DEL");
    for _ in 0..2 {
        let connection = harness.open_next();
        harness.break_off(connection);
        harness.pass_for(SETTINGS.retry_pause);
    }
    assert_eq!(now(answer), Some(Err(RedisError::ConnectionLoss)));
}

#[test]
fn a_late_answer_closes_the_connection_of_a_client_that_repeats_commands() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        ..SETTINGS
    });
    let answer = harness.ask("DEL");
    let connection = harness.open_next();
    harness.look();
    harness.pass_for(SETTINGS.timeout);
    assert_eq!(harness.closed, [connection]);
    harness.pass_for(SETTINGS.retry_pause);
    let connection = harness.open_next();
    harness.hear(connection, Value::Integer(1));
    assert_eq!(now(answer), Some(Ok(Value::Integer(1))));
}

#[test]
fn without_resending_only_unsent_commands_are_tried_again() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        resend: false,
        ..SETTINGS
    });
    let unsent = harness.ask("SET");
    let connection = harness.next_connection();
    harness.break_off(connection);
    harness.pass_for(SETTINGS.retry_pause);
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["SET"]);
    harness.break_off(connection);
    assert_eq!(now(unsent), Some(Err(RedisError::ConnectionLoss)));
}

#[test]
fn a_late_answer_is_awaited_on_a_connection_that_is_kept() {
    let mut harness = ClientHarness::new(RedisClientConfig {
        retries: 1,
        close_on_timeout: Some(false),
        ..SETTINGS
    });
    let late = harness.ask("DEL");
    let connection = harness.open_next();
    harness.look();
    harness.pass_for(SETTINGS.timeout);
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    let next = harness.ask("GET");
    assert_eq!(harness.newly_sent(), ["GET"]);
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
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["SUBSCRIBE c"]);
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
    let connection = harness.open_next();
    harness.hear(connection, told("subscribe", Value::Integer(1)));
    harness.break_off(connection);
    harness.pass_for(SETTINGS.retry_pause);
    let _next = harness.open_next();
    assert_eq!(harness.newly_sent(), ["SUBSCRIBE c"]);
    assert!(block_on(poll_once(subscription.next())).is_none());
}

#[test]
fn a_subscription_without_a_listener_is_left() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (_confirmed, subscription) = subscribe(&mut harness);
    let connection = harness.open_next();
    harness.hear(connection, told("subscribe", Value::Integer(1)));
    harness.look();
    drop(subscription);
    harness.hear(connection, told("message", Value::bulk("unlock")));
    assert_eq!(harness.newly_sent(), ["UNSUBSCRIBE c"]);
}

#[test]
fn a_confirmation_that_does_not_come_is_not_waited_for_for_ever() {
    let mut harness = ClientHarness::new(SETTINGS);
    let (answer, _subscription) = subscribe(&mut harness);
    let _connection = harness.open_next();
    harness.pass_for(SETTINGS.timeout);
    assert_eq!(now(answer), Some(Err(RedisError::TimedOut)));
}

const POOL_OF_TWO: RedisClientConfig = RedisClientConfig {
    connections: ConnectionMode::Pool(2),
    ..SETTINGS
};

#[test]
fn a_command_has_its_connection_of_the_pool_for_itself() {
    let mut harness = ClientHarness::new(POOL_OF_TWO);
    let first = harness.ask("FIRST");
    let one = harness.open_next();
    assert_eq!(harness.newly_sent(), ["FIRST"]);
    let second = harness.ask("SECOND");
    let two = harness.open_next();
    assert_eq!(harness.newly_sent(), ["SECOND"]);
    // Both are out: the third waits for the first connection that comes back.
    let third = harness.ask("THIRD");
    assert!(harness.is_idle());
    assert_eq!(harness.client.requests_in_flight(), 3);
    harness.hear(two, Value::Integer(2));
    assert_eq!(now(second), Some(Ok(Value::Integer(2))));
    assert_eq!(harness.newly_sent(), ["THIRD"]);
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
    let _slow = harness.ask("SLOW");
    let connection = harness.open_next();
    harness.newly_sent();
    harness.pass_for(Duration::from_secs(1));
    let served = harness.ask("SERVED");
    harness.pass(999);
    let late = harness.ask("LATE");
    harness.hear(connection, Value::OK);
    // It has waited for a second, and now waits for its answer.
    assert_eq!(harness.newly_sent(), ["SERVED"]);
    harness.pass(1_999);
    assert_eq!(harness.client.requests_in_flight(), 2);
    harness.hear(connection, Value::OK);
    assert_eq!(now(served), Some(Ok(Value::OK)));
    assert_eq!(harness.newly_sent(), ["LATE"]);
    let never = harness.ask("NEVER");
    harness.pass(2_000);
    assert_eq!(now(late), Some(Err(RedisError::TimedOut)));
    assert_eq!(now(never), Some(Err(RedisError::NotConnected)));
}

#[test]
fn each_connection_of_a_pool_that_has_died_unheard_costs_one_command() {
    let mut harness = ClientHarness::new(POOL_OF_TWO);
    let _first = harness.ask("FIRST");
    let one = harness.open_next();
    let _second = harness.ask("SECOND");
    let two = harness.open_next();
    harness.newly_sent();
    harness.hear(one, Value::OK);
    harness.hear(two, Value::OK);
    // The server is gone, and the client does not know. The connection that came back last is handed out first.
    for connection in [two, one] {
        let lost = harness.ask("LOST");
        assert_eq!(harness.newly_sent(), ["LOST"]);
        assert_eq!(
            (harness.last(), harness.opened.len()),
            ((connection, "LOST"), 2)
        );
        harness.pass(500);
        assert_eq!(now(lost), Some(Err(RedisError::TimedOut)));
        assert_eq!(harness.closed.last(), Some(&connection));
        harness.look();
    }
    let found = harness.ask("FOUND");
    harness.pass(100);
    let reopened = harness.open_next();
    harness.hear(reopened, Value::OK);
    assert_eq!(now(found), Some(Ok(Value::OK)));
}

#[test]
fn a_late_answer_on_a_shared_connection_keeps_those_behind_it_waiting() {
    let mut harness = ClientHarness::new(SETTINGS);
    let first = harness.ask("FIRST");
    let connection = harness.open_next();
    let second = harness.ask("SECOND");
    assert_eq!(harness.newly_sent(), ["FIRST", "SECOND"]);
    harness.pass(500);
    assert_eq!(now(first), Some(Err(RedisError::TimedOut)));
    assert_eq!(now(second), Some(Err(RedisError::TimedOut)));
    // The connection stays, and what comes next goes behind what is late.
    let third = harness.ask("THIRD");
    assert_eq!(harness.newly_sent(), ["THIRD"]);
    harness.hear(connection, Value::Integer(1));
    harness.hear(connection, Value::Integer(2));
    harness.hear(connection, Value::Integer(3));
    assert_eq!(now(third), Some(Ok(Value::Integer(3))));
}

#[test]
fn a_command_that_waits_at_the_server_is_waited_for_as_long_and_then_as_for_any_answer() {
    let mut harness = ClientHarness::new(SETTINGS);
    let waits = harness.ask("BLPOP list 2.500");
    let for_ever = harness.ask("BLMOVE a b LEFT LEFT 0");
    harness.open_next();
    harness.pass(2_999);
    assert_eq!(harness.client.requests_in_flight(), 2);
    harness.pass(1);
    assert_eq!(now(waits), Some(Err(RedisError::TimedOut)));
    harness.pass_for(Duration::from_secs(86_400));
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
    let first = harness.ask("FIRST");
    let connection = harness.open_next();
    harness.pass(200);
    harness.break_off(connection);
    let second = harness.ask("SECOND");
    harness.pass(1);
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["FIRST", "SECOND"]);
    // The first has waited since before the connection broke. The connection stays.
    harness.pass(299);
    assert_eq!(now(first), Some(Err(RedisError::TimedOut)));
    assert!(harness.is_idle());
    harness.break_off(connection);
    harness.pass(1);
    let connection = harness.open_next();
    assert_eq!(harness.newly_sent(), ["SECOND"], "the first was given up");
    harness.hear(connection, Value::Integer(2));
    assert_eq!(now(second), Some(Ok(Value::Integer(2))));
}

#[test]
fn a_client_that_replays_waits_twice_as_long_after_each_connection_in_a_row_that_fails() {
    let mut harness = ClientHarness::new(REPLAYS);
    let _answer = harness.ask("GET");
    for pause in [1, 2, 4, 4] {
        let connection = harness.next_connection();
        harness.look();
        harness.break_off(connection);
        let pause = Duration::from_millis(pause);
        assert_eq!(harness.client.next_wake(), harness.now + pause);
        harness.pass_for(pause);
    }
    let connection = harness.open_next();
    harness.break_off(connection);
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
    let failed = harness.ask("DEL");
    for _ in 0..2 {
        let connection = harness.next_connection();
        harness.look();
        harness.break_off(connection);
        harness.pass(1);
    }
    assert_eq!(now(failed), Some(Err(RedisError::NotConnected)));
    let _next = harness.ask("DEL");
    harness.open_next();
    assert_eq!(harness.newly_sent(), ["DEL"]);
}

#[test]
fn a_time_out_of_reading_counts_from_when_it_is_sent() {
    let answered = |close_on_timeout| {
        let mut harness = ClientHarness::new(RedisClientConfig {
            close_on_timeout: Some(close_on_timeout),
            ..SETTINGS
        });
        let asked = harness.ask("GET");
        let connection = harness.next_connection();
        harness.pass(400);
        harness.open(connection);
        harness.pass(400);
        harness.hear(connection, Value::Nil);
        now(asked)
    };
    assert_eq!(answered(true), Some(Ok(Value::Nil)));
    assert_eq!(answered(false), Some(Err(RedisError::TimedOut)));
}
