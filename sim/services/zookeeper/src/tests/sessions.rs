//! Sessions: how they live, move, and die.

use picklock_clients::zookeeper::{CreateMode, Response, ZkError, Zxid};

use super::super::messages::{ClientMessage, Password, ServerMessage, Xid};
use super::super::state::Output;
use super::super::testing::*;
use super::super::txn::TxnChange;

fn expired(cluster: &Cluster) -> bool {
    let expired = |said: &(_, Output)| matches!(said.1, Output::SessionExpired { .. });
    cluster.observer.said.iter().any(expired)
}

/// Runs until a session expires; answers after how many milliseconds.
fn expiry(cluster: &mut Cluster) -> u64 {
    let start = cluster.network.now();
    while !expired(cluster) {
        cluster.run_for(1_000);
        assert!(cluster.network.now().since(start).as_secs() < 60);
    }
    cluster.network.now().since(start).as_millis() as u64
}

#[test]
fn a_session_on_the_leader_dies_between_its_timeout_and_one_tick_more() {
    for offset in [0, 700_000, 1_999_000, 2_300_000] {
        let mut cluster = Cluster::formed(3, &["/q"]);
        cluster.run_for(offset);
        let client = cluster.connect_for(2, 4);
        cluster
            .ask(client, create("/q/x", CreateMode::Ephemeral))
            .unwrap();
        cluster.cut(client);
        let millis = expiry(&mut cluster);
        assert!((3_990..=6_000).contains(&millis), "{millis} ms");
    }
}

#[test]
fn a_session_on_a_follower_may_live_half_a_tick_longer() {
    let mut longest = 0;
    for offset in 0..20 {
        let mut cluster = Cluster::formed(3, &["/q"]);
        cluster.run_for(offset * 100_000);
        let client = cluster.connect_for(0, 4);
        cluster.run_for(300_000);
        cluster.send(client, ClientMessage::Ping);
        cluster.run_for(2 * LATENCY);
        cluster.cut(client);
        let millis = expiry(&mut cluster);
        assert!((4_000..=7_010).contains(&millis), "{millis} ms");
        longest = longest.max(millis);
    }
    assert!(longest > 6_000, "{longest} ms");
}

#[test]
fn pings_keep_a_session_alive_through_any_server() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let clients = [cluster.connect_for(0, 4), cluster.connect_for(2, 4)];
    cluster.ping_for(&clients, 30);
    assert!(!expired(&cluster));
    assert!(cluster.connections[&clients[0]].open);
}

#[test]
fn timeouts_are_granted_between_two_and_twenty_ticks() {
    let mut cluster = Cluster::formed(3, &[]);
    for (asked, granted) in [(1, 4), (6, 6), (100, 40)] {
        let client = cluster.connect_for(0, asked);
        let inbox = cluster.inbox(client);
        assert!(matches!(
            inbox.as_slice(),
            [ServerMessage::Connected { timeout, .. }] if *timeout == granted * SECOND
        ));
    }
}

#[test]
fn a_close_deletes_every_ephemeral_in_one_transaction() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    let watcher = cluster.connect(1);
    for name in ["/q/b", "/q/a", "/q/c"] {
        cluster
            .ask(client, create(name, CreateMode::Ephemeral))
            .unwrap();
    }
    cluster.ask(watcher, get_children("/q", true)).unwrap();
    cluster.inbox(watcher);
    let before = cluster.server(0).tree().last_zxid();
    // One that is still on its way goes too, one that is being deleted is left out, one that comes later is refused.
    cluster.request(client, create("/q/d", CreateMode::Ephemeral));
    cluster.request(client, delete("/q/b"));
    cluster.send(client, ClientMessage::Close { xid: Xid(77) });
    let late = cluster.request(client, create("/q/late", CreateMode::Ephemeral));
    cluster.run_for(30 * LATENCY);
    let close = cluster.observer.committed.values().rev().nth(1).unwrap();
    assert_eq!(close.zxid, Zxid(before.0 + 3));
    let TxnChange::CloseSession { paths } = &close.change else {
        panic!("not a close: {close:?}");
    };
    assert_eq!(
        paths.iter().map(|path| &**path).collect::<Vec<_>>(),
        ["/q/a", "/q/c", "/q/d"]
    );
    for server in &cluster.servers {
        let stat = server.tree().stat("/q").unwrap();
        assert_eq!((stat.pzxid, stat.num_children), (close.zxid, 0));
    }
    assert_eq!(
        cluster.reply_to(client, Xid(77)),
        Some(Ok(Response::Closed))
    );
    assert_eq!(cluster.reply_to(client, late), None);
    assert!(!cluster.connections[&client].open);
    assert_eq!(cluster.events(watcher).len(), 1);
}

#[test]
fn a_marked_session_is_refused_before_its_nodes_are_gone() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    cluster
        .ask(client, create("/q/x", CreateMode::Ephemeral))
        .unwrap();
    cluster.cut(client);
    cluster.run_for(2 * LATENCY);
    // Nothing can be committed for a while.
    cluster.hold_acks();
    cluster.expire(client);
    let back = cluster.resume(client, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.inbox(back), [ServerMessage::Expired]);
    assert!(!cluster.connections[&back].open);
    assert!(cluster.server(2).tree().get("/q/x").is_some());
    cluster.heal(false);
    cluster.run_for(10 * LATENCY);
    assert!(cluster.server(2).tree().get("/q/x").is_none());
}

