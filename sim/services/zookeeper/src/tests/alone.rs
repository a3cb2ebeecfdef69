//! A server that is alone, and what is in its log.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{CreateMode, Zxid};

use super::super::log::WINDOW_ALONE;
use super::super::messages::ConnectionId;
use super::super::state::QuorumPeerConfig;
use super::super::testing::*;

/// How many writes come at one moment.
const AT_ONCE: usize = 40;

/// A lone server to which a client has made nodes one by one, more than the log keeps, and then asks for others
/// at once. They have come.
fn asked_for(more: usize) -> (Cluster, ConnectionId) {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect_for(0, 40);
    let request = || create("/q/n-", CreateMode::PersistentSequential);
    for _ in 0..WINDOW_ALONE + 10 {
        cluster.ask(client, request()).unwrap();
    }
    for _ in 0..more {
        cluster.request(client, request());
    }
    cluster.run_for(LATENCY);
    (cluster, client)
}

/// The same, after a crash and a start so many microseconds after all have come.
fn crashed_after(micros: u64) -> (Cluster, ConnectionId) {
    let (mut cluster, client) = asked_for(AT_ONCE);
    cluster.run_for(micros.saturating_sub(1));
    // Whatever is to be done at this very moment is not done any more.
    let moment = Duration::from_micros(micros.min(1));
    cluster.network.skip_to(cluster.network.now() + moment);
    cluster.crash(0);
    cluster.restart(0);
    (cluster, client)
}

#[test]
fn a_lone_server_starts_with_what_was_durable_however_short_its_log() {
    // The first write is flushed alone, and all that came meanwhile after it.
    let durable = [
        (0, 0),
        (499, 0),
        (500, 1),
        (999, 1),
        (1_000, AT_ONCE),
        (2_000, AT_ONCE),
    ];
    for (micros, kept) in durable {
        let (mut crashed, client) = crashed_after(micros);
        let (mut whole, _) = asked_for(kept);
        whole.run_for(SECOND / 2);
        assert_eq!(
            crashed.server(0).last_logged(),
            whole.server(0).last_logged()
        );
        crashed.settle();
        assert_eq!(
            crashed.server(0).last_applied(),
            whole.server(0).last_applied()
        );
        assert_eq!(crashed.server(0).tree(), whole.server(0).tree(), "{micros}");
        // It goes on where it was.
        let client = crashed.resume(client, 0, Zxid(0));
        crashed.run_for(10 * LATENCY);
        let made = made(crashed.ask(client, create("/q/n-", CreateMode::PersistentSequential)));
        assert_eq!(made, format!("/q/n-{:010}", WINDOW_ALONE + 10 + kept));
    }
}

#[test]
fn the_log_of_a_lone_server_is_short() {
    let (mut cluster, _) = asked_for(AT_ONCE);
    cluster.run_for(SECOND);
    assert_eq!(cluster.server(0).logged().count(), WINDOW_ALONE);
}

#[test]
fn one_with_an_observer_keeps_what_the_observer_lacks() {
    let settings = QuorumPeerConfig {
        observers: 1,
        ..(*settings(1)).clone()
    };
    let mut cluster = Cluster::of(Rc::new(settings), &["/q"]);
    let client = cluster.connect_for(0, 40);
    let request = || create("/q/n-", CreateMode::PersistentSequential);
    cluster.ask(client, request()).unwrap();
    cluster.run_for(10 * LATENCY);
    let first = cluster.server(1).logged().next().cloned();
    cluster.crash(1);
    for _ in 0..10 * WINDOW_ALONE {
        cluster.request(client, request());
    }
    cluster.run_for(SECOND);
    cluster.restart(1);
    cluster.run_for(2 * SECOND);
    assert!(cluster.server(1).is_serving());
    assert_eq!(cluster.server(1).tree(), cluster.server(0).tree());
    // A snapshot would have taken the place of its log.
    assert!(first.is_some());
    assert_eq!(cluster.server(1).logged().next().cloned(), first);
}
