//! Sessions, leaders, and servers that are cut off from each other.

use picklock_clients::zookeeper::{CreateMode, Response, Zxid};
use picklock_machines::Chance;

use crate::messages::{ClientMessage, ConnectionId, ServerMessage, Xid};
use crate::state::Output;
use crate::testing::*;
use crate::txn::TxnChange;

/// A session of four seconds with the node `/q/x`.
fn with_node(cluster: &mut Cluster, server: u8) -> ConnectionId {
    let client = cluster.connect_for(server, 4);
    let node = create("/q/x", CreateMode::Ephemeral);
    cluster.ask(client, node).unwrap();
    cluster.run_for(10 * LATENCY);
    client
}

fn is_there(cluster: &Cluster, server: u8) -> bool {
    cluster.server(server).tree().get("/q/x").is_some()
}

/// D1.
#[test]
fn a_disconnect_is_no_expiry() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = with_node(&mut cluster, 0);
    cluster.cut(client);
    cluster.run_for(3 * SECOND);
    assert!(is_there(&cluster, 2));
    let back = cluster.resume(client, 1, Zxid(0));
    cluster.ping_for(&[back], 20);
    assert!(is_there(&cluster, 2));
}

/// D3.
#[test]
fn sessions_live_without_a_leader_and_start_over_with_a_new_one() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = with_node(&mut cluster, 0);
    cluster.cut(client);
    cluster.run_for(SECOND);
    cluster.crash(2);
    cluster.crash(1);
    cluster.run_for(60 * SECOND);
    assert!(is_there(&cluster, 0));
    cluster.restart(1);
    while cluster.leader().is_none() {
        cluster.run_for(LATENCY);
    }
    cluster.run_for(4 * SECOND - 2 * LATENCY);
    assert!(is_there(&cluster, 0));
    cluster.run_for(2 * SECOND + 10 * LATENCY);
    assert!(!is_there(&cluster, 0));
}

/// D4.
#[test]
fn the_end_of_a_session_is_one_transaction_that_nothing_of_it_outlives() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = with_node(&mut cluster, 0);
    let before = cluster.server(2).tree().last_zxid();
    cluster.request(client, create("/q/on-its-way", CreateMode::Ephemeral));
    cluster.send(client, ClientMessage::Close { xid: Xid(77) });
    cluster.request(client, create("/q/late", CreateMode::Ephemeral));
    cluster.run_for(20 * LATENCY);
    let ends = cluster
        .observer
        .committed
        .range(Zxid(before.0 + 1)..)
        .map(|(_, txn)| &txn.change);
    let closed: Vec<usize> = ends
        .filter_map(|change| match change {
            TxnChange::CloseSession { paths } => Some(paths.len()),
            _ => None,
        })
        .collect();
    assert_eq!(closed, [2]);
    assert!(cluster.server(0).tree().children("/q").unwrap().is_empty());
}

/// D5. That a client may declare its session expired long before a server does: see the client's.
#[test]
fn a_session_that_is_marked_is_refused_while_its_nodes_are_there() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = with_node(&mut cluster, 0);
    cluster.cut(client);
    cluster.hold_acks();
    cluster.expire(client);
    let back = cluster.resume(client, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.inbox(back), [ServerMessage::Expired]);
    assert!(is_there(&cluster, 2));
}

/// D6.
#[test]
fn an_isolated_follower_answers_reads_and_pings_until_the_sync_limit() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = with_node(&mut cluster, 0);
    cluster.isolate(0);
    cluster.ping_for(&[client], 9);
    // The majority has long expired it.
    assert!(!is_there(&cluster, 2));
    cluster.inbox(client);
    let own = cluster.ask(client, exists("/q/x", false));
    assert!(matches!(own, Ok(Response::Exists(_))));
    cluster.send(client, ClientMessage::Ping);
    cluster.run_for(2 * LATENCY);
    assert_eq!(cluster.inbox(client).last(), Some(&ServerMessage::Pong));
    cluster.run_for(2 * SECOND);
    assert!(!cluster.connections[&client].open);
}

/// D7.
#[test]
fn pings_queue_behind_the_writes_of_their_session() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (writer, idle) = (cluster.connect(0), cluster.connect(0));
    cluster.isolate(0);
    cluster.request(writer, set_data("/q", b"x"));
    cluster.inbox(writer);
    cluster.inbox(idle);
    cluster.ping_for(&[writer, idle], 3);
    assert!(cluster.inbox(writer).is_empty());
    assert_eq!(cluster.inbox(idle), [const { ServerMessage::Pong }; 3]);
}

/// D23.
#[test]
fn the_late_requests_of_a_session_that_has_moved_are_refused() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let old = cluster.connect(0);
    let new = cluster.resume(old, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    let late = cluster.request(old, set_data("/q", b"late"));
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.reply_to(old, late), None);
    assert!(!cluster.connections[&old].open);
    assert!(
        cluster
            .server(2)
            .tree()
            .get("/q")
            .unwrap()
            .data()
            .is_empty()
    );
    // A second handle with the same session takes it from the first, at the same server too, and is robbed in turn.
    let thief = cluster.resume(new, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert!(!cluster.connections[&new].open);
    let back = cluster.resume(thief, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert!(!cluster.connections[&thief].open);
    cluster.ask(back, set_data("/q", b"x")).unwrap();
}

/// D24. How long a client sleeps, and how long it tries: see the client's.
#[test]
fn servers_refuse_connections_while_they_look_for_a_leader() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = with_node(&mut cluster, 0);
    cluster.crash(2);
    cluster.run_for(2 * LATENCY);
    assert!(!cluster.connections[&client].open);
    let refused = [0, 1].map(|server| cluster.resume(client, server, Zxid(0)));
    cluster.run_for(10 * LATENCY);
    for refused in refused {
        assert!(!cluster.connections[&refused].open);
    }
    cluster.run_for(180_000);
    assert!(
        cluster.leader().is_none(),
        "an agreement must stand for 200 ms"
    );
    cluster.run_for(SECOND);
    let back = cluster.resume(client, 0, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert!(cluster.connections[&back].open);
}

/// Takes the last of the choices each time, or the first.
struct Stubborn(bool);

impl Chance for Stubborn {
    fn choose(&mut self, options: u32) -> u32 {
        if self.0 { options - 1 } else { 0 }
    }
}

/// D32.
#[test]
fn sessions_of_one_bucket_expire_in_any_order() {
    let order = |last| {
        let mut cluster = Cluster::formed(1, &["/q"]);
        cluster.chance = Box::new(Stubborn(last));
        let clients = [cluster.connect_for(0, 4), cluster.connect_for(0, 4)];
        cluster.run_for(10 * SECOND);
        let expired = cluster
            .observer
            .said
            .iter()
            .filter_map(|(_, said)| match said {
                Output::SessionExpired { session } => Some(*session),
                _ => None,
            });
        let sessions = clients.map(|client| cluster.connections[&client].session);
        expired
            .map(|session| sessions.iter().position(|known| *known == session))
            .collect::<Vec<_>>()
    };
    let (one, other) = (order(false), order(true));
    assert_eq!(one.len(), 2);
    assert_eq!(one.into_iter().rev().collect::<Vec<_>>(), other);
}
