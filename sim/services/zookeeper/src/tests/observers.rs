//! Servers that follow and do not vote.

use std::rc::Rc;

use picklock_clients::zookeeper::{CreateMode, Response, Zxid};

use super::super::messages::ClientMessage;
use super::super::state::QuorumPeerConfig;
use super::super::testing::*;

/// Three servers that vote, and so many that do not.
fn observed(observers: u8) -> Cluster {
    let settings = QuorumPeerConfig {
        observers,
        ..(*settings(3)).clone()
    };
    Cluster::of(Rc::new(settings), &["/q"])
}

#[test]
fn an_observer_serves_reads_and_passes_writes_on() {
    let mut cluster = observed(1);
    let client = cluster.connect(3);
    let elsewhere = cluster.connect(0);
    let request = create("/q/n-", CreateMode::EphemeralSequential);
    assert_eq!(made(cluster.ask(client, request)), "/q/n-0000000000");
    assert!(cluster.ask(client, exists("/q/n-0000000000", true)).is_ok());
    cluster.ask(elsewhere, delete("/q/n-0000000000")).unwrap();
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.events(client).len(), 1);
    assert_eq!(cluster.server(3).tree(), cluster.server(2).tree());
    // What it receives is on its disk, and it sends no acknowledgement.
    assert_eq!(
        cluster.server(3).last_logged(),
        cluster.server(2).last_logged()
    );
}

#[test]
fn an_observer_hears_of_nothing_before_it_is_committed() {
    let mut cluster = observed(1);
    let client = cluster.connect(2);
    cluster.hold(0, 2);
    cluster.hold(1, 2);
    let before = cluster.server(3).last_logged();
    let lost = cluster.request(client, create("/q/x", CreateMode::Persistent));
    cluster.run_for(SECOND);
    assert_eq!(cluster.reply_to(client, lost), None);
    assert!(
        cluster.server(1).last_logged() > before,
        "voters log what is proposed"
    );
    assert_eq!(cluster.server(3).last_logged(), before);
    // One that comes back meanwhile is not told either.
    cluster.crash(3);
    cluster.restart(3);
    cluster.run_for(2 * SECOND);
    assert!(cluster.server(3).is_serving());
    assert_eq!(cluster.server(3).last_logged(), before);
    cluster.heal(false);
    cluster.run_for(10 * LATENCY);
    assert!(matches!(cluster.reply_to(client, lost), Some(Ok(_))));
    assert_eq!(cluster.server(3).tree(), cluster.server(2).tree());
}

#[test]
fn observers_are_no_quorum_and_elect_no_leader() {
    let mut cluster = observed(3);
    let client = cluster.connect_for(3, 40);
    cluster.crash(0);
    cluster.crash(1);
    let lost = cluster.request(client, create("/q/x", CreateMode::Persistent));
    // Four of six run, and it is of no use.
    cluster.run_for(15 * SECOND);
    assert_eq!(cluster.reply_to(client, lost), None);
    assert_eq!(cluster.leader(), None);
    assert!(cluster.servers.iter().all(|server| !server.is_serving()));
    cluster.restart(0);
    cluster.settle();
    assert_eq!(cluster.leader().map(|leader| leader.0), Some(2));
    assert!((3..6).all(|id| cluster.server(id).is_serving()));
}

#[test]
fn no_vote_of_an_observer_is_needed_for_a_write_or_a_leader() {
    let mut cluster = observed(2);
    let client = cluster.connect(0);
    cluster.isolate(3);
    cluster.isolate(4);
    cluster
        .ask(client, create("/q/x", CreateMode::Persistent))
        .unwrap();
    cluster.crash(2);
    cluster.run_for(SECOND);
    assert_eq!(cluster.leader().map(|leader| leader.0), Some(1));
}

#[test]
fn an_observer_finds_the_next_leader_and_its_clients_keep_their_sessions() {
    let mut cluster = observed(1);
    let client = cluster.connect_for(3, 20);
    cluster
        .ask(client, create("/q/mine", CreateMode::Ephemeral))
        .unwrap();
    cluster.crash(2);
    cluster.run_for(LATENCY * 2);
    assert!(!cluster.server(3).is_serving());
    cluster.run_for(2 * SECOND);
    assert_eq!(cluster.leader().map(|leader| leader.0), Some(1));
    assert!(cluster.server(3).is_serving());
    let back = cluster.resume(client, 3, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert!(cluster.ask(back, exists("/q/mine", false)).is_ok());
}

#[test]
fn an_isolated_observer_shows_what_was_until_it_gives_up_on_the_leader() {
    let mut cluster = observed(1);
    let reader = cluster.connect_for(3, 40);
    let writer = cluster.connect_for(0, 40);
    cluster.isolate(3);
    cluster
        .ask(writer, create("/q/x", CreateMode::Persistent))
        .unwrap();
    assert!(cluster.ask(reader, exists("/q/x", false)).is_err());
    let synced = cluster.request(reader, sync());
    cluster.run_for(8 * SECOND);
    assert_eq!(cluster.reply_to(reader, synced), None);
    assert!(cluster.server(3).is_serving());
    cluster.run_for(3 * SECOND);
    assert!(!cluster.server(3).is_serving());
    // The others have not noticed.
    assert_eq!(cluster.leader().map(|leader| leader.0), Some(2));
    assert!(cluster.server(0).is_serving());
    cluster.heal(true);
    cluster.settle();
    assert_eq!(cluster.server(3).tree(), cluster.server(2).tree());
}

#[test]
fn sync_at_an_observer_shows_what_was_committed_before() {
    let mut cluster = observed(1);
    let reader = cluster.connect(3);
    let writer = cluster.connect(2);
    cluster.hold(2, 3);
    cluster
        .ask(writer, create("/q/x", CreateMode::Persistent))
        .unwrap();
    assert!(cluster.ask(reader, exists("/q/x", false)).is_err());
    let synced = cluster.request(reader, sync());
    let read = cluster.request(reader, exists("/q/x", false));
    cluster.heal(false);
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.reply_to(reader, synced), Some(Ok(Response::Synced)));
    assert!(matches!(cluster.reply_to(reader, read), Some(Ok(_))));
}

#[test]
fn a_session_at_an_observer_lives_by_its_pings_and_dies_without_them() {
    let mut cluster = observed(1);
    let client = cluster.connect_for(3, 4);
    cluster
        .ask(client, create("/q/mine", CreateMode::Ephemeral))
        .unwrap();
    cluster.ping_for(&[client], 12);
    let there = |cluster: &Cluster| cluster.server(2).tree().get("/q/mine").is_some();
    assert!(there(&cluster));
    cluster.send(client, ClientMessage::Ping);
    let last = cluster.network.now().micros();
    cluster.run_until(last + 4 * SECOND);
    assert!(there(&cluster), "not before the timeout is over");
    // One tick, half a tick until the leader asks who is alive, and the messages.
    cluster.run_until(last + 7 * SECOND + 10 * LATENCY);
    assert!(!there(&cluster));
}

#[test]
fn an_observer_that_was_away_for_long_gets_a_snapshot() {
    let mut cluster = observed(1);
    let client = cluster.connect(2);
    cluster.crash(3);
    for _ in 0..700 {
        cluster.request(client, create("/q/n-", CreateMode::PersistentSequential));
    }
    cluster.run_for(SECOND);
    cluster.restart(3);
    cluster.run_for(2 * SECOND);
    assert!(cluster.server(3).is_serving());
    assert_eq!(cluster.server(3).tree(), cluster.server(2).tree());
}
