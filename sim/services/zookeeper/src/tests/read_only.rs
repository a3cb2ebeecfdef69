//! Servers that find no leader, and answer reads.

use std::rc::Rc;

use picklock_clients::zookeeper::{CreateMode, EventType, Response, SessionId, ZkError, Zxid};

use super::super::messages::{ClientMessage, ConnectionId, Password, ServerMessage, Xid};
use super::super::state::QuorumPeerConfig;
use super::super::testing::*;

fn formed(nodes: &[&str]) -> Cluster {
    let mut settings = QuorumPeerConfig::clone(&settings(3));
    settings.read_only = true;
    Cluster::of(Rc::new(settings), nodes)
}

/// The last of three, which leads, and another die; the first looks for a leader from now on.
fn alone(cluster: &mut Cluster) {
    cluster.crash(2);
    cluster.crash(1);
    cluster.run_for(2 * LATENCY);
}

fn hello(session: SessionId, password: Password, read_only: bool) -> ClientMessage {
    ClientMessage::Connect {
        session,
        password,
        timeout: 4 * SECOND,
        last_zxid: Zxid(0),
        read_only,
    }
}

/// A new client that puts up with a read-only server.
fn reader(cluster: &mut Cluster) -> ConnectionId {
    let id = cluster.open(0, hello(SessionId(0), Password(0), true));
    cluster.run_for(10 * LATENCY);
    id
}

#[test]
fn after_two_seconds_without_a_leader_reads_are_answered_and_nothing_else() {
    let mut cluster = formed(&["/q"]);
    alone(&mut cluster);
    cluster.run_for(2 * SECOND - 4 * LATENCY);
    assert!(!cluster.server(0).is_serving());
    cluster.run_for(4 * LATENCY);
    assert!(cluster.server(0).is_serving() && cluster.server(0).is_read_only());
    let client = reader(&mut cluster);
    let greeting = cluster.inbox(client);
    let read_only = ServerMessage::Connected {
        session: cluster.connections[&client].session,
        password: cluster.connections[&client].password,
        timeout: 4 * SECOND,
        read_only: true,
    };
    assert_eq!(greeting, [read_only]);
    cluster.ask(client, get_data("/q", true)).unwrap();
    for refused in [
        create("/q/x", CreateMode::Ephemeral),
        create("bad", CreateMode::Persistent),
        delete("/none"),
        set_data("/q", b"x"),
        multi(Vec::new()),
        sync(),
    ] {
        assert_eq!(cluster.ask(client, refused), Err(ZkError::NotReadOnly));
    }
    cluster.send(client, ClientMessage::Ping);
    cluster.send(client, ClientMessage::Close { xid: Xid(99) });
    cluster.run_for(10 * LATENCY);
    let inbox = cluster.inbox(client);
    let [.., ServerMessage::Pong, ServerMessage::Reply { reply, .. }] = &inbox[..] else {
        panic!("{inbox:?}");
    };
    assert_eq!(*reply, Ok(Response::Closed));
    assert!(!cluster.connections[&client].open);
}

#[test]
fn a_writer_and_a_session_of_the_ensemble_are_turned_away() {
    let mut cluster = formed(&["/q"]);
    let old = cluster.connect_for(0, 40);
    cluster.run_for(10 * LATENCY);
    alone(&mut cluster);
    cluster.run_for(3 * SECOND);
    let (session, password) = {
        let old = &cluster.connections[&old];
        (old.session, old.password)
    };
    let writer = cluster.open(0, hello(SessionId(0), Password(0), false));
    let resumed = cluster.open(0, hello(session, password, true));
    let stranger = cluster.open(0, hello(SessionId(0x1234), Password(7), true));
    cluster.run_for(10 * LATENCY);
    for closed in [writer, resumed] {
        assert!(cluster.inbox(closed).is_empty());
        assert!(!cluster.connections[&closed].open);
    }
    assert_eq!(cluster.inbox(stranger), [ServerMessage::Expired]);
    // At a server with a leader it goes on.
    cluster.restart(1);
    cluster.run_for(5 * SECOND);
    let resumed = cluster.open(1, hello(session, password, true));
    cluster.run_for(10 * LATENCY);
    let inbox = cluster.inbox(resumed);
    let [ServerMessage::Connected { read_only, .. }] = inbox[..] else {
        panic!("{inbox:?}");
    };
    assert!(!read_only);
}

