//! Tests of the client handle: watches.

use picklock_clients::zookeeper::{EventType, SessionState, ZkError, Zxid, watch};

use super::test_harness::*;
use super::{Input, Output, WatchTable};
use crate::messages::{ClientMessage, ServerMessage, WatchTables, path};

#[test]
fn watches_are_registered_by_the_answer_and_only_exists_watches_what_is_not_there() {
    let mut harness = ClientHarness::connected();
    let (watcher, _events) = watch();
    harness.ask(exists("/a"), Some(watcher.clone()));
    assert!(watches(&harness).is_empty(), "it is not answered yet");
    harness.reply(1, 1, is_there());
    harness.watch(2, exists("/b"), Err(ZkError::NoNode), &watcher);
    harness.watch(3, get_data("/c"), data(), &watcher);
    harness.watch(4, get_data("/d"), Err(ZkError::NoNode), &watcher);
    harness.watch(5, get_children("/e"), children(), &watcher);
    harness.watch(6, get_children("/f"), Err(ZkError::NoNode), &watcher);
    assert_eq!(
        watches(&harness),
        ["/a Data", "/b Exist", "/c Data", "/e Child"]
    );
}

#[test]
fn a_watch_whose_answer_was_lost_is_not_registered() {
    let mut harness = ClientHarness::connected();
    let (watcher, _events) = watch();
    harness.ask(exists("/a"), Some(watcher));
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert!(watches(&harness).is_empty());
}

#[test]
fn one_notification_tells_every_watcher_object_once_and_forgets_it() {
    let mut harness = ClientHarness::connected();
    let ((both, both_events), (other, other_events)) = (watch(), watch());
    harness.watch(1, get_data("/a"), data(), &both);
    harness.watch(2, get_children("/a"), children(), &both);
    harness.watch(3, get_data("/a"), data(), &both);
    harness.watch(4, get_data("/a"), data(), &other);
    assert_eq!(watches(&harness), ["/a Data", "/a Data", "/a Child"]);
    harness.notify(1, EventType::NodeDeleted, "/a");
    harness.notify(1, EventType::NodeDeleted, "/a");
    assert_eq!(told(&both_events), ["deleted /a"]);
    assert_eq!(told(&other_events), ["deleted /a"]);
    assert!(watches(&harness).is_empty());
}

#[test]
fn each_kind_of_event_reaches_the_tables_that_it_concerns() {
    for (kind, left) in [
        (EventType::NodeCreated, vec!["/a Child"]),
        (EventType::NodeDataChanged, vec!["/a Child"]),
        (EventType::NodeDeleted, vec![]),
        (EventType::NodeChildrenChanged, vec!["/a Data", "/a Exist"]),
    ] {
        let mut harness = ClientHarness::connected();
        let (watcher, _events) = watch();
        harness.watch(1, exists("/a"), Err(ZkError::NoNode), &watcher);
        harness.watch(2, get_data("/a"), data(), &watcher);
        harness.watch(3, get_children("/a"), children(), &watcher);
        harness.watch(4, get_children("/b"), children(), &watcher);
        harness.notify(1, kind, "/a");
        let expected: Vec<&str> = left.into_iter().chain(["/b Child"]).collect();
        assert_eq!(watches(&harness), expected, "{kind:?}");
    }
}

#[test]
fn every_watcher_object_gets_one_session_event_and_stays() {
    let mut harness = ClientHarness::connected();
    let ((session, session_events), (node, node_events)) = (watch(), watch());
    harness.watch(1, get_data("/a"), data(), &session);
    harness.watch(2, get_data("/a"), data(), &node);
    harness.watch(3, get_children("/b"), children(), &node);
    harness.watch_session(session.clone());
    harness.watch_session(session);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    harness.input(Input::Refused);
    harness.pass_until(300 * MILLI);
    for events in [&session_events, &node_events] {
        assert_eq!(told(events), ["disconnected"], "a repeat is not told");
    }
    assert_eq!(watches(&harness).len(), 3);
    // The event of a pair of watches goes to the second alone once the first has gone.
    harness.accept(2);
    harness.notify(2, EventType::NodeDataChanged, "/a");
    harness.broken(2);
    harness.pass_until(400 * MILLI);
    let expected = ["connected", "changed /a", "disconnected"];
    assert_eq!(told(&session_events), expected);
    assert_eq!(told(&node_events), expected);
}