#[test]
fn an_expired_session_loses_its_connection() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    cluster.expire(client);
    cluster.run_for(10 * LATENCY);
    assert!(!cluster.connections[&client].open);
}

#[test]
fn a_wrong_password_closes_the_live_connection_and_spares_the_session() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    let session = cluster.connections[&client].session;
    let thief = cluster.open(
        0,
        ClientMessage::Connect {
            session,
            password: Password(1),
            timeout: 6 * SECOND,
            last_zxid: Zxid(0),
            read_only: false,
        },
    );
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.inbox(thief), [ServerMessage::Expired]);
    assert!(!cluster.connections[&client].open);
    assert!(cluster.server(2).keeps_alive(session));
}

#[test]
fn a_client_that_has_seen_more_than_a_server_is_turned_away() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(2);
    cluster.hold(2, 0);
    cluster.ask(client, set_data("/q", b"x")).unwrap();
    cluster.cut(client);
    let seen = cluster.server(2).tree().last_zxid();
    let back = cluster.resume(client, 0, seen);
    cluster.run_for(5 * LATENCY);
    assert_eq!(cluster.inbox(back), []);
    assert!(!cluster.connections[&back].open);
    let back = cluster.resume(client, 1, seen);
    cluster.run_for(5 * LATENCY);
    assert!(matches!(
        cluster.inbox(back).as_slice(),
        [ServerMessage::Connected { .. }]
    ));
}

#[test]
fn the_old_server_of_a_moved_session_reads_but_does_not_write() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let old = cluster.connect(0);
    cluster.run_for(10 * LATENCY);
    let new = cluster.resume(old, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    cluster.ask(old, get_data("/q", true)).unwrap();
    cluster.ask(new, set_data("/q", b"x")).unwrap();
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.events(old).len(), 1);
    // Without an operation there is nothing that would be checked.
    cluster.ask(old, multi(vec![])).unwrap();
    cluster.run_for(10 * LATENCY);
    let before = cluster.server(2).tree().last_zxid();
    let late = cluster.request(old, set_data("/q", b"y"));
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.reply_to(old, late), None);
    assert!(!cluster.connections[&old].open);
    let error = &cluster.observer.committed[&Zxid(before.0 + 1)].change;
    assert_eq!(*error, TxnChange::Error(ZkError::SessionMoved));
    cluster.ask(new, set_data("/q", b"z")).unwrap();
}

#[test]
fn a_reconnect_to_the_same_server_waits_for_the_pending_writes() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let old = cluster.connect(0);
    cluster.hold_acks();
    cluster.request(old, create("/q/x", CreateMode::Ephemeral));
    cluster.run_for(5 * LATENCY);
    cluster.cut(old);
    let new = cluster.resume(old, 0, Zxid(0));
    cluster.run_for(5 * LATENCY);
    let list = cluster.request(new, get_children("/q", false));
    cluster.run_for(5 * LATENCY);
    assert_eq!(cluster.reply_to(new, list), None);
    cluster.heal(false);
    cluster.run_for(5 * LATENCY);
    let reply = cluster.reply_to(new, list);
    assert!(matches!(reply, Some(Ok(Response::Children(names))) if names.names().len() == 1));
}

#[test]
fn a_reconnect_to_another_server_may_miss_its_own_create_unless_it_syncs() {
    for syncs in [false, true] {
        let mut cluster = Cluster::formed(5, &["/q"]);
        let old = cluster.connect(4);
        cluster.hold_acks();
        cluster.request(old, create("/q/guid-", CreateMode::EphemeralSequential));
        cluster.run_for(2 * LATENCY);
        cluster.cut(old);
        let new = cluster.resume(old, 0, Zxid(0));
        cluster.run_for(10 * LATENCY);
        if syncs {
            cluster.request(new, sync());
        }
        let list = cluster.request(new, get_children("/q", false));
        cluster.run_for(10 * LATENCY);
        if !syncs {
            cluster.request(new, create("/q/guid-", CreateMode::EphemeralSequential));
        }
        cluster.heal(false);
        cluster.run_for(20 * LATENCY);
        let Some(Ok(Response::Children(names))) = cluster.reply_to(new, list) else {
            panic!("the list was not read");
        };
        assert_eq!(names.names().len(), usize::from(syncs));
        let children = cluster.server(0).tree().children("/q").unwrap();
        assert_eq!(children.names().len(), if syncs { 1 } else { 2 });
    }
}

#[test]
fn a_silent_connection_is_closed_though_its_session_lives_on_elsewhere() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let old = cluster.connect_for(0, 6);
    cluster.run_for(10 * LATENCY);
    let new = cluster.resume(old, 1, Zxid(0));
    cluster.ping_for(&[new], 9);
    assert!(cluster.connections[&old].open);
    cluster.ping_for(&[new], 2);
    assert!(!cluster.connections[&old].open);
    assert!(cluster.connections[&new].open);
}

#[test]
fn a_new_session_never_reads_what_was_before_it() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let writer = cluster.connect(2);
    cluster.hold(2, 0);
    cluster
        .ask(writer, create("/q/x", CreateMode::Persistent))
        .unwrap();
    let new = cluster.connect(0);
    assert_eq!(cluster.inbox(new), []);
    cluster.heal(false);
    cluster.run_for(20 * LATENCY);
    cluster.ask(new, exists("/q/x", false)).unwrap();
}
