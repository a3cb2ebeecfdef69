//! The points on which simulations of ZooKeeper's clients tend to be wrong, with their numbers in the list.

use picklock_clients::zookeeper::{EventType, ZkError, watch};

use super::test_harness::*;
use super::*;
use crate::messages::Xid;

/// D5: the client's half.
#[test]
fn a_client_may_declare_its_session_expired_long_before_a_server_does() {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 1);
    settings.local_expiry = Some((4, 3));
    let mut harness = ClientHarness::new(settings);
    harness.start();
    harness.accept(1);
    // It heard a server last at zero, and the server may hear it until it is cut off. In 3.8 it would wait for ever.
    harness.pass_until(TIMEOUT * 4 / 3 + SECOND);
    assert_eq!(harness.client.state(), SessionState::Closed);
}

/// D8.
#[test]
fn a_client_gives_up_a_connection_after_two_thirds_of_the_timeout_by_its_own_clock() {
    let mut harness = ClientHarness::connected();
    harness.pass_until(TIMEOUT * 2 / 3 - 1);
    assert_eq!(harness.client.state(), SessionState::Connected);
    let outputs = harness.pass_until(TIMEOUT * 2 / 3);
    assert!(outputs.iter().any(|(_, output)| *output == disconnect(1)));
    harness.pass_until(TIMEOUT * 2 / 3 + 100 * MILLI);
    assert_eq!(harness.client.state(), SessionState::Connecting);
    // The session may live on for a third of its timeout and a tick, or be long gone.
    harness.pass_until(100 * TIMEOUT);
    assert_eq!(harness.client.state(), SessionState::Connecting);
}

/// D11: the client's half.
#[test]
fn a_lost_connection_fails_everything_that_was_asked_and_says_nothing_of_it() {
    let mut harness = ClientHarness::connected();
    let (mut sent, _) = harness.ask(sync(), None);
    harness.broken(1);
    let (mut unsent, _) = harness.ask(sync(), None);
    harness.pass_until(100 * MILLI);
    for answer in [&mut sent, &mut unsent] {
        assert_eq!(answered(answer), Some(Err(ZkError::ConnectionLoss)));
    }
    assert!(!ZkError::ConnectionLoss.definite());
}

/// D15: the client's half. There is no event thread here: a task is woken by the event before another is by the answer.
#[test]
fn a_watcher_is_told_before_a_later_answer_is_given() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_children("/q"), children(), &watcher);
    let (mut answer, _) = harness.ask(sync(), None);
    harness.notify(1, EventType::NodeChildrenChanged, "/q");
    assert_eq!(answered(&mut answer), None);
    assert_eq!(told(&events), ["children /q"]);
    harness.reply(1, 2, Ok(picklock_clients::zookeeper::Response::Synced));
    assert!(answered(&mut answer).is_some());
}

/// D18: the client's half.
#[test]
fn a_reconnecting_client_brings_its_watches_before_it_asks_for_anything() {
    let mut harness = ClientHarness::connected();
    let (watcher, _events) = watch();
    harness.watch(1, exists("/q"), is_there(), &watcher);
    harness.broken(1);
    let (_answer, _) = harness.ask(sync(), None);
    harness.pass_until(50 * MILLI);
    let (_later, _) = harness.ask(sync(), None);
    harness.pass_until(100 * MILLI);
    let outputs = harness.accept(2);
    let index = |wanted: &dyn Fn(&ClientMessage) -> bool| {
        outputs.iter().position(|output| match output {
            Output::Send { message, .. } => wanted(message),
            _ => false,
        })
    };
    let watches = index(&|message| matches!(message, ClientMessage::SetWatches(_)));
    assert!(watches.is_some());
    let asked = index(&|message| matches!(message, ClientMessage::Request { xid: Xid(_), .. }));
    assert!(asked.is_none_or(|asked| watches < Some(asked)));
}

/// D19.
#[test]
fn a_change_of_the_session_reaches_every_watcher_and_tells_nothing_of_its_node() {
    let mut harness = ClientHarness::connected();
    let (of_node, node_events) = watch();
    let (of_session, session_events) = watch();
    harness.watch(1, exists("/q"), is_there(), &of_node);
    harness.watch_session(of_session);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    for events in [&node_events, &session_events] {
        assert_eq!(told(events), ["disconnected"]);
    }
    // It stays: to take the first event for the deletion of the node is wrong.
    harness.accept(2);
    harness.notify(2, EventType::NodeDeleted, "/q");
    assert_eq!(told(&node_events), ["connected", "deleted /q"]);
}

/// D24: the client's half.
#[test]
fn a_reconnect_costs_up_to_a_second_and_an_attempt_a_share_of_the_timeout() {
    let mut harness = ClientHarness::connected();
    harness.chance = Box::new(Worst);
    harness.broken(1);
    let outputs = harness.pass_until(30 * SECOND);
    let attempts: Vec<u64> = outputs
        .iter()
        .filter(|(_, output)| matches!(output, Output::Connect { .. }))
        .map(|(at, _)| *at)
        .collect();
    // Cleaning up, and almost a second of sleep.
    assert_eq!(attempts[0], 100 * MILLI + 999 * MILLI);
    // A third of the timeout for each of three servers, and the same again.
    assert_eq!(
        attempts[1] - attempts[0],
        TIMEOUT / 3 + 100 * MILLI + 999 * MILLI
    );
}
