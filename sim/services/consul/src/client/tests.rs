//! The agent: which server it asks, and what it asks again.

use picklock_clients::consul::{PutIf, QueryOptions};
use picklock_machines::Boring;

use super::*;

const FIRST: ConnectionId = ConnectionId(0);
const SECOND: ConnectionId = ConnectionId(1);

fn client() -> Client {
    Client::new(ClientSettings {
        servers: vec![ServerId(0), ServerId(1)],
        rpc_client_timeout: Duration::from_secs(60),
    })
}

fn at(client: &mut Client, second: u64, input: Input) -> Vec<Output> {
    let now = Now {
        monotonic: VirtualTime::ZERO + Duration::from_secs(second),
        wall_micros: 0,
    };
    let mut out = Vec::new();
    client.handle(now, input, &mut Boring, &mut out);
    out
}

fn read(wait_index: u64) -> Request {
    let options = QueryOptions {
        wait_index,
        ..QueryOptions::default()
    };
    Request::Get("key".into(), options)
}

fn write() -> Request {
    Request::Put(PutIf::Always, Default::default())
}

/// `client.go`, `manager.go`: servers are asked in turn; "No known Consul servers" if none is left.
#[test]
fn a_call_fails_when_no_server_takes_the_connection() {
    let mut client = client();
    let out = at(&mut client, 0, Input::Call(write()));
    assert!(matches!(out[..], [Output::Connect(ServerId(0))]));
    let out = at(&mut client, 1, Input::Refused(ServerId(0)));
    assert!(matches!(out[..], [Output::Connect(ServerId(1))]));
    let out = at(&mut client, 2, Input::Refused(ServerId(1)));
    assert!(matches!(
        out[..],
        [Output::Answered(1, Err(ConsulError::NoServers))]
    ));
}

/// `rpc.go`, `canRetry`: "Reads are safe to retry for stream errors".
#[test]
fn a_broken_connection_ends_writes_and_repeats_reads() {
    let mut client = client();
    for request in [write(), read(0), read(5)] {
        at(&mut client, 0, Input::Call(request));
    }
    let out = at(&mut client, 0, Input::Opened(FIRST, ServerId(0)));
    assert_eq!(out.len(), 3);
    let out = at(&mut client, 1, Input::Broken(FIRST));
    assert!(matches!(
        out[..],
        [
            Output::Answered(1, Err(ConsulError::Eof)),
            Output::Connect(ServerId(1))
        ]
    ));
    let out = at(&mut client, 1, Input::Opened(SECOND, ServerId(1)));
    assert_eq!(out.len(), 2);
    let out = at(&mut client, 20, Input::Broken(SECOND));
    assert!(matches!(out[0], Output::Answered(2, Err(ConsulError::Eof))));
}

/// Agent configuration, `rpc_client_timeout`: a blocking query has as long as it may wait besides.
#[test]
fn a_call_without_an_answer_is_given_up() {
    let mut client = client();
    at(&mut client, 0, Input::Call(write()));
    at(&mut client, 0, Input::Call(read(5)));
    at(&mut client, 0, Input::Opened(FIRST, ServerId(0)));
    assert!(at(&mut client, 59, Input::Wake).is_empty());
    let out = at(&mut client, 60, Input::Wake);
    assert!(matches!(
        out[..],
        [Output::Answered(1, Err(ConsulError::DeadlineReached))]
    ));
    assert_eq!(client.connection(), None, "the next call goes elsewhere");
    assert!(at(&mut client, 385, Input::Wake).is_empty());
    assert_eq!(at(&mut client, 386, Input::Wake).len(), 1);
}
