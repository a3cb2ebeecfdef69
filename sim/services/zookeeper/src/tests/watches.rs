//! Watches.

use std::rc::Rc;

use picklock_clients::zookeeper::EventType::{
    NodeChildrenChanged, NodeCreated, NodeDataChanged, NodeDeleted,
};
use picklock_clients::zookeeper::{Acl, CreateMode, Data, EventType, Op, Request, Zxid};
use picklock_machines::Boring;

use super::super::messages::{ClientMessage, ConnectionId, ServerMessage, Xid};
use super::super::state::{Input, Output};
use super::super::testing::*;

fn told(list: &[(EventType, &str)]) -> Vec<(EventType, String)> {
    let list = list.iter();
    list.map(|(kind, path)| (*kind, path.to_string())).collect()
}

#[test]
fn an_event_comes_before_the_reply_of_the_write_that_caused_it() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    cluster.ask(client, get_children("/q", true)).unwrap();
    cluster.ask(client, exists("/q/x", true)).unwrap_err();
    cluster.inbox(client);
    cluster
        .ask(client, create("/q/x", CreateMode::Persistent))
        .unwrap();
    let inbox = cluster.inbox(client);
    assert!(matches!(
        inbox.as_slice(),
        [
            ServerMessage::Notification {
                kind: NodeCreated,
                ..
            },
            ServerMessage::Notification {
                kind: NodeChildrenChanged,
                ..
            },
            ServerMessage::Reply { .. }
        ]
    ));
}

#[test]
fn a_watcher_of_both_sides_gets_one_event_of_a_deletion() {
    let mut cluster = Cluster::formed(3, &["/q", "/q/x"]);
    let client = cluster.connect(1);
    for request in [
        get_data("/q/x", true),
        get_data("/q/x", true),
        get_children("/q/x", true),
        get_children("/q", true),
    ] {
        cluster.ask(client, request).unwrap();
    }
    assert_eq!(cluster.server(1).watch_count(), 3);
    cluster.inbox(client);
    cluster.ask(client, delete("/q/x")).unwrap();
    let expected = [(NodeDeleted, "/q/x"), (NodeChildrenChanged, "/q")];
    assert_eq!(cluster.events(client), told(&expected));
    assert_eq!(cluster.server(1).watch_count(), 0);
    cluster
        .ask(client, create("/q/x", CreateMode::Persistent))
        .unwrap();
    assert_eq!(cluster.events(client), []);
}

#[test]
fn only_exists_leaves_a_watch_on_a_missing_node() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster.ask(client, get_data("/q/x", true)).unwrap_err();
    cluster.ask(client, get_children("/q/x", true)).unwrap_err();
    assert_eq!(cluster.server(0).watch_count(), 0);
    cluster.ask(client, exists("/q/x", true)).unwrap_err();
    assert_eq!(cluster.server(0).watch_count(), 1);
    cluster.cut(client);
    cluster.run_for(5 * LATENCY);
    assert_eq!(cluster.server(0).watch_count(), 0);
}

#[test]
fn equal_bytes_fire_a_data_watch_all_the_same() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster.ask(client, exists("/q", true)).unwrap();
    cluster.inbox(client);
    cluster.ask(client, set_data("/q", b"")).unwrap();
    assert_eq!(cluster.events(client), told(&[(NodeDataChanged, "/q")]));
}

#[test]
fn a_multi_tells_a_child_watch_once_and_nodes_in_order() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster.ask(client, get_children("/q", true)).unwrap();
    cluster.ask(client, exists("/q/b", true)).unwrap_err();
    cluster.inbox(client);
    let op = |path: &str| Op::Create {
        path: Rc::from(path),
        data: Data::empty(),
        mode: CreateMode::Persistent,
        acl: Acl::OPEN,
    };
    let request = multi(vec![op("/q/a"), op("/q/b")]);
    cluster.ask(client, request).unwrap();
    let expected = [(NodeChildrenChanged, "/q"), (NodeCreated, "/q/b")];
    assert_eq!(cluster.events(client), told(&expected));
}