#[test]
fn after_a_reconnect_come_disconnected_then_connected_then_what_was_missed() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    harness.watch(2, exists("/b"), Err(ZkError::NoNode), &watcher);
    harness.watch(3, get_children("/c"), children(), &watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    let (_queued, _) = harness.ask(sync(), None);
    let outputs = harness.accept(2);
    let tables = WatchTables {
        relative_zxid: Zxid(3),
        data: vec![path("/a")],
        exist: vec![path("/b")],
        child: vec![path("/c")],
        ..WatchTables::default()
    };
    assert_eq!(
        outputs[1..],
        [
            Output::StateChanged(SessionState::Connected),
            send(2, ClientMessage::SetWatches(Box::new(tables))),
            send_request(2, 4, sync()),
        ],
        "watches are set before anything else is asked"
    );
    harness.notify(2, EventType::NodeDeleted, "/a");
    assert_eq!(told(&events), ["disconnected", "connected", "deleted /a"]);
    assert_eq!(watches(&harness), ["/b Exist", "/c Child"]);
}

#[test]
fn only_answers_move_the_zxid_that_missed_changes_are_counted_from() {
    let mut harness = ClientHarness::connected();
    let (watcher, _events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    harness.notify(1, EventType::NodeCreated, "/b");
    harness.hear(1, ServerMessage::Pong);
    let zxid = |outputs: &[Output]| {
        outputs.iter().find_map(|output| match output {
            Output::Send {
                message: ClientMessage::SetWatches(tables),
                ..
            } => Some(tables.relative_zxid),
            Output::Send { .. }
            | Output::Connect { .. }
            | Output::Disconnect { .. }
            | Output::ProbeIsro { .. }
            | Output::StateChanged(_) => None,
        })
    };
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert_eq!(zxid(&harness.accept(2)), Some(Zxid(1)));
    harness.hear(2, ServerMessage::WatchesSet { zxid: Zxid(9) });
    harness.broken(2);
    harness.pass_until(200 * MILLI);
    assert_eq!(zxid(&harness.accept(3)), Some(Zxid(9)));
}

#[test]
fn many_watches_are_set_in_batches_of_128_kilobytes_the_last_first() {
    let mut harness = ClientHarness::connected();
    let (watcher, _events) = watch();
    // Paths of 1 kB: 128 of them fill a batch.
    let node = |number: u32| format!("/{number:01023}");
    for number in 1..=200 {
        harness.watch(number, get_data(&node(number)), data(), &watcher);
    }
    harness.watch(201, get_children("/c"), children(), &watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    let sizes: Vec<(usize, usize)> = harness
        .accept(2)
        .iter()
        .filter_map(|output| match output {
            Output::Send {
                message: ClientMessage::SetWatches(tables),
                ..
            } => Some((tables.data.len(), tables.child.len())),
            Output::Send { .. }
            | Output::Connect { .. }
            | Output::Disconnect { .. }
            | Output::ProbeIsro { .. }
            | Output::StateChanged(_) => None,
        })
        .collect();
    assert_eq!(sizes, [(72, 1), (128, 0)]);
}

#[test]
fn a_forgotten_watch_stays_because_the_server_knows_no_better() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.ask(exists("/a"), Some(watcher));
    drop(events);
    harness.reply(1, 1, is_there());
    assert_eq!(
        harness.client.watches().collect::<Vec<_>>(),
        [(&path("/a"), WatchTable::Data)]
    );
}
