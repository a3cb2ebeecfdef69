//! Leaders that come and go, and what becomes of proposals.

use picklock_clients::zookeeper::{CreateMode, Response, Zxid};

use super::super::messages::ServerMessage;
use super::super::state::{Input, Output};
use super::super::testing::*;

#[test]
fn when_the_leader_dies_another_leads_within_a_second_and_goes_on() {
    for servers in [3, 5] {
        let mut cluster = Cluster::formed(servers, &["/q"]);
        let client = cluster.connect(0);
        cluster
            .ask(client, create("/q/x", CreateMode::Ephemeral))
            .unwrap();
        cluster.run_for(10 * LATENCY);
        cluster.crash(servers - 1);
        assert!(!cluster.server(0).is_serving());
        cluster.run_for(LATENCY);
        assert!(!cluster.connections[&client].open);
        cluster.run_for(SECOND);
        assert_eq!(cluster.leader().unwrap().0, servers - 2);
        let back = cluster.resume(client, 0, Zxid(0));
        cluster.run_for(10 * LATENCY);
        let request = create("/q/n-", CreateMode::EphemeralSequential);
        assert_eq!(made(cluster.ask(back, request)), "/q/n-0000000001");
        let zxid = cluster.server(0).tree().last_zxid();
        assert_eq!((zxid.epoch(), zxid.counter()), (2, 1));
        cluster.restart(servers - 1);
        cluster.run_for(SECOND);
        for server in &cluster.servers {
            assert_eq!(server.tree(), cluster.server(0).tree());
        }
    }
}

#[test]
fn a_server_that_comes_back_hears_the_vote_of_one_that_has_looked_for_long() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    for server in [2, 1, 0] {
        cluster.crash(server);
    }
    cluster.restart(1);
    // It repeats its vote a minute later at most; the connection brings it at once.
    cluster.run_for(30 * SECOND);
    cluster.restart(0);
    cluster.run_for(SECOND);
    assert_eq!(cluster.leader().unwrap().0, 1);
}

#[test]
fn a_server_settled_in_this_round_counts_for_a_quorum() {
    let mut cluster = Cluster::formed(5, &["/q"]);
    // The first server does not hear that the second votes for the third, before that one leads.
    cluster.hold(1, 0);
    cluster.crash(4);
    cluster.crash(3);
    cluster.run_for(SECOND / 2);
    cluster.heal(true);
    cluster.run_for(SECOND);
    assert_eq!(cluster.leader().unwrap().0, 2);
}

#[test]
fn the_epoch_of_a_new_leader_is_known_to_its_own_clients_only() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(1);
    cluster.crash(2);
    cluster.run_for(SECOND);
    assert_eq!(cluster.leader().unwrap().0, 1);
    let at_leader = cluster.resume(client, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    cluster.ask(at_leader, exists("/q", false)).unwrap();
    let seen = cluster.inbox(at_leader).pop();
    let Some(ServerMessage::Reply { zxid, .. }) = seen else {
        panic!("no reply: {seen:?}");
    };
    assert_eq!(zxid, Zxid::new(2, 0));
    // A follower has not, until there is a transaction.
    let refused = cluster.resume(at_leader, 0, zxid);
    cluster.run_for(10 * LATENCY);
    assert!(!cluster.connections[&refused].open);
    let other = cluster.connect(0);
    assert!(cluster.connections[&other].open);
    let moved = cluster.resume(at_leader, 0, zxid);
    cluster.run_for(10 * LATENCY);
    assert!(cluster.connections[&moved].open);
}

#[test]
fn a_new_leader_gives_every_session_its_full_timeout() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect_for(0, 4);
    cluster
        .ask(client, create("/q/x", CreateMode::Ephemeral))
        .unwrap();
    cluster.cut(client);
    cluster.run_for(3 * SECOND);
    cluster.crash(2);
    cluster.run_for(4 * SECOND);
    assert!(cluster.server(0).tree().get("/q/x").is_some());
    cluster.run_for(3 * SECOND);
    assert!(cluster.server(0).tree().get("/q/x").is_none());
}

