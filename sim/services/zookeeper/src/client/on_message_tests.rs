//! Tests of the client handle: what it makes of what a server says, if one request waits or one watch is left.

use picklock_clients::zookeeper::{EventType, Reply, Response, SessionState, ZkError, Zxid, watch};

use super::Output;
use super::test_harness::*;
use crate::messages::{ServerMessage, Xid, path};

const SYNCED: Reply = Ok(Response::Synced);

/// A message on connection 1 at time zero, when no timer is due. Whether the client may want to wake earlier, and what
/// it wants done.
fn hear(harness: &mut ClientHarness, message: ServerMessage) -> (bool, Vec<Output>) {
    harness.earlier = false;
    let out = harness.hear(1, message);
    (harness.earlier, out)
}

fn reply(xid: u32, reply: Reply) -> ServerMessage {
    let (xid, zxid) = (Xid(xid), Zxid(u64::from(xid)));
    ServerMessage::Reply { xid, zxid, reply }
}

fn notification(kind: EventType, node: &str) -> ServerMessage {
    let path = path(node);
    ServerMessage::Notification { kind, path }
}

const NOTHING_ELSE: (bool, Vec<Output>) = (false, Vec::new());

#[test]
fn the_answer_to_the_only_request_is_all_there_is_to_do() {
    let mut harness = ClientHarness::connected();
    let (mut answer, _) = harness.ask(sync(), None);
    let heard = hear(&mut harness, reply(1, SYNCED));
    assert_eq!(heard, NOTHING_ELSE);
    assert_eq!(answered(&mut answer), Some(SYNCED));
    assert_eq!(harness.client.requests_in_flight(), 0);
}

#[test]
fn an_answer_with_another_number_than_that_of_the_only_request_gives_up_the_connection() {
    for wrong in [0, 1, 3] {
        let mut harness = ClientHarness::connected();
        harness.ask(sync(), None);
        harness.reply(1, 1, SYNCED);
        let (mut answer, _) = harness.ask(sync(), None);
        let heard = hear(&mut harness, reply(wrong, SYNCED));
        assert_eq!(heard, (true, vec![disconnect(1)]), "{wrong}");
        assert_eq!(answered(&mut answer), None, "{wrong}");
        harness.pass_until(100 * MILLI);
        let lost = Some(Err(ZkError::ConnectionLoss));
        assert_eq!(answered(&mut answer), lost, "{wrong}");
    }
}

#[test]
fn an_answer_that_comes_twice_gives_up_the_connection() {
    let mut harness = ClientHarness::connected();
    harness.ask(sync(), None);
    hear(&mut harness, reply(1, SYNCED));
    let heard = hear(&mut harness, reply(1, SYNCED));
    assert_eq!(heard, (true, vec![disconnect(1)]));
}

#[test]
fn the_newest_answer_gives_up_the_connection_if_an_older_request_waits_too() {
    let mut harness = ClientHarness::connected();
    let (mut first, _) = harness.ask(sync(), None);
    let (mut second, _) = harness.ask(sync(), None);
    let heard = hear(&mut harness, reply(2, SYNCED));
    assert_eq!(heard, (true, vec![disconnect(1)]));
    assert_eq!((answered(&mut first), answered(&mut second)), (None, None));
}

#[test]
fn the_answer_to_close_ends_the_session_if_nothing_else_waits() {
    let mut harness = ClientHarness::connected();
    let (mut answer, _) = harness.close();
    let (_, outputs) = hear(&mut harness, reply(1, Ok(Response::Closed)));
    let closed = Output::StateChanged(SessionState::Closed);
    assert_eq!(outputs, [disconnect(1), closed]);
    assert_eq!(answered(&mut answer), Some(Ok(Response::Closed)));
    assert_eq!(harness.client.state(), SessionState::Closed);
}

#[test]
fn the_only_watch_is_left_by_what_does_not_concern_it() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_data("/b"), data(), &watcher);
    for (kind, node) in [
        (EventType::NodeDeleted, "/a"),
        (EventType::NodeDeleted, "/c"),
        (EventType::NodeDataChanged, "/b/b"),
        (EventType::NodeChildrenChanged, "/b"),
    ] {
        let heard = hear(&mut harness, notification(kind, node));
        assert_eq!(heard, NOTHING_ELSE, "{kind:?} {node}");
        assert!(told(&events).is_empty(), "{kind:?} {node}");
        assert_eq!(watches(&harness), ["/b Data"], "{kind:?} {node}");
    }
    hear(&mut harness, notification(EventType::NodeDeleted, "/b"));
    assert_eq!(told(&events), ["deleted /b"]);
}

#[test]
fn a_second_notification_reaches_no_watcher_until_a_new_watch() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    let deleted = || notification(EventType::NodeDeleted, "/a");
    for xid in 1..=2 {
        harness.watch(xid, get_children("/a"), children(), &watcher);
        assert_eq!(hear(&mut harness, deleted()), NOTHING_ELSE);
        assert_eq!(told(&events), ["deleted /a"]);
        assert!(watches(&harness).is_empty());
        assert_eq!(hear(&mut harness, deleted()), NOTHING_ELSE);
        assert!(told(&events).is_empty());
    }
}

#[test]
fn a_session_watcher_that_watches_a_node_gets_each_event_once() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch_session(watcher.clone());
    for xid in 1..=2 {
        // The second time it has watched a node before, and the list of these is empty again.
        harness.watch(xid, get_data("/a"), data(), &watcher);
        hear(&mut harness, notification(EventType::NodeDataChanged, "/a"));
        assert_eq!(told(&events), ["changed /a"]);
    }
    harness.watch(3, get_data("/a"), data(), &watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert_eq!(told(&events), ["disconnected"]);
    harness.accept(2);
    assert_eq!(told(&events), ["connected"]);
}

#[test]
fn a_node_watcher_that_watches_the_session_gets_each_event_once() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    harness.watch_session(watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    harness.accept(2);
    assert_eq!(told(&events), ["disconnected", "connected"]);
}

#[test]
fn a_node_watcher_gets_session_events_beside_a_session_watcher() {
    let mut harness = ClientHarness::connected();
    let ((session, session_events), (node, node_events)) = (watch(), watch());
    harness.watch_session(session);
    harness.watch(1, get_data("/a"), data(), &node);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert_eq!(told(&session_events), ["disconnected"]);
    assert_eq!(told(&node_events), ["disconnected"]);
}
