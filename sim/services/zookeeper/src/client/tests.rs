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
    let mut desk = Desk::connected();
    let (mut sent, _) = desk.ask(sync(), None);
    let (watcher, events) = watch();
    desk.watch_session(watcher);
    assert_eq!(desk.broken(1), []);
    let (mut unsent, outputs) = desk.ask(sync(), None);
    assert_eq!(outputs, []);
    assert_eq!(desk.client.requests_in_flight(), 2);

    desk.pass_until(100 * MILLI - 1);
    assert_eq!(
        answered(&mut sent),
        None,
        "the connection is being cleaned up"
    );
    assert!(told(&events).is_empty());
    desk.pass_until(100 * MILLI);
    assert_eq!(answered(&mut sent), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut unsent), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(told(&events), ["disconnected"]);
    assert_eq!(desk.client.requests_in_flight(), 0);
}

#[test]
fn a_pause_longer_than_the_read_timeout_closes_the_connection_before_the_queued_answers_are_read() {
    let mut desk = Desk::connected();
    let (mut answer, _) = desk.ask(sync(), None);
    desk.stop_until(4 * SECOND);
    assert_eq!(desk.reply(1, 1, SYNCED), [disconnect(1)]);
    assert_eq!(answered(&mut answer), None);
    desk.pass_until(4 * SECOND + 100 * MILLI);
    assert_eq!(answered(&mut answer), Some(Err(ZkError::ConnectionLoss)));
}

#[test]
fn a_pause_shorter_than_the_read_timeout_goes_unnoticed() {
    let mut desk = Desk::connected();
    let (mut answer, _) = desk.ask(sync(), None);
    desk.stop_until(4 * SECOND - 1);
    desk.reply(1, 1, SYNCED);
    assert_eq!(answered(&mut answer), Some(SYNCED));
    assert_eq!(desk.client.state(), SessionState::Connected);
}

#[test]
fn the_session_is_resumed_on_the_next_server() {
    let mut desk = Desk::connected();
    desk.ask(sync(), None);
    desk.reply(1, 1, SYNCED);
    assert_eq!(desk.client.server(), Some(ServerId(0)));
    desk.broken(1);
    assert_eq!(desk.client.server(), None);
    let outputs = desk.pass_until(SECOND);
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
        desk.accept(2),
        [
            send(2, hello),
            Output::StateChanged(SessionState::Connected)
        ]
    );
    assert_eq!(desk.client.server(), Some(ServerId(1)));
    assert_eq!(
        desk.ask(sync(), None).1,
        [send_request(2, 2, sync())],
        "numbers go on"
    );
}

#[test]
fn a_reconnect_sleeps_for_up_to_a_second_and_another_after_a_full_circle() {
    let mut desk = Desk::connected();
    desk.chance = Box::new(Worst);
    desk.broken(1);
    let first = 100 * MILLI + 999 * MILLI;
    assert_eq!(desk.pass_until(first).last(), Some(&(first, connect(1))));
    desk.input(Input::Refused);
    let second = first + 1_099 * MILLI;
    assert_eq!(desk.pass_until(second), [(second, connect(2))]);
    desk.input(Input::Refused);
    let third = second + 2_099 * MILLI;
    assert_eq!(desk.pass_until(third), [(third, connect(0))]);
}

#[test]
fn before_the_first_connection_nothing_is_left_to_chance_but_the_order() {
    let mut desk = Desk::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    desk.client = Client::new(ZooKeeperClientConfig::new(TIMEOUT, 3), &mut Worst);
    desk.chance = Box::new(Worst);
    assert_eq!(desk.start(), [connect(2)]);
    desk.input(Input::Refused);
    assert_eq!(
        desk.pass_until(100 * MILLI),
        [(100 * MILLI, connect(0))],
        "no random sleep before there was a connection"
    );
}

#[test]
fn an_attempt_that_is_not_answered_is_given_up() {
    let mut desk = Desk::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    desk.start();
    let second = 2 * SECOND + 100 * MILLI;
    assert_eq!(desk.pass_until(second), [(second, connect(1))]);
    // Opened, and then silent: the same time again.
    desk.pass_until(3 * SECOND);
    desk.input(Input::Opened {
        connection: ConnectionId(1),
    });
    let third = 5 * SECOND + 100 * MILLI;
    assert_eq!(
        desk.pass_until(third),
        [(5 * SECOND, disconnect(1)), (third, connect(2))]
    );
}

#[test]
fn a_connection_that_nobody_waits_for_any_more_is_closed() {
    let mut desk = Desk::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    desk.start();
    desk.pass_until(2 * SECOND);
    let late = Input::Opened {
        connection: ConnectionId(9),
    };
    assert_eq!(desk.input(late), [disconnect(9)]);
}

