//! What comes before what: reads, writes, syncs, and what becomes of proposals.

use picklock_clients::zookeeper::{CreateMode, Op, Response, ZkError, Zxid};

use crate::messages::ServerMessage;
use crate::testing::*;
use crate::txn::TxnChange;

fn persistent(path: &str) -> picklock_clients::zookeeper::Request {
    create(path, CreateMode::Persistent)
}

/// D9.
#[test]
fn reads_may_be_stale_but_no_older_than_what_their_client_has_seen() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (writer, reader) = (cluster.connect(2), cluster.connect(0));
    cluster.hold(2, 0);
    cluster.ask(writer, persistent("/q/x")).unwrap();
    let stale = cluster.ask(reader, exists("/q/x", false));
    assert_eq!(stale, Err(ZkError::NoNode));
    // A client that has seen it is turned away there.
    let seen = cluster.server(2).tree().last_zxid();
    let moved = cluster.resume(writer, 0, seen);
    cluster.run_for(10 * LATENCY);
    assert!(!cluster.connections[&moved].open);
    // Nor is a new session told anything that is older than itself.
    let new = cluster.connect(0);
    assert_eq!(cluster.inbox(new), []);
    cluster.heal(false);
    cluster.run_for(20 * LATENCY);
    cluster.ask(new, exists("/q/x", false)).unwrap();
}

/// D10.
#[test]
fn a_sync_is_ordered_by_the_leader_and_asks_no_quorum() {
    let mut cluster = Cluster::formed(5, &["/q"]);
    let (at_leader, at_follower) = (cluster.connect(4), cluster.connect(3));
    for other in 0..3 {
        for mine in [3, 4] {
            cluster.hold(mine, other);
            cluster.hold(other, mine);
        }
    }
    // Two of five are left: nothing can be written, and both are told that they have caught up.
    assert_eq!(cluster.ask(at_leader, sync()), Ok(Response::Synced));
    assert_eq!(cluster.ask(at_follower, sync()), Ok(Response::Synced));
    let write = cluster.request(at_leader, set_data("/q", b"x"));
    // Behind what is proposed and cannot be committed, it waits; at the leader it is a read like any other.
    let behind = cluster.request(at_follower, sync());
    let read = cluster.connect(4);
    cluster.run_for(SECOND);
    assert_eq!(cluster.reply_to(at_leader, write), None);
    assert_eq!(cluster.reply_to(at_follower, behind), None);
    assert_eq!(cluster.inbox(read), []);
}

/// D11: the servers' half. That a client's every request fails: see the client's.
#[test]
fn a_write_whose_connection_is_lost_may_be_applied_after_the_reconnect() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let old = cluster.connect(2);
    cluster.hold_acks();
    cluster.request(old, persistent("/q/x"));
    cluster.run_for(2 * LATENCY);
    cluster.cut(old);
    let new = cluster.resume(old, 0, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert!(matches!(
        cluster.inbox(new).as_slice(),
        [ServerMessage::Connected { .. }]
    ));
    assert_eq!(
        cluster.ask(new, exists("/q/x", false)),
        Err(ZkError::NoNode)
    );
    cluster.heal(false);
    cluster.run_for(10 * LATENCY);
    cluster.ask(new, exists("/q/x", false)).unwrap();
}

/// D12.
#[test]
fn of_uncommitted_proposals_a_prefix_survives_as_the_new_quorum_has_it() {
    for logged in 0..=3 {
        let mut cluster = Cluster::formed(3, &["/q"]);
        let client = cluster.connect(2);
        cluster.run_for(10 * LATENCY);
        cluster.hold_acks();
        cluster.hold(2, 1);
        let paths = ["/q/a", "/q/b", "/q/c"];
        for (index, path) in paths.into_iter().enumerate() {
            if index == logged {
                cluster.hold(2, 0);
            }
            cluster.request(client, persistent(path));
            cluster.run_for(5 * LATENCY);
        }
        cluster.crash(2);
        cluster.heal(true);
        cluster.settle();
        let there = paths.map(|path| cluster.server(1).tree().get(path).is_some());
        let prefix = [0, 1, 2].map(|index| index < logged);
        assert_eq!(there, prefix, "of which {logged} were logged");
    }
}

/// D13.
#[test]
fn a_refused_write_has_its_place_in_the_order() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    let before = cluster.server(2).tree().last_zxid();
    cluster.ask(client, persistent("/q")).unwrap_err();
    let refused = &cluster.observer.committed[&Zxid(before.0 + 1)].change;
    assert_eq!(*refused, TxnChange::Error(ZkError::NodeExists));
    // It needs a quorum, too.
    cluster.hold_acks();
    let unanswered = cluster.request(client, persistent("/q"));
    cluster.run_for(20 * LATENCY);
    assert_eq!(cluster.reply_to(client, unanswered), None);
}

/// D14.
#[test]
fn a_read_waits_for_the_writes_of_its_own_session_alone() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (writer, other) = (cluster.connect(0), cluster.connect(0));
    cluster.hold_acks();
    cluster.request(writer, set_data("/q", b"x"));
    let (own, others) = (
        cluster.request(writer, get_data("/q", false)),
        cluster.request(other, get_data("/q", false)),
    );
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.reply_to(writer, own), None);
    assert!(cluster.reply_to(other, others).is_some());
}

/// D22.
#[test]
fn one_client_can_have_two_nodes_unless_it_syncs_before_it_looks() {
    for syncs in [false, true] {
        let mut cluster = Cluster::formed(5, &["/q"]);
        let old = cluster.connect(4);
        let session = cluster.connections[&old].session;
        cluster.hold_acks();
        let protected = || create("/q/guid-", CreateMode::EphemeralSequential);
        cluster.request(old, protected());
        cluster.run_for(2 * LATENCY);
        cluster.cut(old);
        let new = cluster.resume(old, 0, Zxid(0));
        cluster.run_for(10 * LATENCY);
        if syncs {
            cluster.request(new, sync());
        }
        let list = cluster.request(new, get_children("/q", false));
        cluster.run_for(10 * LATENCY);
        if let Some(Ok(Response::Children(found))) = cluster.reply_to(new, list) {
            assert!(found.is_empty());
            cluster.request(new, protected());
        }
        cluster.heal(false);
        cluster.run_for(20 * LATENCY);
        let mine = cluster.server(0).tree().ephemerals(session).len();
        assert_eq!(mine, if syncs { 1 } else { 2 });
    }
}

/// D33.
#[test]
fn a_multi_is_one_transaction_with_several_events() {
    let mut cluster = Cluster::formed(3, &["/q", "/q/a", "/q/b"]);
    let client = cluster.connect(0);
    for node in ["/q/a", "/q/b"] {
        cluster.ask(client, get_data(node, true)).unwrap();
    }
    cluster.inbox(client);
    let before = cluster.server(0).tree().last_zxid();
    let parts = ["/q/a", "/q/b"].map(|path| Op::Delete {
        path: path.into(),
        version: None,
    });
    cluster.ask(client, multi(parts.into())).unwrap();
    assert_eq!(cluster.events(client).len(), 2);
    let after = cluster.server(0).tree().last_zxid();
    assert_eq!(after, Zxid(before.0 + 1));
}