#[test]
fn what_was_missed_is_told_when_the_watches_are_set_again() {
    let mut cluster = Cluster::formed(3, &["/d", "/d/same", "/d/new", "/d/gone", "/c", "/c/gone"]);
    let writer = cluster.connect(0);
    let client = cluster.connect(1);
    cluster.run_for(10 * LATENCY);
    let since = cluster.server(1).tree().last_zxid();
    cluster.cut(client);
    cluster.ask(writer, delete("/d/new")).unwrap();
    cluster
        .ask(writer, create("/d/new", CreateMode::Persistent))
        .unwrap();
    cluster.ask(writer, delete("/d/gone")).unwrap();
    cluster.ask(writer, delete("/c/gone")).unwrap();
    cluster
        .ask(writer, create("/c/made", CreateMode::Persistent))
        .unwrap();
    cluster
        .ask(writer, create("/c/passing", CreateMode::Persistent))
        .unwrap();
    cluster.ask(writer, delete("/c/passing")).unwrap();
    let client = cluster.resume(client, 1, since);
    let watches = tables(
        since,
        &["/d/same", "/d/new", "/d/gone"],
        &["/c/made", "/c/passing"],
        &["/d/same", "/c", "/c/gone"],
    );
    cluster.run_for(10 * LATENCY);
    cluster.send(client, watches);
    cluster.run_for(10 * LATENCY);
    let inbox = cluster.inbox(client);
    assert!(matches!(
        inbox.last(),
        Some(ServerMessage::WatchesSet { .. })
    ));
    cluster.connections.get_mut(&client).unwrap().inbox = inbox;
    assert_eq!(
        cluster.events(client),
        told(&[
            (NodeDataChanged, "/d/new"),
            (NodeDeleted, "/d/gone"),
            (NodeCreated, "/c/made"),
            (NodeChildrenChanged, "/c"),
            (NodeDeleted, "/c/gone"),
        ])
    );
    // What was not told is armed again: two sides of one node, and a node that was not there.
    assert_eq!(cluster.server(1).watch_count(), 3);
    cluster
        .ask(writer, create("/c/passing", CreateMode::Persistent))
        .unwrap();
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.events(client), told(&[(NodeCreated, "/c/passing")]));
}

#[test]
fn a_notification_says_whether_its_own_client_caused_it() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let watcher = cluster.connect(0);
    let writer = cluster.connect(0);
    cluster.ask(watcher, exists("/q", true)).unwrap();
    cluster.ask(writer, exists("/q", true)).unwrap();
    let said = said_of(&mut cluster, writer, set_data("/q", b"x")).into_iter();
    let notified = said.flat_map(|(connections, own, _)| {
        (connections.into_iter()).map(move |id| (id, own == Some(id)))
    });
    let notified: Vec<_> = notified.collect();
    assert_eq!(notified, [(watcher, false), (writer, true)]);
}

#[test]
fn ten_thousand_watchers_of_one_path_are_all_told_once() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let writer = cluster.connect(0);
    let server = &mut cluster.servers[0];
    for id in 0..10_000 {
        let id = ConnectionId(1_000 + id);
        server.clients.connect(id, cluster.network.now(), SECOND);
        let connection = server.clients.connections.get_mut(id).unwrap();
        let path = Rc::from("/q");
        let table = super::super::clients::Table::Data;
        server.watches.add(table, &path, id, connection);
        server.watches.add(table, &path, id, connection);
    }
    assert_eq!(cluster.server(0).watch_count(), 10_000);
    cluster.ask(writer, set_data("/q", b"x")).unwrap();
    assert_eq!(cluster.server(0).watch_count(), 0);
    assert_ne!(cluster.server(0).tree().last_zxid(), Zxid(0));
}