#[test]
fn requests_wait_for_the_next_attempt_and_share_its_fate() {
    let mut desk = Desk::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    desk.start();
    let (mut lost, outputs) = desk.ask(sync(), None);
    assert_eq!(outputs, []);
    desk.input(Input::Refused);
    desk.pass_until(100 * MILLI);
    assert_eq!(answered(&mut lost), Some(Err(ZkError::ConnectionLoss)));

    let (mut kept, _) = desk.ask(sync(), None);
    let outputs = desk.accept(1);
    assert_eq!(outputs.last(), Some(&send_request(1, 1, sync())));
    desk.reply(1, 1, SYNCED);
    assert_eq!(answered(&mut kept), Some(SYNCED));
}

#[test]
fn an_answer_out_of_order_breaks_the_connection() {
    let mut desk = Desk::connected();
    let (mut first, _) = desk.ask(sync(), None);
    let (mut second, _) = desk.ask(sync(), None);
    assert_eq!(desk.reply(1, 2, SYNCED), [disconnect(1)]);
    assert_eq!(desk.reply(1, 1, SYNCED), [], "it is not listened to");
    desk.pass_until(100 * MILLI);
    assert_eq!(answered(&mut first), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut second), Some(Err(ZkError::ConnectionLoss)));
    desk.accept(2);
    assert_eq!(desk.reply(2, 3, SYNCED), [disconnect(2)], "nobody asked");
}

#[test]
fn an_idle_client_pings_after_a_third_of_the_timeout_and_earlier_if_it_is_awake() {
    let mut desk = Desk::connected();
    let ping = || send(1, ClientMessage::Ping);
    assert_eq!(desk.pass_until(2 * SECOND), [(2 * SECOND, ping())]);
    assert_eq!(desk.hear(1, ServerMessage::Pong), []);
    // Awake at 3.1 s, it sees that the next is due within a second.
    desk.pass_until(3 * SECOND + 100 * MILLI);
    assert_eq!(
        desk.notify(1, EventType::NodeCreated, "/a"),
        [send(1, ClientMessage::Ping)]
    );
    // A request is as good as a ping.
    desk.pass_until(4 * SECOND);
    desk.ask(sync(), None);
    assert_eq!(desk.pass_until(6 * SECOND), [(6 * SECOND, ping())]);
}

#[test]
fn pings_that_nobody_answers_do_not_keep_a_connection() {
    let mut desk = Desk::connected();
    let outputs = desk.pass_until(4 * SECOND);
    let ping = send(1, ClientMessage::Ping);
    assert_eq!(
        outputs,
        [(2 * SECOND, ping), (4 * SECOND, disconnect(1))],
        "the connection is closed rather than pinged again"
    );
}

#[test]
fn an_expired_session_closes_the_handle_for_good() {
    let mut desk = Desk::connected();
    let (watcher, events) = watch();
    desk.watch(1, exists("/a"), is_there(), &watcher);
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    let (mut queued, _) = desk.ask(sync(), None);
    desk.input(Input::Opened {
        connection: ConnectionId(2),
    });
    assert_eq!(
        desk.hear(2, ServerMessage::Expired),
        [disconnect(2), Output::StateChanged(SessionState::Closed)]
    );
    assert_eq!(told(&events), ["disconnected", "closed"]);
    let (mut late, outputs) = desk.ask(sync(), None);
    assert_eq!(answered(&mut late), Some(Err(ZkError::SessionExpired)));
    assert_eq!(outputs, []);
    assert_eq!(desk.pass_until(60 * SECOND), []);
    assert_eq!(answered(&mut queued), Some(Err(ZkError::SessionExpired)));
    assert_eq!(desk.client.watches().count(), 0);
    assert_eq!(desk.client.next_wake(), VirtualTime::NEVER);
}