#[test]
fn without_a_leader_no_session_expires() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect_for(0, 4);
    cluster
        .ask(client, create("/q/x", CreateMode::Ephemeral))
        .unwrap();
    cluster.run_for(10 * LATENCY);
    cluster.crash(2);
    cluster.crash(1);
    cluster.run_for(100 * SECOND);
    assert!(cluster.server(0).tree().get("/q/x").is_some());
    cluster.restart(1);
    cluster.run_for(3 * SECOND);
    assert!(cluster.server(0).tree().get("/q/x").is_some());
    cluster.run_for(5 * SECOND);
    assert!(cluster.server(0).tree().get("/q/x").is_none());
}

/// A create that the leader has proposed and one follower has logged, when the leader dies.
fn half_logged(acks_held: bool, survivor_has_it: bool) -> Cluster {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(2);
    cluster.run_for(10 * LATENCY);
    if acks_held {
        cluster.hold_acks();
    }
    cluster.hold(2, 1);
    if !survivor_has_it {
        cluster.hold(2, 0);
    }
    cluster.request(client, create("/q/x", CreateMode::Persistent));
    cluster.run_for(5 * LATENCY);
    assert!(cluster.server(2).tree().get("/q/x").is_none());
    cluster.crash(2);
    cluster.heal(true);
    cluster
}

#[test]
fn a_proposal_that_a_survivor_has_logged_is_kept() {
    let mut cluster = half_logged(true, true);
    cluster.settle();
    // The survivor that has logged more leads, though its id is lower.
    assert_eq!(cluster.leader().unwrap().0, 0);
    assert!(cluster.server(1).tree().get("/q/x").is_some());
    assert!(
        cluster
            .observer
            .committed
            .values()
            .any(|txn| txn.zxid == Zxid::new(1, 2))
    );
}

#[test]
fn a_proposal_that_only_the_dead_leader_has_is_dropped_and_truncated() {
    let mut cluster = half_logged(true, false);
    cluster.settle();
    assert!(cluster.server(0).tree().get("/q/x").is_none());
    let lost = cluster.server(2).last_logged();
    assert_eq!(lost, Zxid::new(1, 2));
    let client = cluster.connect(0);
    cluster
        .ask(client, create("/q/y", CreateMode::Persistent))
        .unwrap();
    cluster.restart(2);
    cluster.settle();
    cluster.run_for(SECOND);
    assert!(cluster.server(2).logged().all(|txn| txn.zxid != lost));
    assert_eq!(cluster.server(2).tree(), cluster.server(0).tree());
}

#[test]
fn a_write_that_was_not_flushed_dies_with_its_server() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster.request(client, create("/q/x", CreateMode::Persistent));
    cluster.run_for(LATENCY + 499);
    cluster.crash(0);
    cluster.restart(0);
    assert!(cluster.server(0).tree().get("/q/x").is_none());
    let client = cluster.connect(0);
    cluster.request(client, create("/q/x", CreateMode::Persistent));
    cluster.run_for(LATENCY + 501);
    cluster.crash(0);
    cluster.restart(0);
    assert!(cluster.server(0).tree().get("/q/x").is_some());
}

#[test]
fn a_follower_that_is_cut_off_serves_stale_reads_until_the_sync_limit() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let reader = cluster.connect_for(0, 40);
    let writer = cluster.connect_for(1, 40);
    cluster.isolate(0);
    cluster
        .ask(writer, create("/q/x", CreateMode::Persistent))
        .unwrap();
    cluster.run_for(5 * SECOND);
    assert!(cluster.ask(reader, exists("/q/x", false)).is_err());
    // A sync is not answered, nor what comes after it, until the cut heals.
    let synced = cluster.request(reader, sync());
    let read = cluster.request(reader, exists("/q/x", false));
    cluster.run_for(SECOND);
    assert_eq!(cluster.reply_to(reader, synced), None);
    cluster.heal(false);
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.reply_to(reader, synced), Some(Ok(Response::Synced)));
    assert!(matches!(cluster.reply_to(reader, read), Some(Ok(_))));
    cluster.isolate(0);
    cluster.run_for(9 * SECOND);
    assert!(cluster.server(0).is_serving());
    cluster.run_for(2 * SECOND);
    assert!(!cluster.server(0).is_serving());
    assert!(!cluster.connections[&reader].open);
    cluster.heal(true);
    cluster.settle();
    assert_eq!(cluster.server(0).tree(), cluster.server(2).tree());
}

