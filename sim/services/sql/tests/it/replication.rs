//! A primary and its standby.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};
use picklock_sql::sql::{ClientBody, ClientMessage, Dialect, ErrorCode, QueryResult};
use picklock_sql::{Input, Output, Server, Settings};

use crate::{script, sql_text};

const SESSION: ConnectionId = ConnectionId(7);

/// Both servers, and what the first has been told.
struct Pair {
    servers: [Server; 2],
    now: VirtualTime,
    is_connected: bool,
    answers: Vec<Result<QueryResult, ErrorCode>>,
}

impl Pair {
    fn new(is_synchronous: bool) -> Self {
        let settings = |standby: u8| {
            let mut settings = Settings::of(Dialect::Postgres, vec![script::table()]);
            settings.standbys = vec![ServerId(standby)];
            settings.synchronous_standby = is_synchronous.then_some(ServerId(standby));
            settings
        };
        Self {
            servers: [
                Server::new(ServerId(0), settings(1)),
                Server::standby(ServerId(1), ServerId(0), settings(0)),
            ],
            now: VirtualTime::ZERO,
            is_connected: true,
            answers: Vec::new(),
        }
    }

    fn input(&mut self, server: usize, input: Input) {
        let (monotonic, wall_micros) = (self.now, 0);
        let now = Now {
            monotonic,
            wall_micros,
        };
        let mut out = Vec::new();
        self.servers[server].handle(now, input, &mut Boring, &mut out);
        for output in out {
            match output {
                Output::ToPeer(ServerId(to), message) if self.is_connected => {
                    let from = ServerId(server as u8);
                    self.input(usize::from(to), Input::Peer(from, message));
                }
                Output::ToClient(_, message) => self.answers.push(message.result),
                _ => {}
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.input(0, Input::Wake);
        self.input(1, Input::Wake);
    }

    /// Executes a statement, and answers what it comes to; none if it waits.
    fn ask(&mut self, server: usize, text: &str) -> Option<Result<QueryResult, ErrorCode>> {
        let statement = sql_text::statement(text, &[script::table()]).expect(text);
        let message = ClientMessage {
            number: 1,
            dialect: Dialect::Postgres,
            body: ClientBody::Query(statement),
        };
        self.answers.clear();
        self.input(server, Input::Client(SESSION, message));
        self.answers.pop()
    }

    fn count(&mut self, server: usize) -> String {
        let found = self.ask(server, "SELECT count(*) FROM l");
        found
            .and_then(Result::ok)
            .map_or_else(String::new, |found| found.to_string())
    }
}

#[test]
fn a_standby_repeats_commits_and_takes_no_writes() {
    let mut pair = Pair::new(false);
    pair.input(0, Input::Opened(SESSION));
    pair.input(1, Input::Opened(SESSION));
    assert!(matches!(
        pair.ask(0, "INSERT INTO l(name) VALUES('x')"),
        Some(Ok(_))
    ));
    assert_eq!(pair.count(1), "SELECT 1 (3)");
    let refused = Some(Err(ErrorCode::ReadOnlySqlTransaction));
    assert_eq!(pair.ask(1, "DELETE FROM l WHERE name='x'"), refused);
    assert!(matches!(
        pair.ask(0, "SELECT pg_advisory_lock(1)"),
        Some(Ok(_))
    ));
    let free = pair.ask(1, "SELECT pg_try_advisory_lock(1)");
    assert_eq!(
        free.and_then(Result::ok).expect("an answer").to_string(),
        "SELECT 1 (true)"
    );
}

#[test]
fn an_asynchronous_standby_lacks_the_last_commits() {
    let mut pair = Pair::new(false);
    pair.input(0, Input::Opened(SESSION));
    pair.is_connected = false;
    assert!(matches!(
        pair.ask(0, "INSERT INTO l(name) VALUES('x')"),
        Some(Ok(_))
    ));
    pair.input(1, Input::Promote);
    pair.input(1, Input::Opened(SESSION));
    assert_eq!(pair.count(1), "SELECT 1 (2)");
    assert!(matches!(
        pair.ask(1, "INSERT INTO l(name) VALUES('x')"),
        Some(Ok(_))
    ));
    pair.is_connected = true;
    pair.input(0, Input::Follow(ServerId(1)));
    pair.pass(Duration::from_secs(2));
    pair.input(0, Input::Opened(SESSION));
    assert_eq!(pair.count(0), "SELECT 1 (3)");
}

#[test]
fn a_commit_waits_for_the_synchronous_standby_unseen() {
    let mut pair = Pair::new(true);
    pair.input(0, Input::Opened(SESSION));
    assert!(matches!(
        pair.ask(0, "INSERT INTO l(name) VALUES('w')"),
        Some(Ok(_))
    ));
    pair.is_connected = false;
    assert_eq!(pair.ask(0, "INSERT INTO l(name) VALUES('x')"), None);
    pair.is_connected = true;
    pair.pass(Duration::from_secs(2));
    assert!(matches!(pair.answers.pop(), Some(Ok(_))));
    pair.is_connected = false;
    assert_eq!(pair.ask(0, "INSERT INTO l(name) VALUES('y')"), None);
    // The end of the wait is no end of the commit.
    let cancel = ClientMessage {
        number: 2,
        dialect: Dialect::Postgres,
        body: ClientBody::Cancel(SESSION.0),
    };
    pair.input(0, Input::Client(SESSION, cancel));
    assert!(matches!(pair.answers.pop(), Some(Ok(_))));
    assert_eq!(pair.count(0), "SELECT 1 (5)");
}

#[test]
fn a_crash_loses_commits_that_did_not_wait_for_the_disk() {
    let mut pair = Pair::new(false);
    pair.input(0, Input::Opened(SESSION));
    assert!(matches!(
        pair.ask(0, "INSERT INTO l(name) VALUES('x')"),
        Some(Ok(_))
    ));
    pair.ask(0, "SET synchronous_commit=off");
    assert!(matches!(
        pair.ask(0, "INSERT INTO l(name) VALUES('y')"),
        Some(Ok(_))
    ));
    pair.input(0, Input::Restart);
    pair.input(0, Input::Opened(SESSION));
    assert_eq!(pair.count(0), "SELECT 1 (3)");
}
