//! Watches: what fires them, when it is told, and what a reconnect makes of them.

use picklock_clients::zookeeper::{CreateMode, EventType, Response, ZkError};

use crate::messages::ServerMessage;
use crate::testing::*;

fn told(list: &[(EventType, &str)]) -> Vec<(EventType, String)> {
    let told = list.iter();
    told.map(|(kind, path)| (*kind, (*path).to_string()))
        .collect()
}

/// D15: the servers' half. See also the client's.
#[test]
fn an_event_comes_before_any_answer_that_shows_the_change() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (watcher, writer) = (cluster.connect(0), cluster.connect(0));
    for client in [watcher, writer] {
        cluster.ask(client, get_children("/q", true)).unwrap();
        cluster.inbox(client);
    }
    // Reads go on all the while; the first that shows the node comes behind the event.
    cluster.request(writer, create("/q/x", CreateMode::Persistent));
    for _ in 0..20 {
        cluster.request(watcher, get_children("/q", false));
        cluster.run_for(LATENCY / 2);
    }
    cluster.run_for(10 * LATENCY);
    let inbox = cluster.inbox(watcher);
    let event = |message: &ServerMessage| matches!(message, ServerMessage::Notification { .. });
    let shows = |message: &ServerMessage| match message {
        ServerMessage::Reply {
            reply: Ok(Response::Children(names)),
            ..
        } => !names.is_empty(),
        _ => false,
    };
    let first = |what: &dyn Fn(&ServerMessage) -> bool| inbox.iter().position(what).unwrap();
    assert!(first(&event) < first(&shows));
    // Also before the answer to the very write.
    assert!(event(&cluster.inbox(writer)[0]));
}

/// D16.
#[test]
fn a_watch_fires_once_for_its_connection_however_often_it_was_set() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    for _ in 0..3 {
        cluster.ask(client, get_data("/q", true)).unwrap();
        cluster.ask(client, exists("/q", true)).unwrap();
    }
    assert_eq!(cluster.server(0).watch_count(), 1);
    cluster.inbox(client);
    cluster.ask(client, set_data("/q", b"1")).unwrap();
    cluster.ask(client, set_data("/q", b"2")).unwrap();
    let changed = (EventType::NodeDataChanged, "/q");
    assert_eq!(cluster.events(client), told(&[changed]));
    cluster.ask(client, get_data("/q", true)).unwrap();
    cluster.cut(client);
    cluster.run_for(2 * LATENCY);
    assert_eq!(cluster.server(0).watch_count(), 0);
}

/// D17.
#[test]
fn only_exists_watches_what_is_not_there() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    for request in [get_data("/q/x", true), get_children("/q/x", true)] {
        assert_eq!(cluster.ask(client, request), Err(ZkError::NoNode));
        assert_eq!(cluster.server(0).watch_count(), 0);
    }
    cluster.ask(client, exists("/q/x", true)).unwrap_err();
    assert_eq!(cluster.server(0).watch_count(), 1);
}

/// D18: the servers' half. See also the client's, and of watches that stay
/// `persistent_watches_come_along_and_nothing_is_synthesised`.
#[test]
fn a_reconnect_reports_changed_nodes_and_no_passing_one() {
    let mut cluster = Cluster::formed(3, &["/q", "/q/again", "/q/gone"]);
    let (writer, client) = (cluster.connect(0), cluster.connect(1));
    cluster.run_for(10 * LATENCY);
    let since = cluster.server(1).tree().last_zxid();
    cluster.cut(client);
    for request in [
        delete("/q/again"),
        create("/q/again", CreateMode::Persistent),
        create("/q/passing", CreateMode::Persistent),
        delete("/q/passing"),
        delete("/q/gone"),
    ] {
        cluster.ask(writer, request).unwrap();
    }
    let client = cluster.resume(client, 1, since);
    cluster.run_for(10 * LATENCY);
    cluster.inbox(client);
    let watches = tables(since, &["/q/again", "/q/gone"], &["/q/passing"], &[]);
    cluster.send(client, watches);
    cluster.run_for(10 * LATENCY);
    let expected = [
        (EventType::NodeDataChanged, "/q/again"),
        (EventType::NodeDeleted, "/q/gone"),
    ];
    assert_eq!(cluster.events(client), told(&expected));
}

/// D28.
#[test]
fn equal_bytes_are_a_change() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster.ask(client, set_data("/q", b"same")).unwrap();
    cluster.ask(client, get_data("/q", true)).unwrap();
    cluster.inbox(client);
    cluster.ask(client, set_data("/q", b"same")).unwrap();
    assert_eq!(cluster.events(client).len(), 1);
}

/// D29.
#[test]
fn a_child_watch_reports_the_deletion_of_its_node() {
    let mut cluster = Cluster::formed(1, &["/q", "/q/x"]);
    let client = cluster.connect(0);
    cluster.ask(client, get_children("/q/x", true)).unwrap();
    cluster.inbox(client);
    cluster.ask(client, delete("/q/x")).unwrap();
    let deleted = (EventType::NodeDeleted, "/q/x");
    assert_eq!(cluster.events(client), told(&[deleted]));
}
