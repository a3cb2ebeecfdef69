//! Tests of what waits while a callback does not return, and of what goes on.

use picklock_clients::zookeeper::{EventType, Response, SessionState, ZkError, watch};

use super::test_harness::*;
use super::*;
use crate::client_profile::Library;
use crate::version::Version;

const SYNCED: Reply = Ok(Response::Synced);

/// A client of a library, connected, that watches the data of `/a`.
fn watching(library: Library) -> (Desk, Watcher, picklock_clients::zookeeper::Watch) {
    let mut desk =
        Desk::new(ZooKeeperClientConfig::new(TIMEOUT, 3).of(library, Version::default()));
    assert_eq!(desk.start(), [connect(0)]);
    desk.accept(1);
    let (watcher, events) = watch();
    desk.watch(1, get_data("/a"), data(), &watcher);
    (desk, watcher, events)
}

#[test]
fn while_a_callback_does_not_return_events_wait_and_are_told_in_order_afterwards() {
    let (mut desk, watcher, events) = watching(Library::Java);
    desk.client.block_events();
    desk.notify(1, EventType::NodeDataChanged, "/a");
    assert!(
        watches(&desk).is_empty(),
        "the watch has fired all the same"
    );
    desk.watch_session(watcher);
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    assert_eq!(desk.client.state(), SessionState::Connecting);
    assert!(told(&events).is_empty());
    desk.client.unblock_events();
    assert_eq!(told(&events), ["changed /a", "disconnected"]);
}

#[test]
fn who_calls_and_waits_is_answered_at_once_and_a_callback_in_its_turn() {
    let (mut desk, _watcher, events) = watching(Library::Java);
    desk.client.block_events();
    desk.notify(1, EventType::NodeDeleted, "/a");
    let mut background = desk.ask_in_background(sync());
    let (mut caller, _) = desk.ask(sync(), None);
    desk.reply(1, 2, SYNCED);
    desk.reply(1, 3, SYNCED);
    assert_eq!(answered(&mut caller), Some(SYNCED));
    assert_eq!(answered(&mut background), None);
    assert!(told(&events).is_empty());
    desk.client.unblock_events();
    assert_eq!(answered(&mut background), Some(SYNCED));
    assert_eq!(told(&events), ["deleted /a"]);
}

#[test]
fn that_a_request_in_the_background_has_failed_waits_too() {
    let (mut desk, _watcher, _events) = watching(Library::Java);
    desk.client.block_events();
    let mut background = desk.ask_in_background(sync());
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    assert_eq!(answered(&mut background), None);
    desk.client.unblock_events();
    assert_eq!(
        answered(&mut background),
        Some(Err(ZkError::ConnectionLoss))
    );
}

#[test]
fn pings_go_on() {
    let (mut desk, _watcher, _events) = watching(Library::Java);
    desk.client.block_events();
    let sent = desk.pass_until(3 * SECOND);
    let is_ping = |(_, output): &(u64, Output)| *output == send(1, ClientMessage::Ping);
    assert!(sent.iter().any(is_ping));
}

#[test]
fn kazoo_holds_up_watchers_of_nodes_and_nothing_else() {
    let (mut desk, _watcher, events) = watching(Library::Kazoo);
    let (listener, session) = watch();
    desk.watch_session(listener);
    desk.client.block_events();
    desk.notify(1, EventType::NodeDeleted, "/a");
    let mut background = desk.ask_in_background(sync());
    desk.reply(1, 2, SYNCED);
    desk.broken(1);
    desk.pass_until(100 * MILLI);
    assert_eq!(answered(&mut background), Some(SYNCED));
    assert_eq!(told(&session), ["disconnected"]);
    assert!(told(&events).is_empty());
    desk.client.unblock_events();
    assert_eq!(told(&events), ["deleted /a"]);
}

#[test]
fn a_rust_client_has_nothing_to_hold_up() {
    let (mut desk, _watcher, events) = watching(Library::Rust);
    desk.client.block_events();
    assert!(!desk.client.events_are_blocked());
    desk.notify(1, EventType::NodeDeleted, "/a");
    assert_eq!(told(&events), ["deleted /a"]);
}
