//! Watches that stay, the taking back of watches, and the nodes of a session.

use std::rc::Rc;

use picklock_clients::zookeeper::EventType::{
    NodeChildrenChanged, NodeCreated, NodeDataChanged, NodeDeleted,
};
use picklock_clients::zookeeper::{
    CreateMode, EventType, ReadOp, ReadResult, Request, Response, WatchSide, ZkError, Zxid,
};

use super::super::messages::{ClientMessage, ConnectionId, WatchTables};
use super::super::state::QuorumPeerConfig;
use super::super::testing::*;
use super::super::version::Version;

fn add(cluster: &mut Cluster, id: ConnectionId, path: &str, recursive: bool) {
    let path = Rc::from(path);
    let reply = cluster.ask(id, Request::AddWatch { path, recursive });
    assert_eq!(reply, Ok(Response::Watching));
}

fn take_back(cluster: &mut Cluster, id: ConnectionId, side: WatchSide) -> Result<(), ZkError> {
    let (path, local) = (Rc::from("/a"), false);
    let reply = cluster.ask(id, Request::RemoveWatches { path, side, local });
    reply.map(|response| assert_eq!(response, Response::Watching))
}

/// Makes, changes, and deletes a node and one below it, and answers the events that a client gets.
fn changes(cluster: &mut Cluster, by: ConnectionId, of: ConnectionId) -> Vec<(EventType, String)> {
    for path in ["/a", "/a/b"] {
        cluster
            .ask(by, create(path, CreateMode::Persistent))
            .unwrap();
        cluster.ask(by, set_data(path, b"x")).unwrap();
    }
    for path in ["/a/b", "/a"] {
        cluster.ask(by, delete(path)).unwrap();
    }
    cluster.run_for(10 * LATENCY);
    cluster.events(of)
}

fn told(list: &[(EventType, &str)]) -> Vec<(EventType, String)> {
    let list = list.iter();
    list.map(|(kind, path)| (*kind, path.to_string())).collect()
}

#[test]
fn a_persistent_watch_stays_and_gets_events_of_both_sides() {
    let mut cluster = Cluster::formed(3, &[]);
    let (watcher, writer) = (cluster.connect(0), cluster.connect(1));
    add(&mut cluster, watcher, "/a", false);
    for _ in 0..2 {
        let events = changes(&mut cluster, writer, watcher);
        let all = [
            (NodeCreated, "/a"),
            (NodeDataChanged, "/a"),
            (NodeChildrenChanged, "/a"),
            (NodeChildrenChanged, "/a"),
            (NodeDeleted, "/a"),
        ];
        assert_eq!(events, told(&all));
    }
}

#[test]
fn a_recursive_watch_gets_all_below_but_no_list_of_children() {
    let mut cluster = Cluster::formed(3, &[]);
    let (watcher, writer) = (cluster.connect(0), cluster.connect(1));
    add(&mut cluster, watcher, "/", true);
    // It is told once, although two of its watches fire.
    add(&mut cluster, watcher, "/a", true);
    for _ in 0..2 {
        let events = changes(&mut cluster, writer, watcher);
        let all = [
            (NodeCreated, "/a"),
            (NodeDataChanged, "/a"),
            (NodeCreated, "/a/b"),
            (NodeDataChanged, "/a/b"),
            (NodeDeleted, "/a/b"),
            (NodeDeleted, "/a"),
        ];
        assert_eq!(events, told(&all));
    }
}

#[test]
fn of_several_kinds_of_watches_on_one_path_the_last_counts() {
    let mut cluster = Cluster::formed(1, &[]);
    let (watcher, writer) = (cluster.connect(0), cluster.connect(0));
    add(&mut cluster, watcher, "/a", true);
    add(&mut cluster, watcher, "/a", false);
    assert_eq!(changes(&mut cluster, writer, watcher).len(), 5);
    // A read makes the side that it watches one that fires once.
    cluster.ask(watcher, exists("/a", true)).unwrap_err();
    let events = changes(&mut cluster, writer, watcher);
    let once = [
        (NodeCreated, "/a"),
        (NodeChildrenChanged, "/a"),
        (NodeChildrenChanged, "/a"),
        (NodeDeleted, "/a"),
    ];
    assert_eq!(events, told(&once));
}

#[test]
fn watches_are_taken_back_one_side_at_a_time() {
    let mut cluster = Cluster::formed(1, &["/a"]);
    let client = cluster.connect(0);
    for lasting in [false, true] {
        if lasting {
            add(&mut cluster, client, "/a", false);
        } else {
            cluster.ask(client, get_data("/a", true)).unwrap();
            cluster.ask(client, get_children("/a", true)).unwrap();
        }
        assert_eq!(cluster.server(0).watch_count(), 2);
        assert_eq!(take_back(&mut cluster, client, WatchSide::Data), Ok(()));
        let again = take_back(&mut cluster, client, WatchSide::Data);
        assert_eq!(again, Err(ZkError::NoWatcher));
        assert_eq!(take_back(&mut cluster, client, WatchSide::Any), Ok(()));
        assert_eq!(cluster.server(0).watch_count(), 0);
        cluster.ask(client, set_data("/a", b"x")).unwrap();
        assert_eq!(cluster.events(client), []);
    }
}

