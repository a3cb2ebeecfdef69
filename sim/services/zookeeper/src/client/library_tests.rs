//! What differs between client libraries: each difference bites.

use picklock_clients::zookeeper::{Watch, ZkError, watch};

use super::test_harness::*;
use super::*;
use crate::client_profile::Library;
use crate::messages::ServerMessage;
use crate::version::Version;

const LIBRARIES: [Library; 4] = [Library::Java, Library::Kazoo, Library::Rust, Library::Go];

/// Connected to the first of three servers by connection 1 from time zero on.
fn connected(library: Library) -> ClientHarness {
    let settings = ZooKeeperClientConfig::new(TIMEOUT, 3).of(library, Version::V3_8);
    let mut harness = ClientHarness::new(settings);
    harness.start();
    harness.accept(1);
    harness
}

fn of_each<T>(mut what: impl FnMut(ClientHarness) -> T) -> [T; 4] {
    LIBRARIES.map(|library| what(connected(library)))
}

/// When something of this kind comes first, if it does within ten timeouts.
fn first(harness: &mut ClientHarness, kind: impl Fn(&Output) -> bool) -> Option<u64> {
    let outputs = harness.pass_until(10 * TIMEOUT);
    let found = outputs.into_iter().find(|(_, output)| kind(output));
    found.map(|(at, _)| at)
}

fn is_ping(output: &Output) -> bool {
    *output == send(1, ClientMessage::Ping)
}

#[test]
fn idle_clients_ping_after_a_third_a_little_earlier_or_after_three_twentieths_of_the_timeout() {
    let pings = of_each(|mut harness| first(&mut harness, is_ping));
    let little = 10 * MILLI;
    let expected = [2 * SECOND, 2 * SECOND - little, 900 * MILLI, 2 * SECOND];
    assert_eq!(pings, expected.map(Some));
}

#[test]
fn a_silent_server_is_given_up_after_two_thirds_at_the_second_ping_or_after_two_fifths() {
    let given_up = of_each(|mut harness| first(&mut harness, |output| *output == disconnect(1)));
    // kazoo pings at 1.99 s, and would again as long after that.
    let expected = [4 * SECOND, 3_980 * MILLI, 2_400 * MILLI, 4 * SECOND];
    assert_eq!(given_up, expected.map(Some));
}

#[test]
fn an_answered_ping_keeps_the_connection() {
    for library in LIBRARIES {
        let mut harness = connected(library);
        let end = 3 * TIMEOUT;
        let mut pings = 0;
        for at in (0..end).step_by(100_000) {
            let outputs = harness.pass_until(at);
            for _ in outputs.iter().filter(|(_, output)| is_ping(output)) {
                harness.hear(1, ServerMessage::Pong);
                pings += 1;
            }
        }
        assert_eq!(
            harness.client.state(),
            SessionState::Connected,
            "{library:?}"
        );
        assert!(pings >= 8, "{library:?}: {pings}");
    }
}

#[test]
fn java_reports_a_lost_connection_after_100_ms_others_at_once() {
    let told_at = of_each(|mut harness| {
        harness.broken(1);
        let lost = Output::StateChanged(SessionState::Connecting);
        first(&mut harness, |output| *output == lost)
    });
    assert_eq!(told_at, [100 * MILLI, 0, 0, 0].map(Some));
}

#[test]
fn all_but_java_try_the_next_server_at_once_and_java_may_sleep_for_a_second() {
    let next = of_each(|mut harness| {
        harness.chance = Box::new(Worst);
        harness.broken(1);
        first(&mut harness, |output| {
            matches!(output, Output::Connect { .. })
        })
    });
    assert_eq!(next, [1_099 * MILLI, 0, 0, 0].map(Some));
}

#[test]
fn what_is_asked_without_a_connection_fails_with_the_next_attempt_in_java_alone() {
    let answers = of_each(|mut harness| {
        harness.broken(1);
        harness.pass_until(200 * MILLI);
        let (mut asked, _) = harness.ask(sync(), None);
        harness.input(Input::Refused);
        harness.pass_until(400 * MILLI);
        answered(&mut asked)
    });
    let lost = Some(Err(ZkError::ConnectionLoss));
    assert_eq!(answers, [lost, None, None, None]);
}

#[test]
fn what_was_sent_is_lost_with_the_connection_in_all_of_them() {
    let answers = of_each(|mut harness| {
        let (mut asked, _) = harness.ask(sync(), None);
        harness.broken(1);
        harness.pass_until(100 * MILLI);
        answered(&mut asked)
    });
    let lost = || Some(Err(ZkError::ConnectionLoss));
    assert_eq!(answers, [lost(), lost(), lost(), lost()]);
}

