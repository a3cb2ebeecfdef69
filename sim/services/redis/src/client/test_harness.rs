//! For the tests of the client: a client whose servers the test plays.

use std::time::Duration;

use futures_lite::future::{block_on, poll_once};
use picklock_checker::VirtualTime;
use picklock_clients::completion::{Answer, completion};
use picklock_clients::redis::{Command, Lane, RedisResult, Value};
use picklock_machines::{Boring, ConnectionId, Machine, Now};

use super::{Client, Destination, Input, Output, RedisClientConfig};

pub(super) const SHARED: Lane = Lane { node: 0, number: 0 };

/// A client, and what it has wanted done.
pub(super) struct ClientHarness {
    pub client: Client,
    pub now: VirtualTime,
    /// Where each connection goes that it has asked for. It has each at once, and knows when the test opens it.
    pub opened: Vec<String>,
    /// Each command, and by which connection it was sent.
    pub sent: Vec<(usize, String)>,
    pub closed: Vec<usize>,
    /// How much of all three the test has seen.
    seen: [usize; 3],
}

fn name(to: &Destination) -> String {
    match to {
        Destination::Node(index) => format!("any-{index}"),
        Destination::Sentinel(index) => format!("sentinel-{index}"),
        Destination::Replica(nth) => format!("replica-{nth}"),
        Destination::Address(address) => address.host.to_string(),
    }
}

impl ClientHarness {
    pub fn new(settings: RedisClientConfig) -> Self {
        Self {
            client: Client::new(settings),
            now: VirtualTime::ZERO,
            opened: Vec::new(),
            sent: Vec::new(),
            closed: Vec::new(),
            seen: [0; 3],
        }
    }

    pub fn tell(&mut self, input: Input) {
        let mut out = Vec::new();
        let now = Now {
            monotonic: self.now,
            wall_micros: 0,
        };
        self.client.handle(now, input, &mut Boring, &mut out);
        for output in out {
            match output {
                Output::Connect { end, to } => {
                    let connection = ConnectionId(self.opened.len() as u32);
                    self.opened.push(name(&to));
                    self.client.connecting(self.now, end, connection);
                }
                Output::Send {
                    connection,
                    command,
                    ..
                } => self.sent.push((connection.0 as usize, command.to_string())),
                Output::Disconnect { connection } => self.closed.push(connection.0 as usize),
            }
        }
    }

    pub fn pass(&mut self, millis: u64) {
        self.pass_for(Duration::from_millis(millis));
    }

    pub fn pass_for(&mut self, time: Duration) {
        self.now += time;
        self.tell(Input::Wake);
    }

    /// Submits the words of a line to the shared lane.
    pub fn ask(&mut self, text: &str) -> Answer<RedisResult<Value>> {
        self.submit(SHARED, &text.split(' ').collect::<Vec<_>>())
    }

    pub fn submit(&mut self, lane: Lane, words: &[&str]) -> Answer<RedisResult<Value>> {
        let (completion, answer) = completion();
        let start = Command::new(words[0]);
        let command = words[1..].iter().fold(start, Command::arg);
        self.tell(Input::Submit {
            lane,
            command,
            completion,
            caller: None,
        });
        answer
    }

    pub fn open(&mut self, connection: usize) {
        let connection = ConnectionId(connection as u32);
        self.tell(Input::Opened { connection });
    }

    pub fn hear(&mut self, connection: usize, value: Value) {
        let connection = ConnectionId(connection as u32);
        self.tell(Input::Received { connection, value });
    }

    pub fn break_off(&mut self, connection: usize) {
        let connection = ConnectionId(connection as u32);
        self.tell(Input::Broken { connection });
    }

    pub fn last(&self) -> (usize, &str) {
        let (connection, command) = self.sent.last().expect("something was sent");
        (*connection, command)
    }

    /// Opens the connection that it has asked for.
    pub fn open_next(&mut self) -> usize {
        let connection = self.next_connection();
        self.open(connection);
        connection
    }

    /// The connection that it has asked for since the test looked last.
    pub fn next_connection(&mut self) -> usize {
        let connection = self.seen[0];
        assert!(connection < self.opened.len(), "it asks for a connection");
        self.look();
        connection
    }

    /// What it has sent since the test looked last.
    pub fn newly_sent(&mut self) -> Vec<String> {
        let sent = self.sent[self.seen[1]..].iter();
        let sent = sent.map(|(_, command)| command.clone()).collect();
        self.look();
        sent
    }

    /// The test has seen all that there is.
    pub fn look(&mut self) {
        self.seen = self.counts();
    }

    /// Whether it has wanted nothing done since the test looked last.
    pub fn is_idle(&self) -> bool {
        self.seen == self.counts()
    }

    fn counts(&self) -> [usize; 3] {
        [self.opened.len(), self.sent.len(), self.closed.len()]
    }
}

pub(super) fn now<T>(answer: Answer<T>) -> Option<T> {
    block_on(poll_once(answer))
}
