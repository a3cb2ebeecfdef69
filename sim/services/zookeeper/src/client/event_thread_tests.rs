//! Tests of what waits while a callback does not return, and of what goes on.

use picklock_clients::zookeeper::{EventType, Response, SessionState, ZkError, watch};

use super::test_harness::*;
use super::*;
use crate::client_profile::Library;
use crate::version::Version;

const SYNCED: Reply = Ok(Response::Synced);

/// A client of a library, connected, that watches the data of `/a`.
fn watching(library: Library) -> (ClientHarness, Watcher, picklock_clients::zookeeper::Watch) {
    let mut harness =
        ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3).of(library, Version::default()));
    assert_eq!(harness.start(), [connect(0)]);
    harness.accept(1);
    let (watcher, events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    (harness, watcher, events)
}

#[test]
fn while_a_callback_does_not_return_events_wait_and_are_told_in_order_afterwards() {
    let (mut harness, watcher, events) = watching(Library::Java);
    harness.client.block_events();
    harness.notify(1, EventType::NodeDataChanged, "/a");
    assert!(
        watches(&harness).is_empty(),
        "the watch has fired all the same"
    );
    harness.watch_session(watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert_eq!(harness.client.state(), SessionState::Connecting);
    assert!(told(&events).is_empty());
    harness.client.unblock_events();
    assert_eq!(told(&events), ["changed /a", "disconnected"]);
}

#[test]
fn a_waiting_call_is_answered_at_once_and_a_callback_in_turn() {
    let (mut harness, _watcher, events) = watching(Library::Java);
    harness.client.block_events();
    harness.notify(1, EventType::NodeDeleted, "/a");
    let mut background = harness.ask_in_background(sync());
    let (mut caller, _) = harness.ask(sync(), None);
    harness.reply(1, 2, SYNCED);
    harness.reply(1, 3, SYNCED);
    assert_eq!(answered(&mut caller), Some(SYNCED));
    assert_eq!(answered(&mut background), None);
    assert!(told(&events).is_empty());
    harness.client.unblock_events();
    assert_eq!(answered(&mut background), Some(SYNCED));
    assert_eq!(told(&events), ["deleted /a"]);
}

#[test]
fn that_a_request_in_the_background_has_failed_waits_too() {
    let (mut harness, _watcher, _events) = watching(Library::Java);
    harness.client.block_events();
    let mut background = harness.ask_in_background(sync());
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert_eq!(answered(&mut background), None);
    harness.client.unblock_events();
    assert_eq!(
        answered(&mut background),
        Some(Err(ZkError::ConnectionLoss))
    );
}

#[test]
fn pings_go_on() {
    let (mut harness, _watcher, _events) = watching(Library::Java);
    harness.client.block_events();
    let sent = harness.pass_until(3 * SECOND);
    let is_ping = |(_, output): &(u64, Output)| *output == send(1, ClientMessage::Ping);
    assert!(sent.iter().any(is_ping));
}

#[test]
fn kazoo_holds_up_watchers_of_nodes_and_nothing_else() {
    let (mut harness, _watcher, events) = watching(Library::Kazoo);
    let (listener, session) = watch();
    harness.watch_session(listener);
    harness.client.block_events();
    harness.notify(1, EventType::NodeDeleted, "/a");
    let mut background = harness.ask_in_background(sync());
    harness.reply(1, 2, SYNCED);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    assert_eq!(answered(&mut background), Some(SYNCED));
    assert_eq!(told(&session), ["disconnected"]);
    assert!(told(&events).is_empty());
    harness.client.unblock_events();
    assert_eq!(told(&events), ["deleted /a"]);
}

#[test]
fn a_rust_client_has_nothing_to_hold_up() {
    let (mut harness, _watcher, events) = watching(Library::Rust);
    harness.client.block_events();
    assert!(!harness.client.events_are_blocked());
    harness.notify(1, EventType::NodeDeleted, "/a");
    assert_eq!(told(&events), ["deleted /a"]);
}
