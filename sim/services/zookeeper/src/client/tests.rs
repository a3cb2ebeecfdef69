//! Tests of the client handle: connections, timers, and requests.

use picklock_clients::zookeeper::{
    Children, EventType, Response, SessionId, SessionState, ZkError, Zxid, watch,
};

use super::test_harness::*;
use super::*;
use crate::messages::ServerMessage;

const SYNCED: Reply = Ok(Response::Synced);

#[test]
fn every_unanswered_request_ends_in_connection_loss() {
    let mut harness = ClientHarness::connected();
    let (mut sent, _) = harness.ask(sync(), None);
    let (watcher, events) = watch();
    harness.watch_session(watcher);
    assert_eq!(harness.broken(1), []);
    let (mut unsent, outputs) = harness.ask(sync(), None);
    assert_eq!(outputs, []);
    assert_eq!(harness.client.requests_in_flight(), 2);

    harness.pass_until(100 * MILLI - 1);
    assert_eq!(
        answered(&mut sent),
        None,
        "the connection is being cleaned up"
    );
    assert!(told(&events).is_empty());
    harness.pass_until(100 * MILLI);
    assert_eq!(answered(&mut sent), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut unsent), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(told(&events), ["disconnected"]);
    assert_eq!(harness.client.requests_in_flight(), 0);
}

#[test]
fn a_pause_longer_than_the_read_timeout_closes_the_connection_before_the_queued_answers_are_read() {
    let mut harness = ClientHarness::connected();
    let (mut answer, _) = harness.ask(sync(), None);
    harness.stop_until(4 * SECOND);
    assert_eq!(harness.reply(1, 1, SYNCED), [disconnect(1)]);
    assert_eq!(answered(&mut answer), None);
    harness.pass_until(4 * SECOND + 100 * MILLI);
    assert_eq!(answered(&mut answer), Some(Err(ZkError::ConnectionLoss)));
}

#[test]
fn a_pause_shorter_than_the_read_timeout_goes_unnoticed() {
    let mut harness = ClientHarness::connected();
    let (mut answer, _) = harness.ask(sync(), None);
    harness.stop_until(4 * SECOND - 1);
    harness.reply(1, 1, SYNCED);
    assert_eq!(answered(&mut answer), Some(SYNCED));
    assert_eq!(harness.client.state(), SessionState::Connected);
}

#[test]
fn the_session_is_resumed_on_the_next_server() {
    let mut harness = ClientHarness::connected();
    harness.ask(sync(), None);
    harness.reply(1, 1, SYNCED);
    assert_eq!(harness.client.server(), Some(ServerId(0)));
    harness.broken(1);
    assert_eq!(harness.client.server(), None);
    let outputs = harness.pass_until(SECOND);
    let connecting = Output::StateChanged(SessionState::Connecting);
    assert_eq!(
        outputs,
        [(100 * MILLI, connecting), (100 * MILLI, connect(1))]
    );
    let hello = ClientMessage::Connect {
        session: SessionId(7),
        password: Password(77),
        timeout: TIMEOUT,
        last_zxid: Zxid(1),
        read_only: false,
    };
    assert_eq!(
        harness.accept(2),
        [
            send(2, hello),
            Output::StateChanged(SessionState::Connected)
        ]
    );
    assert_eq!(harness.client.server(), Some(ServerId(1)));
    assert_eq!(
        harness.ask(sync(), None).1,
        [send_request(2, 2, sync())],
        "numbers go on"
    );
}

#[test]
fn a_reconnect_sleeps_for_up_to_a_second_and_another_after_a_full_circle() {
    let mut harness = ClientHarness::connected();
    harness.chance = Box::new(Worst);
    harness.broken(1);
    let first = 100 * MILLI + 999 * MILLI;
    assert_eq!(harness.pass_until(first).last(), Some(&(first, connect(1))));
    harness.input(Input::Refused);
    let second = first + 1_099 * MILLI;
    assert_eq!(harness.pass_until(second), [(second, connect(2))]);
    harness.input(Input::Refused);
    let third = second + 2_099 * MILLI;
    assert_eq!(harness.pass_until(third), [(third, connect(0))]);
}

#[test]
fn before_the_first_connection_nothing_is_left_to_chance_but_the_order() {
    let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    harness.client = Client::new(ZooKeeperClientConfig::new(TIMEOUT, 3), &mut Worst);
    harness.chance = Box::new(Worst);
    assert_eq!(harness.start(), [connect(2)]);
    harness.input(Input::Refused);
    assert_eq!(
        harness.pass_until(100 * MILLI),
        [(100 * MILLI, connect(0))],
        "no random sleep before there was a connection"
    );
}

#[test]
fn an_attempt_that_is_not_answered_is_given_up() {
    let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    harness.start();
    let second = 2 * SECOND + 100 * MILLI;
    assert_eq!(harness.pass_until(second), [(second, connect(1))]);
    // Opened, and then silent: the same time again.
    harness.pass_until(3 * SECOND);
    harness.input(Input::Opened {
        connection: ConnectionId(1),
    });
    let third = 5 * SECOND + 100 * MILLI;
    assert_eq!(
        harness.pass_until(third),
        [(5 * SECOND, disconnect(1)), (third, connect(2))]
    );
}