#[test]
fn persistent_watches_come_along_and_nothing_is_synthesised() {
    let mut cluster = Cluster::formed(3, &[]);
    let (watcher, writer) = (cluster.connect(0), cluster.connect(1));
    add(&mut cluster, watcher, "/a", false);
    cluster.cut(watcher);
    changes(&mut cluster, writer, watcher);
    let back = cluster.resume(watcher, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    let tables = WatchTables {
        persistent: vec![Rc::from("/a")],
        ..WatchTables::default()
    };
    cluster.send(back, ClientMessage::SetWatches(Box::new(tables)));
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.events(back), []);
    assert_eq!(changes(&mut cluster, writer, back).len(), 5);
    cluster.cut(back);
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.server(1).watch_count(), 0);
}

#[test]
fn a_client_can_ask_for_the_nodes_of_its_own_session() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (client, other) = (cluster.connect(0), cluster.connect(1));
    for (id, path) in [(client, "/q/a"), (client, "/q/ab"), (other, "/q/ac")] {
        cluster
            .ask(id, create(path, CreateMode::Ephemeral))
            .unwrap();
    }
    let mut ephemerals = |prefix: &str| {
        let prefix = Rc::from(prefix);
        match cluster.ask(client, Request::GetEphemerals { prefix }) {
            Ok(Response::Ephemerals(paths)) => paths.len(),
            other => panic!("{other:?}"),
        }
    };
    let counts = ["", "/", "/q/a", "/q/ab", "/q/b"].map(&mut ephemerals);
    assert_eq!(counts, [2, 2, 2, 1, 0]);
}

#[test]
fn to_ask_whether_there_is_a_watch_takes_nothing_back() {
    let mut cluster = Cluster::formed(1, &["/a"]);
    let client = cluster.connect(0);
    let check = |cluster: &mut Cluster, side| {
        let (path, local) = (Rc::from("/a"), false);
        let request = Request::CheckWatches { path, side, local };
        cluster.ask(client, request).map(|_| ())
    };
    cluster.ask(client, get_children("/a", true)).unwrap();
    assert_eq!(
        check(&mut cluster, WatchSide::Data),
        Err(ZkError::NoWatcher)
    );
    for side in [WatchSide::Children, WatchSide::Any] {
        assert_eq!(check(&mut cluster, side), Ok(()));
    }
    assert_eq!(cluster.server(0).watch_count(), 1);
}

#[test]
fn a_server_before_3_9_finds_the_watches_of_others_too() {
    for version in [Version::V3_8, Version::V3_9] {
        let mut cluster = of_version(version);
        let (client, other) = (cluster.connect(0), cluster.connect(0));
        cluster.ask(other, exists("/a", true)).unwrap_err();
        let (path, local) = (Rc::from("/a"), false);
        let side = WatchSide::Data;
        let reply = cluster.ask(client, Request::CheckWatches { path, side, local });
        assert_eq!(reply.is_ok(), version == Version::V3_8);
    }
}

#[test]
fn each_of_several_reads_has_an_answer_of_its_own_and_leaves_no_watch() {
    let mut cluster = Cluster::formed(1, &["/a", "/a/b"]);
    let client = cluster.connect(0);
    let ops = [
        ReadOp::Children(Rc::from("/a")),
        ReadOp::Data(Rc::from("/none")),
        ReadOp::Data(Rc::from("/a/b")),
    ];
    let reply = cluster.ask(client, Request::MultiRead(ops.into()));
    let Ok(Response::MultiRead(results)) = reply else {
        panic!("expected an answer to each");
    };
    let [
        Ok(ReadResult::Children(children)),
        Err(ZkError::NoNode),
        Ok(ReadResult::Data { .. }),
    ] = &results[..]
    else {
        panic!("expected a list, an error, and data: {results:?}");
    };
    assert_eq!(children.len(), 1);
    assert_eq!(cluster.server(0).watch_count(), 0);
}

fn of_version(version: Version) -> Cluster {
    let settings = QuorumPeerConfig {
        version,
        ..(*settings(1)).clone()
    };
    Cluster::of(Rc::new(settings), &[])
}

#[test]
fn a_server_of_3_5_does_not_know_what_came_with_3_6_and_ends_the_connection() {
    for version in [Version::V3_4, Version::V3_6] {
        let mut cluster = of_version(version);
        let client = cluster.connect(0);
        let reply = cluster.ask(client, Request::MultiRead([].into()));
        cluster.run_for(5 * LATENCY);
        let known = version.has_persistent_watches();
        assert_eq!(reply == Err(ZkError::Unimplemented), !known);
        assert_eq!(cluster.connections[&client].open, known);
    }
}
