//! A client: which server it asks, and what it makes of one that fails.

use std::time::Duration;

use futures_lite::future::{block_on, poll_once};
use picklock_checker::VirtualTime;
use picklock_clients::completion::{Answer, completion};
use picklock_clients::memcached::{Command, MemcachedError, MemcachedResult, Reply, ServerMessage};
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};
use picklock_memcached::Distribution;
use picklock_memcached::client::{Client, ClientSettings, Input, Output};

type Answered = Answer<MemcachedResult<Reply>>;

struct Test {
    client: Client,
    now: Duration,
    dialled: u32,
}

impl Test {
    fn new(failure_limit: Option<u32>) -> Self {
        let settings = ClientSettings {
            servers: 2,
            distribution: Distribution::Modula,
            timeout: Duration::from_secs(1),
            failure_limit,
            dead_timeout: Duration::from_secs(60),
        };
        Self {
            client: Client::new(settings),
            now: Duration::ZERO,
            dialled: 0,
        }
    }

    fn input(&mut self, input: Input) -> Vec<Output> {
        let now = Now {
            monotonic: VirtualTime::ZERO + self.now,
            wall_micros: 0,
        };
        let mut out = Vec::new();
        self.client.handle(now, input, &mut Boring, &mut out);
        out
    }

    /// Asks; answers the server that is dialled, or the connection by which the command goes, and the answer to come.
    fn call(&mut self) -> (Vec<Output>, Answered) {
        let (caller, answer) = completion();
        let command = Command::Delete("k".into());
        (self.input(Input::Call(command, caller)), answer)
    }

    fn dial(&mut self, out: &[Output]) -> (ServerId, ConnectionId) {
        let [Output::Dial(server)] = out else {
            panic!("it dials no server");
        };
        self.dialled += 1;
        let connection = ConnectionId(self.dialled);
        self.input(Input::Dialled(*server, connection));
        (*server, connection)
    }

    /// A call whose connection is refused.
    fn refused(&mut self) -> ServerId {
        let (out, answer) = self.call();
        let (server, connection) = self.dial(&out);
        self.input(Input::Broken(connection));
        assert_eq!(now_there(answer), Some(Err(MemcachedError::NotConnected)));
        server
    }
}

fn now_there(answer: Answered) -> Option<MemcachedResult<Reply>> {
    block_on(poll_once(answer))
}

#[test]
fn a_command_waits_for_its_connection_and_goes_once() {
    let mut test = Test::new(None);
    let (out, answer) = test.call();
    let (_, connection) = test.dial(&out);
    let sent = test.input(Input::Opened(connection));
    assert!(
        matches!(&sent[..], [Output::Send(by, message)] if *by == connection && message.number == 1)
    );
    let message = ServerMessage {
        number: 1,
        reply: Reply::Deleted,
    };
    test.input(Input::Received(connection, message));
    assert_eq!(now_there(answer), Some(Ok(Reply::Deleted)));
    let (again, _waits) = test.call();
    assert!(matches!(&again[..], [Output::Send(..)]));
}

#[test]
fn a_command_that_is_not_answered_ends_with_its_connection() {
    let mut test = Test::new(None);
    let (out, answer) = test.call();
    let (_, connection) = test.dial(&out);
    test.input(Input::Opened(connection));
    assert_eq!(test.client.next_wake(), VirtualTime::from_micros(1_000_000));
    test.now = Duration::from_secs(1);
    let out = test.input(Input::Wake);
    assert!(matches!(&out[..], [Output::HangUp(by)] if *by == connection));
    assert_eq!(now_there(answer), Some(Err(MemcachedError::TimedOut)));
    assert_eq!(test.client.unanswered(), 1);
}

#[test]
fn a_call_that_is_given_up_takes_its_connection_with_it() {
    let mut test = Test::new(None);
    let (out, _given_up) = test.call();
    let (_, connection) = test.dial(&out);
    test.input(Input::Opened(connection));
    let (out, _waits) = test.call();
    assert!(matches!(&out[..], [Output::HangUp(_), Output::Dial(_)]));
}

/// Rule: a client that ejects a server uses another for the same key, and the old one again when it has come back.
#[test]
fn a_server_that_fails_twice_is_left_out_for_a_minute() {
    let mut test = Test::new(Some(2));
    let first = test.refused();
    assert_eq!(test.refused(), first);
    let other = test.refused();
    assert_ne!(other, first);
    test.now = Duration::from_secs(60);
    assert_eq!(test.refused(), first);
}

#[test]
fn a_server_that_fails_is_asked_again_by_others() {
    let mut test = Test::new(None);
    let first = test.refused();
    for _ in 0..5 {
        assert_eq!(test.refused(), first);
    }
}
