//! Tests of the client handle: servers that answer reads alone.

use picklock_clients::zookeeper::{SessionId, SessionState, ZkError, watch};

use super::test_harness::*;
use super::{Input, Output, ZooKeeperClientConfig};
use crate::messages::{ClientMessage, ConnectionId, Password, ServerId, ServerMessage};

/// A client that puts up with such servers, and is connected to one by connection 1.
fn connected() -> ClientHarness {
    let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
    settings.read_only = true;
    let mut harness = ClientHarness::new(settings);
    harness.start();
    harness.input(Input::Opened {
        connection: ConnectionId(1),
    });
    harness.hear(1, greeting(0xf00, true));
    harness
}

fn greeting(session: u64, read_only: bool) -> ServerMessage {
    ServerMessage::Connected {
        session: SessionId(session),
        password: Password(77),
        timeout: TIMEOUT,
        read_only,
    }
}

/// When it asks which server whether it takes writes, in milliseconds.
fn asked(outputs: &[(u64, Output)]) -> Vec<(u64, u8)> {
    let asked = outputs.iter().filter_map(|(at, output)| match output {
        Output::ProbeIsro { server } => Some((at / MILLI, server.0)),
        _ => None,
    });
    asked.collect()
}

fn hello_of(outputs: &[Output]) -> (SessionId, bool) {
    let hello = outputs.iter().find_map(|output| match output {
        Output::Send {
            message: ClientMessage::Connect {
                session, read_only, ..
            },
            ..
        } => Some((*session, *read_only)),
        _ => None,
    });
    hello.expect("it introduces itself")
}

#[test]
fn a_client_at_a_read_only_server_says_so_and_hears_refusals() {
    let mut harness = connected();
    assert_eq!(harness.client.state(), SessionState::ConnectedReadOnly);
    let (watcher, events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    let (mut refused, _) = harness.ask(sync(), None);
    harness.reply(1, 2, Err(ZkError::NotReadOnly));
    assert_eq!(answered(&mut refused), Some(Err(ZkError::NotReadOnly)));
    harness.broken(1);
    harness.pass_until(200 * MILLI);
    harness.input(Input::Opened {
        connection: ConnectionId(2),
    });
    harness.hear(2, greeting(0xf01, true));
    assert_eq!(told(&events), ["disconnected", "read-only"]);
}

#[test]
fn it_asks_one_server_after_the_other_ever_more_seldom_whether_it_takes_writes() {
    let mut harness = connected();
    let mut outputs = Vec::new();
    for second in 1..=7 {
        outputs.extend(harness.pass_until(second * SECOND));
        harness.hear(1, ServerMessage::Pong);
    }
    let expected = [
        (100, 1),
        (300, 2),
        (700, 0),
        (1_500, 1),
        (3_100, 2),
        (6_300, 0),
    ];
    assert_eq!(asked(&outputs), expected);
}

#[test]
fn it_goes_to_the_server_that_takes_writes_and_begins_a_session_there() {
    let mut harness = connected();
    harness.pass_until(150 * MILLI);
    let server = ServerId(2);
    let outputs = harness.input(Input::RwServerFound { server });
    assert_eq!(outputs[..1], [disconnect(1)]);
    let outputs = harness.pass_until(250 * MILLI);
    let tried: Vec<&Output> = outputs.iter().map(|(_, output)| output).collect();
    assert!(tried.contains(&&connect(2)), "{tried:?}");
    let outputs = harness.input(Input::Opened {
        connection: ConnectionId(2),
    });
    // Its session is one of the other server, and nothing here.
    assert_eq!(hello_of(&outputs), (SessionId(0), true));
    harness.hear(2, greeting(7, false));
    assert_eq!(harness.client.state(), SessionState::Connected);
    assert_eq!(harness.client.server(), Some(server));
    let outputs = harness.pass_until(2 * SECOND);
    assert!(asked(&outputs).is_empty(), "it has what it sought");
    // From now on it has a session of the ensemble, which it brings along wherever it goes.
    harness.broken(2);
    harness.pass_until(3 * SECOND);
    let outputs = harness.input(Input::Opened {
        connection: ConnectionId(3),
    });
    assert_eq!(hello_of(&outputs), (SessionId(7), true));
}

#[test]
fn a_late_yes_is_of_no_use() {
    let mut harness = connected();
    harness.broken(1);
    let server = ServerId(2);
    assert!(harness.input(Input::RwServerFound { server }).is_empty());
    let mut harness = ClientHarness::connected();
    assert!(harness.input(Input::RwServerFound { server }).is_empty());
    assert_eq!(harness.client.state(), SessionState::Connected);
}

#[test]
fn a_client_does_not_offer_read_only_by_default() {
    let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(TIMEOUT, 3));
    harness.start();
    let outputs = harness.input(Input::Opened {
        connection: ConnectionId(1),
    });
    assert_eq!(hello_of(&outputs), (SessionId(0), false));
}