#[test]
fn a_connection_that_is_not_awaited_any_more_is_closed() {
    let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    harness.start();
    harness.pass_until(2 * SECOND);
    let late = Input::Opened {
        connection: ConnectionId(9),
    };
    assert_eq!(harness.input(late), [disconnect(9)]);
}

#[test]
fn requests_wait_for_the_next_attempt_and_share_its_fate() {
    let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    harness.start();
    let (mut lost, outputs) = harness.ask(sync(), None);
    assert_eq!(outputs, []);
    harness.input(Input::Refused);
    harness.pass_until(100 * MILLI);
    assert_eq!(answered(&mut lost), Some(Err(ZkError::ConnectionLoss)));

    let (mut kept, _) = harness.ask(sync(), None);
    let outputs = harness.accept(1);
    assert_eq!(outputs.last(), Some(&send_request(1, 1, sync())));
    harness.reply(1, 1, SYNCED);
    assert_eq!(answered(&mut kept), Some(SYNCED));
}

#[test]
fn an_answer_out_of_order_breaks_the_connection() {
    let mut harness = ClientHarness::connected();
    let (mut first, _) = harness.ask(sync(), None);
    let (mut second, _) = harness.ask(sync(), None);
    assert_eq!(harness.reply(1, 2, SYNCED), [disconnect(1)]);
    assert_eq!(harness.reply(1, 1, SYNCED), [], "it is not listened to");
    harness.pass_until(100 * MILLI);
    assert_eq!(answered(&mut first), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut second), Some(Err(ZkError::ConnectionLoss)));
    harness.accept(2);
    assert_eq!(harness.reply(2, 3, SYNCED), [disconnect(2)], "unasked");
}

#[test]
fn an_idle_client_pings_after_a_third_of_the_timeout_and_earlier_if_it_is_awake() {
    let mut harness = ClientHarness::connected();
    let ping = || send(1, ClientMessage::Ping);
    assert_eq!(harness.pass_until(2 * SECOND), [(2 * SECOND, ping())]);
    assert_eq!(harness.hear(1, ServerMessage::Pong), []);
    // Awake at 3.1 s, it sees that the next is due within a second.
    harness.pass_until(3 * SECOND + 100 * MILLI);
    assert_eq!(
        harness.notify(1, EventType::NodeCreated, "/a"),
        [send(1, ClientMessage::Ping)]
    );
    // A request is as good as a ping.
    harness.pass_until(4 * SECOND);
    harness.ask(sync(), None);
    assert_eq!(harness.pass_until(6 * SECOND), [(6 * SECOND, ping())]);
}

#[test]
fn unanswered_pings_do_not_keep_a_connection() {
    let mut harness = ClientHarness::connected();
    let outputs = harness.pass_until(4 * SECOND);
    let ping = send(1, ClientMessage::Ping);
    assert_eq!(
        outputs,
        [(2 * SECOND, ping), (4 * SECOND, disconnect(1))],
        "the connection is closed rather than pinged again"
    );
}

#[test]
fn an_expired_session_closes_the_handle_for_good() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, exists("/a"), is_there(), &watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    let (mut queued, _) = harness.ask(sync(), None);
    harness.input(Input::Opened {
        connection: ConnectionId(2),
    });
    assert_eq!(
        harness.hear(2, ServerMessage::Expired),
        [disconnect(2), Output::StateChanged(SessionState::Closed)]
    );
    assert_eq!(told(&events), ["disconnected", "closed"]);
    let (mut late, outputs) = harness.ask(sync(), None);
    assert_eq!(answered(&mut late), Some(Err(ZkError::SessionExpired)));
    assert_eq!(outputs, []);
    assert_eq!(harness.pass_until(60 * SECOND), []);
    assert_eq!(answered(&mut queued), Some(Err(ZkError::SessionExpired)));
    assert_eq!(harness.client.watches().count(), 0);
    assert_eq!(harness.client.next_wake(), VirtualTime::NEVER);
}

#[test]
fn closing_waits_for_what_was_asked_before_and_refuses_what_is_asked_after() {
    let mut harness = ClientHarness::connected();
    let (mut before, _) = harness.ask(sync(), None);
    let (mut close, outputs) = harness.close();
    assert_eq!(outputs, [send(1, ClientMessage::Close { xid: Xid(2) })]);
    let (mut after, _) = harness.ask(sync(), None);
    assert_eq!(answered(&mut after), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(harness.reply(1, 1, SYNCED), []);
    assert_eq!(answered(&mut before), Some(SYNCED));
    assert_eq!(
        harness.reply(1, 2, Ok(Response::Closed)),
        [disconnect(1), Output::StateChanged(SessionState::Closed)]
    );
    assert_eq!(answered(&mut close), Some(Ok(Response::Closed)));
    let (mut again, _) = harness.close();
    assert_eq!(answered(&mut again), Some(Err(ZkError::SessionExpired)));
}

#[test]
fn a_client_that_is_closing_does_not_look_for_another_server() {
    let mut harness = ClientHarness::connected();
    let (mut close, _) = harness.close();
    harness.broken(1);
    assert_eq!(
        harness.pass_until(60 * SECOND),
        [(100 * MILLI, Output::StateChanged(SessionState::Closed))]
    );
    assert_eq!(answered(&mut close), Some(Err(ZkError::ConnectionLoss)));
}

#[test]
fn a_client_that_never_began_is_closed_at_once() {
    let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    let (mut asked, _) = harness.ask(sync(), None);
    let (mut close, _) = harness.close();
    assert_eq!(answered(&mut asked), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut close), Some(Ok(Response::Closed)));
    assert_eq!(harness.start(), []);
}

