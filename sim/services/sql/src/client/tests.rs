//! Tests of a client: what it dials, what its answers are to, and what it gives up.

use picklock_clients::sql::{CommandTag, ErrorCode, TransactionStatus};
use picklock_machines::Boring;

use super::*;

const SESSION: SessionId = SessionId(1);
const FIRST: ConnectionId = ConnectionId(0);
const SECOND: ConnectionId = ConnectionId(1);

fn client(servers: u8, socket_timeout: Option<Duration>) -> Client {
    Client::new(ClientSettings {
        dialect: Dialect::Postgres,
        servers,
        connect_timeout: Duration::from_secs(10),
        socket_timeout,
    })
}

fn handle(client: &mut Client, seconds: u64, input: Input) -> Vec<String> {
    let now = Now {
        monotonic: VirtualTime::from_micros(seconds * 1_000_000),
        wall_micros: 0,
    };
    let mut out = Vec::new();
    client.handle(now, input, &mut Boring, &mut out);
    out.iter().map(|output| format!("{output:?}")).collect()
}

/// A client with a session by its first connection.
fn connected(socket_timeout: Option<Duration>) -> Client {
    let mut client = client(1, socket_timeout);
    handle(&mut client, 0, Input::Connect(SESSION));
    handle(&mut client, 0, Input::Dialled(SESSION, FIRST));
    handle(&mut client, 0, Input::Opened(FIRST));
    client
}

fn answer(number: u32) -> ServerMessage {
    ServerMessage {
        number,
        result: Ok(QueryResult {
            tag: CommandTag::Begin,
            count: 0,
            rows: Vec::new(),
        }),
        notices: Vec::new(),
        status: TransactionStatus::InTransaction,
    }
}

#[test]
fn servers_are_tried_in_their_order_until_one_takes_it() {
    let mut client = client(2, None);
    let dialled = handle(&mut client, 0, Input::Connect(SESSION));
    assert_eq!(dialled, ["Dial(SessionId(1), ServerId(0))"]);
    handle(&mut client, 0, Input::Dialled(SESSION, FIRST));
    let dialled = handle(&mut client, 0, Input::Broken(FIRST));
    assert_eq!(dialled, ["Dial(SessionId(1), ServerId(1))"]);
    handle(&mut client, 0, Input::Dialled(SESSION, SECOND));
    let refused = handle(&mut client, 0, Input::Broken(SECOND));
    assert_eq!(refused, ["Connected(SessionId(1), Err(NotConnected))"]);
    assert_eq!(client.connections().count(), 0);
}

#[test]
fn an_answer_ends_the_statement_that_it_has_the_number_of() {
    let mut client = connected(None);
    handle(
        &mut client,
        0,
        Input::Execute(SESSION, Statement::Begin(None)),
    );
    assert!(client.is_asking(FIRST) && client.under_way() == 1);
    let late = handle(&mut client, 0, Input::Received(FIRST, answer(7)));
    assert!(late.is_empty(), "{late:?}");
    let answered = handle(&mut client, 0, Input::Received(FIRST, answer(1)));
    assert_eq!(answered.len(), 1);
    assert!(!client.is_asking(FIRST) && client.under_way() == 0);
}

#[test]
fn a_statement_that_waits_for_a_lock_is_not_under_way() {
    let mut client = connected(None);
    handle(
        &mut client,
        0,
        Input::Execute(SESSION, Statement::Begin(None)),
    );
    assert!(client.set_waits(FIRST, true) && client.under_way() == 0);
    assert!(!client.set_waits(FIRST, true), "it is known");
    assert!(client.set_waits(FIRST, false) && client.under_way() == 1);
}

#[test]
fn what_a_broken_connection_has_carried_may_have_happened() {
    let mut client = connected(None);
    handle(&mut client, 0, Input::Execute(SESSION, Statement::Commit));
    let broken = handle(&mut client, 0, Input::Broken(FIRST));
    assert_eq!(
        broken,
        [
            "Answered(SessionId(1), Err(ConnectionLoss))",
            "Gone(SessionId(1))"
        ]
    );
}

#[test]
fn a_socket_timeout_closes_the_connection() {
    let mut client = connected(Some(Duration::from_secs(5)));
    handle(&mut client, 0, Input::Execute(SESSION, Statement::Commit));
    assert_eq!(client.next_wake(), VirtualTime::from_micros(5_000_000));
    let given_up = handle(&mut client, 5, Input::Wake);
    assert_eq!(
        given_up,
        [
            "HangUp(ConnectionId(0))",
            "Answered(SessionId(1), Err(TimedOut))",
            "Gone(SessionId(1))"
        ]
    );
}

#[test]
fn a_fatal_error_without_a_number_ends_what_is_asked() {
    let mut client = connected(None);
    handle(&mut client, 0, Input::Execute(SESSION, Statement::Commit));
    let fatal = ServerMessage {
        result: Err(ErrorCode::AdminShutdown),
        ..answer(0)
    };
    let answered = handle(&mut client, 0, Input::Received(FIRST, fatal));
    assert_eq!(
        answered,
        ["Answered(SessionId(1), Err(Server(AdminShutdown)))"]
    );
}