/// The events that a server sends when it has done a request: to which connections, which of them is the client that
/// asked, and what kind.
type Said = (Vec<ConnectionId>, Option<ConnectionId>, EventType);

fn said_of(cluster: &mut Cluster, writer: ConnectionId, request: Request) -> Vec<Said> {
    let (server, mut out) = (&mut cluster.servers[0], Vec::new());
    let message = ClientMessage::Request {
        xid: Xid(99),
        request,
    };
    let input = Input::Client {
        connection: writer,
        message,
    };
    server.handle(cluster.network.now(), input, &mut Boring, &mut out);
    let durable = server.next_wake();
    server.handle(durable, Input::Wake, &mut Boring, &mut out);
    let said = out.into_iter().filter_map(|output| match output {
        Output::Notify {
            connections,
            own,
            kind,
            ..
        } => Some((connections, own, kind)),
        Output::ToClient {
            connection,
            message: ServerMessage::Notification { kind, .. },
            own,
        } => Some((vec![connection], own.then_some(connection), kind)),
        _ => None,
    });
    said.collect()
}

/// Three connections of a server that watch the data of a node, in this order.
fn three_watchers(cluster: &mut Cluster, path: &str) -> [ConnectionId; 3] {
    let three = [0; 3].map(|server| cluster.connect(server));
    for id in three {
        cluster.ask(id, exists(path, true)).unwrap();
    }
    three
}

#[test]
fn a_watcher_that_may_not_read_gets_no_event_among_others() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let three = three_watchers(&mut cluster, "/q");
    let [first, _, last] = three;
    for id in [first, last] {
        let (scheme, secret) = ("digest".into(), b"alice:a"[..].into());
        cluster.send(id, ClientMessage::Authenticate { scheme, secret });
    }
    cluster.run_for(2 * LATENCY);
    let path = Rc::from("/q");
    let (acl, version) = (Acl::creator_all(), None);
    cluster
        .ask(first, Request::SetAcl { path, acl, version })
        .unwrap();
    let said = said_of(&mut cluster, last, set_data("/q", b"x"));
    let told = (vec![first, last], Some(last), NodeDataChanged);
    assert_eq!(said, [told]);
    assert_eq!(cluster.server(0).watch_count(), 0);
}

#[test]
fn among_others_a_watcher_of_both_sides_gets_one_event() {
    let mut cluster = Cluster::formed(1, &["/q", "/q/x"]);
    let [first, both, last] = three_watchers(&mut cluster, "/q/x");
    let child = cluster.connect(0);
    for id in [both, child] {
        cluster.ask(id, get_children("/q/x", true)).unwrap();
    }
    let said = said_of(&mut cluster, child, delete("/q/x"));
    let of_data = (vec![first, both, last], None, NodeDeleted);
    let of_children = (vec![child], Some(child), NodeDeleted);
    assert_eq!(said, [of_data, of_children]);
    assert_eq!(cluster.server(0).watch_count(), 0);
}

#[test]
fn a_watcher_that_has_gone_is_skipped_and_others_are_in_order() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let writer = cluster.connect(0);
    for gone in 0..3 {
        let three = three_watchers(&mut cluster, "/q");
        cluster.cut(three[gone]);
        cluster.run_for(2 * LATENCY);
        let others = three.into_iter().filter(|id| *id != three[gone]);
        let told = (others.collect(), None, NodeDataChanged);
        let said = said_of(&mut cluster, writer, set_data("/q", b"x"));
        assert_eq!(said, [told]);
        assert_eq!(cluster.server(0).watch_count(), 0);
    }
    for id in three_watchers(&mut cluster, "/q") {
        cluster.cut(id);
    }
    cluster.run_for(2 * LATENCY);
    assert_eq!(
        said_of(&mut cluster, writer, set_data("/q", b"x")),
        [],
        "no watch is left"
    );
}