/// A client that watches a node, loses its connection, and has another.
fn reconnected(mut harness: ClientHarness) -> (Watch, Vec<Output>) {
    let (watcher, events) = watch();
    harness.watch(1, get_data("/q"), data(), &watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    (events, harness.accept(2))
}

#[test]
fn kazoo_wakes_its_watchers_once_and_forgets_them_and_rust_and_go_say_nothing_to_them() {
    let told = of_each(|harness| told(&reconnected(harness).0));
    let java: &[&str] = &["disconnected", "connected"];
    let expected: [&[&str]; 4] = [java, &["disconnected"], &[], &[]];
    assert_eq!(told, expected);
}

#[test]
fn all_but_kazoo_bring_their_watches_to_the_next_server() {
    let brought = of_each(|harness| {
        let (_watch, outputs) = reconnected(harness);
        let brings = |output: &Output| match output {
            Output::Send { message, .. } => matches!(message, ClientMessage::SetWatches(_)),
            Output::Connect { .. }
            | Output::Disconnect { .. }
            | Output::ProbeIsro { .. }
            | Output::StateChanged(_) => false,
        };
        outputs.iter().any(brings)
    });
    assert_eq!(brought, [true, false, true, true]);
}

#[test]
fn rust_gives_up_its_session_after_seven_fifths_of_the_timeout_and_others_never() {
    let closed = of_each(|mut harness| {
        let closed = Output::StateChanged(SessionState::Closed);
        first(&mut harness, |output| *output == closed)
    });
    assert_eq!(closed[0], None);
    assert_eq!(closed[1], None);
    assert_eq!(closed[3], None);
    let at = closed[2].expect("a Rust client gives up");
    assert!(
        (TIMEOUT * 7 / 5..=TIMEOUT * 7 / 5 + SECOND).contains(&at),
        "{at}"
    );
}

#[test]
fn java_gives_up_a_session_that_never_came_about_from_the_version_that_is_to_be_3_10_on() {
    let given_up = Version::ALL.map(|(_, version)| {
        let settings = ZooKeeperClientConfig::new(TIMEOUT, 1).of(Library::Java, version);
        let mut harness = ClientHarness::new(settings);
        harness.start();
        let closed = Output::StateChanged(SessionState::Closed);
        first(&mut harness, |output| *output == closed)
    });
    assert_eq!(given_up, [None, None, None, None, Some(8 * SECOND)]);
}

#[test]
fn a_go_client_fails_for_certain_what_was_asked_when_every_server_was_tried_in_vain() {
    let mut harness = connected(Library::Go);
    let (mut sent, _) = harness.ask(sync(), None);
    harness.broken(1);
    harness.pass_until(0);
    let (mut asked, _) = harness.ask(sync(), None);
    // The second server, and then the third.
    for _ in 0..2 {
        assert_eq!(answered(&mut asked), None);
        harness.input(Input::Refused);
        harness.pass_until(0);
    }
    assert_eq!(answered(&mut sent), Some(Err(ZkError::ConnectionLoss)));
    assert_eq!(answered(&mut asked), Some(Err(ZkError::NoServer)));
    assert!(ZkError::NoServer.definite());
}

#[test]
fn a_go_client_waits_for_a_connection_for_a_second_and_then_to_be_accepted_for_long() {
    let mut harness = connected(Library::Go);
    harness.broken(1);
    let tries = harness.pass_until(SECOND);
    let tries = tries
        .iter()
        .filter(|(_, output)| matches!(output, Output::Connect { .. }));
    assert_eq!(tries.map(|(at, _)| *at).collect::<Vec<_>>(), [0, SECOND]);
    harness.input(Input::Opened {
        connection: ConnectionId(2),
    });
    let given_up = first(&mut harness, |output| *output == disconnect(2));
    assert_eq!(given_up, Some(SECOND + 10 * (TIMEOUT * 2 / 3)));
}

#[test]
fn the_ticker_of_a_go_client_ticks_whatever_else_it_sends_and_hears() {
    let mut harness = connected(Library::Go);
    let mut pings = Vec::new();
    for at in (0..=3 * TIMEOUT).step_by(500_000) {
        let outputs = harness.pass_until(at);
        pings.extend(
            outputs
                .iter()
                .filter(|(_, output)| is_ping(output))
                .map(|(at, _)| *at),
        );
        harness.hear(1, ServerMessage::Pong);
        if at % SECOND == 0 {
            let _asked = harness.ask(sync(), None);
        }
    }
    let expected: Vec<u64> = (1..=9).map(|tick| tick * TIMEOUT / 3).collect();
    assert_eq!(pings, expected);
}

#[test]
fn a_go_client_brings_its_watches_behind_what_was_asked_meanwhile() {
    let orders = [Library::Java, Library::Go].map(|library| {
        let mut harness = connected(library);
        let (watcher, _events) = watch();
        harness.watch(1, get_data("/q"), data(), &watcher);
        harness.broken(1);
        harness.pass_until(100 * MILLI);
        let _asked = harness.ask(sync(), None);
        let outputs = harness.accept(2);
        let sent = outputs.iter().filter_map(|output| match output {
            Output::Send { message, .. } => Some(match message {
                ClientMessage::SetWatches(_) => "watches",
                ClientMessage::Request { .. } => "request",
                _ => "connect",
            }),
            _ => None,
        });
        sent.filter(|kind| *kind != "connect").collect::<Vec<_>>()
    });
    assert_eq!(orders, [["watches", "request"], ["request", "watches"]]);
}