#[test]
fn a_session_of_a_read_only_server_lives_there_alone() {
    let mut cluster = formed(&["/q"]);
    alone(&mut cluster);
    cluster.run_for(3 * SECOND);
    let client = reader(&mut cluster);
    let (session, password) = {
        let client = &cluster.connections[&client];
        (client.session, client.password)
    };
    cluster.cut(client);
    let again = cluster.open(0, hello(session, password, true));
    cluster.run_for(10 * LATENCY);
    cluster.ask(again, get_data("/q", false)).unwrap();
    // Silent for its timeout and up to a tick.
    cluster.run_for(6 * SECOND + 10 * LATENCY);
    assert!(!cluster.connections[&again].open);
    let expired = cluster.open(0, hello(session, password, true));
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.inbox(expired), [ServerMessage::Expired]);
    // With a leader all its clients lose their connections, and no server knows their sessions.
    let watcher = reader(&mut cluster);
    let elsewhere = cluster.connections[&watcher].session;
    cluster.restart(1);
    cluster.ping_for(&[watcher], 3);
    assert!(!cluster.connections[&watcher].open);
    assert!(cluster.server(0).is_serving() && !cluster.server(0).is_read_only());
    assert!(!cluster.server(0).tree().has_session(elsewhere));
}

#[test]
fn a_read_only_server_shows_what_it_has_logged_even_if_it_comes_to_nothing() {
    let mut cluster = formed(&["/q"]);
    let client = cluster.connect(2);
    cluster.run_for(10 * LATENCY);
    // Two of three know of the write, and no server knows that two do.
    cluster.hold_acks();
    cluster.hold(2, 1);
    cluster.request(client, create("/q/logged", CreateMode::Persistent));
    cluster.run_for(10 * LATENCY);
    alone(&mut cluster);
    cluster.heal(true);
    cluster.run_for(3 * SECOND);
    assert!(cluster.server(0).tree().get("/q/logged").is_none());
    let client = reader(&mut cluster);
    cluster.ask(client, exists("/q/logged", true)).unwrap();
    // The log of the ensemble has not changed by that.
    cluster.restart(1);
    cluster.run_for(5 * SECOND);
    assert!(cluster.server(1).tree().get("/q/logged").is_some());
}

#[test]
fn a_read_only_server_that_is_cut_off_sends_no_events() {
    let mut cluster = formed(&["/q", "/q/x"]);
    cluster.isolate(0);
    cluster.run_for(13 * SECOND);
    assert!(cluster.server(0).is_read_only());
    let (writer, watcher) = (cluster.connect(2), reader(&mut cluster));
    cluster.ask(watcher, get_data("/q/x", true)).unwrap();
    cluster.ask(writer, delete("/q/x")).unwrap();
    cluster.inbox(watcher);
    cluster.ping_for(&[watcher], 5);
    assert!(cluster.events(watcher).is_empty());
    cluster.ask(watcher, exists("/q/x", false)).unwrap();
    // It comes back, and a watcher gets the event when it brings its watches to a server that has a leader.
    cluster.heal(false);
    cluster.ping_for(&[watcher], 5);
    assert!(!cluster.connections[&watcher].open);
    let back = cluster.connect(0);
    cluster.inbox(back);
    cluster.send(back, tables(Zxid(1), &["/q/x"], &[], &[]));
    cluster.run_for(10 * LATENCY);
    let deleted = (EventType::NodeDeleted, "/q/x".to_owned());
    assert_eq!(cluster.events(back), [deleted]);
}

#[test]
fn without_the_setting_no_client_is_served_without_a_leader() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    alone(&mut cluster);
    cluster.run_for(60 * SECOND);
    assert!(!cluster.server(0).is_serving());
}