#[test]
fn without_local_expiry_a_client_never_learns_of_it_alone_and_with_it_after_four_thirds() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    for local_expiry in [false, true] {
        settings.local_expiry = local_expiry.then_some((4, 3));
        let mut harness = ClientHarness::new(settings);
        harness.start();
        harness.accept(1);
        let outputs = harness.pass_until(60 * SECOND);
        let closed = Output::StateChanged(SessionState::Closed);
        let closed_at = outputs.iter().find(|(_, output)| *output == closed);
        let expected = local_expiry.then_some((8 * SECOND, closed.clone()));
        assert_eq!(closed_at, expected.as_ref());
    }
}

#[test]
fn a_client_with_one_request_or_one_watch_is_small() {
    let client = size_of::<Client>();
    assert!(client < 500, "{client}");
}

#[test]
fn a_client_authenticates_first_on_each_connection() {
    let mut harness = ClientHarness::connected();
    let say = |connection| {
        let (scheme, secret) = ("digest".into(), (*b"alice:a").into());
        send(connection, ClientMessage::Authenticate { scheme, secret })
    };
    let outputs = harness.input(Input::Authenticate {
        scheme: "digest".into(),
        secret: (*b"alice:a").into(),
    });
    assert_eq!(outputs, [say(1)]);
    harness.broken(1);
    harness.pass_until(SECOND);
    let outputs = harness.accept(2);
    assert_eq!(outputs.last(), Some(&say(2)));
}

#[test]
fn a_client_that_is_not_believed_is_told_so_for_ever() {
    let mut harness = ClientHarness::connected();
    let (mut asked, _) = harness.ask(sync(), None);
    harness.hear(1, ServerMessage::AuthFailed);
    harness.pass_until(SECOND);
    assert_eq!(harness.client.state(), SessionState::Closed);
    assert_eq!(answered(&mut asked), Some(Err(ZkError::AuthFailed)));
    let (mut later, _) = harness.ask(sync(), None);
    assert_eq!(answered(&mut later), Some(Err(ZkError::AuthFailed)));
}

#[test]
fn a_request_that_is_not_answered_in_time_fails_and_takes_the_connection_with_it() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    settings.request_timeout = Some(SECOND);
    let mut harness = ClientHarness::new(settings);
    harness.start();
    harness.accept(1);
    let (mut first, _) = harness.ask(sync(), None);
    harness.pass_until(SECOND / 2);
    let (mut second, _) = harness.ask(sync(), None);
    assert_eq!(harness.pass_until(SECOND - 1), []);
    let outputs = harness.pass_until(SECOND);
    assert_eq!(outputs, [(SECOND, disconnect(1))]);
    assert_eq!(answered(&mut first), Some(Err(ZkError::RequestTimeout)));
    assert!(!ZkError::RequestTimeout.definite());
    // The others go with the connection.
    assert_eq!(answered(&mut second), None);
    harness.pass_until(SECOND + 100 * MILLI);
    assert_eq!(answered(&mut second), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(harness.client.state(), SessionState::Connecting);
}

#[test]
fn a_request_waits_for_a_connection_no_longer_than_for_an_answer() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    settings.request_timeout = Some(SECOND);
    let mut harness = ClientHarness::new(settings);
    harness.start();
    let (mut asked, _) = harness.ask(sync(), None);
    harness.pass_until(SECOND - 1);
    assert_eq!(answered(&mut asked), None);
    harness.pass_until(SECOND);
    assert_eq!(answered(&mut asked), Some(Err(ZkError::RequestTimeout)));
}

/// Names of 60 letters, so many of them.
fn list(count: usize) -> Reply {
    let names = (0..count).map(|number| Rc::from(format!("{number:060}")));
    Ok(Response::Children(Rc::new(Children::new(names))))
}

#[test]
fn a_list_of_more_than_a_mebibyte_breaks_the_connection() {
    // A header of 16 bytes, the number of names, and for each its length and 60 letters.
    let most = (1_048_575 - 20) / 64;
    let mut harness = ClientHarness::connected();
    let (mut whole, _) = harness.ask(get_children("/q"), None);
    harness.reply(1, 1, list(most));
    assert!(matches!(answered(&mut whole), Some(Ok(_))));
    let (mut longer, _) = harness.ask(get_children("/q"), None);
    assert_eq!(harness.reply(1, 2, list(most + 1)), [disconnect(1)]);
    harness.pass_until(100 * MILLI);
    assert_eq!(answered(&mut longer), Some(Err(ZkError::ConnectionLoss)));
}