#[test]
fn a_leader_that_is_cut_off_steps_down_and_comes_back_as_a_follower() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let lonely = cluster.connect_for(2, 40);
    cluster.isolate(2);
    let lost = cluster.request(lonely, create("/q/lost", CreateMode::Persistent));
    // It does not know yet: it still reads.
    cluster.run_for(8 * SECOND);
    assert!(cluster.server(2).is_leader());
    cluster.run_for(6 * SECOND);
    assert!(!cluster.server(2).is_serving());
    assert_eq!(cluster.reply_to(lonely, lost), None);
    assert_eq!(cluster.leader().unwrap().0, 1);
    let client = cluster.connect(0);
    cluster
        .ask(client, create("/q/kept", CreateMode::Persistent))
        .unwrap();
    cluster.heal(true);
    cluster.settle();
    cluster.run_for(SECOND);
    let tree = cluster.server(2).tree();
    assert!(tree.get("/q/lost").is_none() && tree.get("/q/kept").is_some());
    assert_eq!(tree, cluster.server(0).tree());
}

#[test]
fn a_server_that_was_away_for_long_gets_a_snapshot() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(2);
    cluster.crash(0);
    for _ in 0..700 {
        cluster.request(client, create("/q/n-", CreateMode::PersistentSequential));
    }
    cluster.run_for(SECOND);
    cluster.restart(0);
    cluster.settle();
    cluster.run_for(SECOND);
    assert_eq!(cluster.server(0).tree(), cluster.server(2).tree());
    assert_eq!(
        cluster.server(0).tree().stat("/q").unwrap().num_children,
        700
    );
}

#[test]
fn a_lost_message_between_servers_breaks_their_connection() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(2);
    cluster.hold(2, 0);
    cluster
        .ask(client, create("/q/x", CreateMode::Persistent))
        .unwrap();
    cluster.heal(true);
    cluster
        .ask(client, create("/q/y", CreateMode::Persistent))
        .unwrap();
    cluster.run_for(2 * LATENCY);
    assert!(!cluster.server(0).is_serving());
    cluster.settle();
    cluster.run_for(SECOND);
    assert_eq!(cluster.server(0).tree(), cluster.server(2).tree());
}

#[test]
fn a_leader_that_was_paused_expires_sessions_before_it_reads_their_pings() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect_for(0, 4);
    let late = super::super::state::later(cluster.network.now(), 20 * SECOND);
    let input = Input::Client {
        connection: client,
        message: super::super::messages::ClientMessage::Ping,
    };
    let mut out = Vec::new();
    let chance = &mut picklock_machines::Boring;
    cluster.servers[0].handle(late, input, chance, &mut out);
    assert!(matches!(out[0], Output::SessionExpired { .. }));
}

#[test]
fn a_whole_ensemble_comes_back_with_what_was_committed() {
    let mut cluster = Cluster::formed(5, &["/q"]);
    let client = cluster.connect(0);
    cluster
        .ask(client, create("/q/x", CreateMode::Persistent))
        .unwrap();
    for id in 0..5 {
        cluster.crash(id);
    }
    cluster.run_for(SECOND);
    for id in 0..5 {
        cluster.restart(id);
    }
    cluster.settle();
    cluster.run_for(SECOND);
    for server in &cluster.servers {
        assert!(server.tree().get("/q/x").is_some());
        assert_eq!(server.tree(), cluster.server(0).tree());
    }
}