#[test]
fn closing_waits_for_what_was_asked_before_and_refuses_what_is_asked_after() {
    let mut desk = Desk::connected();
    let (mut before, _) = desk.ask(sync(), None);
    let (mut close, outputs) = desk.close();
    assert_eq!(outputs, [send(1, ClientMessage::Close { xid: Xid(2) })]);
    let (mut after, _) = desk.ask(sync(), None);
    assert_eq!(answered(&mut after), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(desk.reply(1, 1, SYNCED), []);
    assert_eq!(answered(&mut before), Some(SYNCED));
    assert_eq!(
        desk.reply(1, 2, Ok(Response::Closed)),
        [disconnect(1), Output::StateChanged(SessionState::Closed)]
    );
    assert_eq!(answered(&mut close), Some(Ok(Response::Closed)));
    let (mut again, _) = desk.close();
    assert_eq!(answered(&mut again), Some(Err(ZkError::SessionExpired)));
}

#[test]
fn a_client_that_is_closing_does_not_look_for_another_server() {
    let mut desk = Desk::connected();
    let (mut close, _) = desk.close();
    desk.broken(1);
    assert_eq!(
        desk.pass_until(60 * SECOND),
        [(100 * MILLI, Output::StateChanged(SessionState::Closed))]
    );
    assert_eq!(answered(&mut close), Some(Err(ZkError::ConnectionLoss)));
}

#[test]
fn a_client_that_never_began_is_closed_at_once() {
    let mut desk = Desk::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    let (mut asked, _) = desk.ask(sync(), None);
    let (mut close, _) = desk.close();
    assert_eq!(answered(&mut asked), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut close), Some(Ok(Response::Closed)));
    assert_eq!(desk.start(), []);
}

#[test]
fn without_local_expiry_a_client_never_learns_of_it_alone_and_with_it_after_four_thirds() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    for local_expiry in [false, true] {
        settings.local_expiry = local_expiry.then_some((4, 3));
        let mut desk = Desk::new(settings);
        desk.start();
        desk.accept(1);
        let outputs = desk.pass_until(60 * SECOND);
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
fn who_the_client_is_it_says_again_on_each_connection_before_anything_else() {
    let mut desk = Desk::connected();
    let say = |connection| {
        let (scheme, secret) = ("digest".into(), (*b"alice:a").into());
        send(connection, ClientMessage::Authenticate { scheme, secret })
    };
    let outputs = desk.input(Input::Authenticate {
        scheme: "digest".into(),
        secret: (*b"alice:a").into(),
    });
    assert_eq!(outputs, [say(1)]);
    desk.broken(1);
    desk.pass_until(SECOND);
    let outputs = desk.accept(2);
    assert_eq!(outputs.last(), Some(&say(2)));
}

#[test]
fn a_client_that_is_not_believed_is_told_so_for_ever() {
    let mut desk = Desk::connected();
    let (mut asked, _) = desk.ask(sync(), None);
    desk.hear(1, ServerMessage::AuthFailed);
    desk.pass_until(SECOND);
    assert_eq!(desk.client.state(), SessionState::Closed);
    assert_eq!(answered(&mut asked), Some(Err(ZkError::AuthFailed)));
    let (mut later, _) = desk.ask(sync(), None);
    assert_eq!(answered(&mut later), Some(Err(ZkError::AuthFailed)));
}

#[test]
fn a_request_that_is_not_answered_in_time_fails_and_takes_the_connection_with_it() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    settings.request_timeout = Some(SECOND);
    let mut desk = Desk::new(settings);
    desk.start();
    desk.accept(1);
    let (mut first, _) = desk.ask(sync(), None);
    desk.pass_until(SECOND / 2);
    let (mut second, _) = desk.ask(sync(), None);
    assert_eq!(desk.pass_until(SECOND - 1), []);
    let outputs = desk.pass_until(SECOND);
    assert_eq!(outputs, [(SECOND, disconnect(1))]);
    assert_eq!(answered(&mut first), Some(Err(ZkError::RequestTimeout)));
    assert!(!ZkError::RequestTimeout.definite());
    // The others go with the connection.
    assert_eq!(answered(&mut second), None);
    desk.pass_until(SECOND + 100 * MILLI);
    assert_eq!(answered(&mut second), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(desk.client.state(), SessionState::Connecting);
}

#[test]
fn a_request_waits_for_a_connection_no_longer_than_for_an_answer() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    settings.request_timeout = Some(SECOND);
    let mut desk = Desk::new(settings);
    desk.start();
    let (mut asked, _) = desk.ask(sync(), None);
    desk.pass_until(SECOND - 1);
    assert_eq!(answered(&mut asked), None);
    desk.pass_until(SECOND);
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
    let mut desk = Desk::connected();
    let (mut whole, _) = desk.ask(get_children("/q"), None);
    desk.reply(1, 1, list(most));
    assert!(matches!(answered(&mut whole), Some(Ok(_))));
    let (mut longer, _) = desk.ask(get_children("/q"), None);
    assert_eq!(desk.reply(1, 2, list(most + 1)), [disconnect(1)]);
    desk.pass_until(100 * MILLI);
    assert_eq!(answered(&mut longer), Some(Err(ZkError::ConnectionLoss)));
}
