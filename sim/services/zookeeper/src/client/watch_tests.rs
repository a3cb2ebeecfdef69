//! Tests of the client handle: watches.

use picklock_clients::zookeeper::{EventType, SessionState, ZkError, Zxid, watch};

use super::test_harness::*;
use super::{Input, Output, WatchTable};
use crate::messages::{ClientMessage, ServerMessage, WatchTables, path};

#[test]
fn watches_are_registered_by_the_answer_and_only_exists_watches_what_is_not_there() {
    let mut desk = Desk::connected();
    let (watcher, _events) = watch();
    desk.ask(exists("/a"), Some(watcher.clone()));
    assert!(watches(&desk).is_empty(), "it is not answered yet");
    desk.reply(1, 1, is_there());
    desk.watch(2, exists("/b"), Err(ZkError::NoNode), &watcher);
    desk.watch(3, get_data("/c"), data(), &watcher);
    desk.watch(4, get_data("/d"), Err(ZkError::NoNode), &watcher);
    desk.watch(5, get_children("/e"), children(), &watcher);
    desk.watch(6, get_children("/f"), Err(ZkError::NoNode), &watcher);
    assert_eq!(
        watches(&desk),
        ["/a Data", "/b Exist", "/c Data", "/e Child"]
    );
}

#[test]
fn a_watch_whose_answer_was_lost_is_not_registered() {
    let mut desk = Desk::connected();
    let (watcher, _events) = watch();
    desk.ask(exists("/a"), Some(watcher));
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    assert!(watches(&desk).is_empty());
}

#[test]
fn one_notification_tells_every_watcher_object_once_and_forgets_it() {
    let mut desk = Desk::connected();
    let ((both, both_events), (other, other_events)) = (watch(), watch());
    desk.watch(1, get_data("/a"), data(), &both);
    desk.watch(2, get_children("/a"), children(), &both);
    desk.watch(3, get_data("/a"), data(), &both);
    desk.watch(4, get_data("/a"), data(), &other);
    assert_eq!(watches(&desk), ["/a Data", "/a Data", "/a Child"]);
    desk.notify(1, EventType::NodeDeleted, "/a");
    desk.notify(1, EventType::NodeDeleted, "/a");
    assert_eq!(told(&both_events), ["deleted /a"]);
    assert_eq!(told(&other_events), ["deleted /a"]);
    assert!(watches(&desk).is_empty());
}

#[test]
fn each_kind_of_event_reaches_the_tables_that_it_concerns() {
    for (kind, left) in [
        (EventType::NodeCreated, vec!["/a Child"]),
        (EventType::NodeDataChanged, vec!["/a Child"]),
        (EventType::NodeDeleted, vec![]),
        (EventType::NodeChildrenChanged, vec!["/a Data", "/a Exist"]),
    ] {
        let mut desk = Desk::connected();
        let (watcher, _events) = watch();
        desk.watch(1, exists("/a"), Err(ZkError::NoNode), &watcher);
        desk.watch(2, get_data("/a"), data(), &watcher);
        desk.watch(3, get_children("/a"), children(), &watcher);
        desk.watch(4, get_children("/b"), children(), &watcher);
        desk.notify(1, kind, "/a");
        let expected: Vec<&str> = left.into_iter().chain(["/b Child"]).collect();
        assert_eq!(watches(&desk), expected, "{kind:?}");
    }
}

#[test]
fn every_watcher_object_is_told_of_the_session_once_and_stays() {
    let mut desk = Desk::connected();
    let ((session, session_events), (node, node_events)) = (watch(), watch());
    desk.watch(1, get_data("/a"), data(), &session);
    desk.watch(2, get_data("/a"), data(), &node);
    desk.watch(3, get_children("/b"), children(), &node);
    desk.watch_session(session.clone());
    desk.watch_session(session);
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    desk.input(Input::Refused);
    desk.pass_until(300 * MILLI);
    for events in [&session_events, &node_events] {
        assert_eq!(told(events), ["disconnected"], "a repeat is not told");
    }
    assert_eq!(watches(&desk).len(), 3);
    // What was told first about a pair is told of the second alone once the first has gone.
    desk.accept(2);
    desk.notify(2, EventType::NodeDataChanged, "/a");
    desk.broken(2);
    desk.pass_until(400 * MILLI);
    let expected = ["connected", "changed /a", "disconnected"];
    assert_eq!(told(&session_events), expected);
    assert_eq!(told(&node_events), expected);
}

#[test]
fn after_a_reconnect_come_disconnected_then_connected_then_what_was_missed() {
    let mut desk = Desk::connected();
    let (watcher, events) = watch();
    desk.watch(1, get_data("/a"), data(), &watcher);
    desk.watch(2, exists("/b"), Err(ZkError::NoNode), &watcher);
    desk.watch(3, get_children("/c"), children(), &watcher);
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    let (_queued, _) = desk.ask(sync(), None);
    let outputs = desk.accept(2);
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
    desk.notify(2, EventType::NodeDeleted, "/a");
    assert_eq!(told(&events), ["disconnected", "connected", "deleted /a"]);
    assert_eq!(watches(&desk), ["/b Exist", "/c Child"]);
}

#[test]
fn only_answers_move_the_zxid_that_missed_changes_are_counted_from() {
    let mut desk = Desk::connected();
    let (watcher, _events) = watch();
    desk.watch(1, get_data("/a"), data(), &watcher);
    desk.notify(1, EventType::NodeCreated, "/b");
    desk.hear(1, ServerMessage::Pong);
    let zxid = |outputs: &[Output]| {
        outputs.iter().find_map(|output| match output {
            Output::Send {
                message: ClientMessage::SetWatches(tables),
                ..
            } => Some(tables.relative_zxid),
            Output::Send { .. }
            | Output::Connect { .. }
            | Output::Disconnect { .. }
            | Output::AskForWriter { .. }
            | Output::StateChanged(_) => None,
        })
    };
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    assert_eq!(zxid(&desk.accept(2)), Some(Zxid(1)));
    desk.hear(2, ServerMessage::WatchesSet { zxid: Zxid(9) });
    desk.broken(2);
    desk.pass_until(200 * MILLI);
    assert_eq!(zxid(&desk.accept(3)), Some(Zxid(9)));
}

#[test]
fn many_watches_are_set_in_batches_of_128_kilobytes_the_last_first() {
    let mut desk = Desk::connected();
    let (watcher, _events) = watch();
    // Paths of 1 kB: 128 of them fill a batch.
    let node = |number: u32| format!("/{number:01023}");
    for number in 1..=200 {
        desk.watch(number, get_data(&node(number)), data(), &watcher);
    }
    desk.watch(201, get_children("/c"), children(), &watcher);
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    let sizes: Vec<(usize, usize)> = desk
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
            | Output::AskForWriter { .. }
            | Output::StateChanged(_) => None,
        })
        .collect();
    assert_eq!(sizes, [(72, 1), (128, 0)]);
}

#[test]
fn a_forgotten_watch_stays_because_the_server_knows_no_better() {
    let mut desk = Desk::connected();
    let (watcher, events) = watch();
    desk.ask(exists("/a"), Some(watcher));
    drop(events);
    desk.reply(1, 1, is_there());
    assert_eq!(
        desk.client.watches().collect::<Vec<_>>(),
        [(&path("/a"), WatchTable::Data)]
    );
}
