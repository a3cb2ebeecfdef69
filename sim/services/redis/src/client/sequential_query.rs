//! A question that is put to one server after another until one answers it: to Sentinels, or to nodes of a cluster.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Command;
use picklock_machines::ConnectionId;

use super::connection::Phase;
use super::{Destination, End, Output};

/// The servers to ask, and how far the asking is.
pub(super) struct SequentialQuery {
    /// Which end of the client asks.
    end: End,
    /// How many there are to ask.
    number: u8,
    target: fn(u8) -> Destination,
    what: fn() -> Command,
    /// How long an answer may take.
    timeout: Duration,
    /// The connection to the one that is asked.
    pub phase: Phase,
    /// Which that is, or will be.
    place: u8,
    /// How many have failed to answer since it was asked.
    failed: u8,
    /// Until when an answer must come, if one is wanted.
    deadline: Option<VirtualTime>,
}

impl SequentialQuery {
    /// A query that has not begun.
    pub fn new(
        end: End,
        number: u8,
        target: fn(u8) -> Destination,
        what: fn() -> Command,
        timeout: Duration,
    ) -> Self {
        Self {
            end,
            number,
            target,
            what,
            timeout,
            phase: Phase::Idle,
            place: 0,
            failed: 0,
            deadline: None,
        }
    }

    /// Whether an answer is wanted.
    pub fn is_open(&self) -> bool {
        self.deadline.is_some()
    }

    /// Until when an answer must come; never, if none is wanted.
    pub fn deadline(&self) -> VirtualTime {
        self.deadline.unwrap_or(VirtualTime::NEVER)
    }

    /// Begins to ask, if it does not ask already.
    pub fn ask(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if !self.is_open() {
            self.failed = 0;
            self.ask_this_one(now, out);
        }
    }

    fn ask_this_one(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        self.deadline = Some(now + self.timeout);
        match self.phase {
            Phase::Open(connection) => self.put(connection, out),
            Phase::Idle => out.push(Output::Connect {
                end: self.end,
                to: (self.target)(self.place),
            }),
            Phase::Resolving | Phase::Connecting(_) => {}
        }
    }

    /// A connection stands. Answers whether it was the one to the server to ask: then that is asked, and has for its
    /// answer what is left of the time.
    pub fn opened(&mut self, connection: ConnectionId, out: &mut Vec<Output>) -> bool {
        let is_it = self.phase == Phase::Connecting(connection);
        if is_it {
            self.phase = Phase::Open(connection);
            self.put(connection, out);
        }
        is_it
    }

    fn put(&self, connection: ConnectionId, out: &mut Vec<Output>) {
        out.push(Output::Send {
            connection,
            command: (self.what)(),
            again: false,
            caller: None,
        });
    }

    /// A connection is gone. Answers whether it was the one to the server that is asked.
    pub fn lost(&mut self, connection: ConnectionId) -> bool {
        let is_it = self.phase.connection() == Some(connection);
        if is_it {
            self.phase = Phase::Idle;
        }
        is_it
    }

    /// The answer has come, or is not wanted any more.
    pub fn settle(&mut self) {
        self.deadline = None;
    }

    /// Leaves the server that was asked. The next time it is another's turn.
    pub fn leave(&mut self, out: &mut Vec<Output>) {
        if let Some(connection) = self.phase.connection() {
            out.push(Output::Disconnect { connection });
        }
        self.phase = Phase::Idle;
        self.place = (self.place + 1) % self.number;
    }

    /// The server that was asked has failed to answer: the next one is asked. Answers whether there was a next one.
    pub fn next(&mut self, now: VirtualTime, out: &mut Vec<Output>) -> bool {
        self.leave(out);
        self.failed += 1;
        let is_there = self.failed < self.number;
        if is_there {
            self.ask_this_one(now, out);
        } else {
            self.settle();
        }
        is_there
    }
}
