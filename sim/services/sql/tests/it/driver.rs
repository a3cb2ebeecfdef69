//! One server by itself, in virtual time.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, ConnectionId, Machine, Now, ServerId};
use picklock_sql::sql::{
    ClientBody, ClientMessage, Dialect, ErrorCode, QueryResult, ServerMessage, Statement,
};
use picklock_sql::{Input, Output, Server, Settings};

/// A seeded chance (SplitMix64): zero takes what comes first.
pub struct Seeded(pub u64);

impl Chance for Seeded {
    fn choose(&mut self, options: u32) -> u32 {
        if self.0 == 0 {
            return 0;
        }
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(options)) as u32
    }
}

/// A server, the time, and what it has said.
pub struct Driver {
    pub server: Server,
    pub now: VirtualTime,
    chance: Seeded,
    dialect: Dialect,
    numbers: u32,
    /// What it has wanted done, in order.
    pub out: Vec<Output>,
}

/// The wall clock when the run begins.
const WALL: i64 = 1_700_000_000_000_000;

impl Driver {
    pub fn new(settings: Settings, seed: u64) -> Self {
        Self {
            dialect: settings.dialect,
            server: Server::new(ServerId(0), settings),
            now: VirtualTime::ZERO,
            chance: Seeded(seed),
            numbers: 0,
            out: Vec::new(),
        }
    }

    pub fn input(&mut self, input: Input) {
        let micros = i64::try_from(self.now.micros()).unwrap_or_default();
        let now = Now {
            monotonic: self.now,
            wall_micros: WALL + micros,
        };
        self.server
            .handle(now, input, &mut self.chance, &mut self.out);
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while self.server.next_wake() <= until {
            self.now = self.server.next_wake().max(self.now);
            self.input(Input::Wake);
        }
        self.now = until;
    }

    pub fn open(&mut self, connection: u32) {
        self.input(Input::Opened(ConnectionId(connection)));
    }

    /// Sends a statement. Answers its number.
    pub fn send(&mut self, connection: u32, statement: Statement) -> u32 {
        self.numbers += 1;
        let message = ClientMessage {
            number: self.numbers,
            dialect: self.dialect,
            body: ClientBody::Query(statement),
        };
        self.input(Input::Client(ConnectionId(connection), message));
        self.numbers
    }

    /// The answer to the statement of this number, if there is one.
    pub fn answer(&self, number: u32) -> Option<&ServerMessage> {
        self.out.iter().find_map(|output| match output {
            Output::ToClient(_, message) if message.number == number => Some(message),
            _ => None,
        })
    }

    /// Sends a statement, and answers what it comes to at once; none if it waits.
    pub fn ask(
        &mut self,
        connection: u32,
        statement: Statement,
    ) -> Option<Result<QueryResult, ErrorCode>> {
        let number = self.send(connection, statement);
        self.answer(number).map(|answer| answer.result.clone())
    }

    pub fn is_closed(&self, connection: u32) -> bool {
        let is_it = |output: &Output| matches!(output, Output::Close(ConnectionId(closed)) if *closed == connection);
        self.out.iter().any(is_it)
    }
}
