//! The connections of Sentinels, to servers and to each other.

use picklock_clients::redis::{Command, Value};
use picklock_machines::Machine as _;
use picklock_testkit::Cluster;

use super::{Machine, Message, SentinelLogEntry, TestCluster};
use crate::sentinel::{self, CallId};
use crate::{ConnectionId, Input};

/// Connections of Sentinels have numbers from here on. Those below are clients'.
pub(super) const CALLS: u32 = 1 << 31;
/// A Sentinel has so many numbers for its connections, as a power of two.
const EACH: u32 = 24;

fn connection(sentinel: usize, call: CallId) -> ConnectionId {
    ConnectionId(CALLS | (sentinel as u32) << EACH | call.0)
}

fn caller(connection: ConnectionId) -> (usize, CallId) {
    let number = connection.0 & !CALLS;
    (
        (number >> EACH) as usize,
        CallId(number & ((1 << EACH) - 1)),
    )
}

/// A question of a client or a Sentinel, as it comes to the machine that it is for.
pub(super) fn asked(callee: Machine, connection: ConnectionId, command: Command) -> Message {
    match callee {
        Machine::Server(_) => Message::Server(Input::Received {
            connection,
            command,
        }),
        Machine::Sentinel(_) => Message::Sentinel(sentinel::Input::Received {
            connection,
            command,
        }),
    }
}

impl TestCluster {
    pub(super) fn tell_sentinel(&mut self, index: usize, input: sentinel::Input) {
        let now = self.clock(Machine::Sentinel(index));
        let mut out = Vec::new();
        let sentinel = &mut self.sentinels[index].0;
        sentinel.handle(now, input, &mut self.chance, &mut out);
        for output in out {
            self.sentinel_does(index, output);
        }
    }

    fn sentinel_does(&mut self, index: usize, output: sentinel::Output) {
        let own = Machine::Sentinel(index);
        match output {
            sentinel::Output::Call { call, to } => {
                let connection = connection(index, call);
                if let Some(callee) = self.find(&to) {
                    self.calls.insert(connection, callee);
                    self.network.send(own, callee, Message::Call(connection));
                } else {
                    self.refuse(own, connection);
                }
            }
            sentinel::Output::Send { call, command } => {
                let connection = connection(index, call);
                if let Some(callee) = self.calls.get(&connection).copied() {
                    self.network
                        .send(own, callee, asked(callee, connection, command));
                }
            }
            sentinel::Output::HangUp { call } => {
                let connection = connection(index, call);
                if let Some(callee @ Machine::Server(_)) = self.calls.remove(&connection) {
                    let gone = Message::Server(Input::Gone { connection });
                    self.network.send(own, callee, gone);
                }
            }
            sentinel::Output::ToClient { connection, value } => {
                self.answer(own, connection, value);
            }
            sentinel::Output::Noted { event, about } => {
                let of_primary = about == *self.sentinels[index].0.primary();
                self.log.push(SentinelLogEntry {
                    at: self.now().since_start(),
                    event,
                    of_primary,
                });
            }
        }
    }

    pub(super) fn answer_call(&mut self, from: Machine, connection: ConnectionId, value: Value) {
        let (sentinel, call) = caller(connection);
        let input = sentinel::Input::Answered { call, value };
        self.network
            .send(from, Machine::Sentinel(sentinel), Message::Sentinel(input));
    }

    /// Tells a Sentinel that there is no such connection.
    pub(super) fn refuse(&mut self, by: Machine, connection: ConnectionId) {
        let (sentinel, call) = caller(connection);
        let closed = Message::Sentinel(sentinel::Input::Closed { call });
        self.network.send(by, Machine::Sentinel(sentinel), closed);
    }

    /// A machine has died, and its kernel closes its connections.
    pub(super) fn hang_up_on(&mut self, machine: Machine) {
        let all = self.calls.iter();
        let its: Vec<ConnectionId> = all
            .filter(|(_, to)| **to == machine)
            .map(|(connection, _)| *connection)
            .collect();
        for connection in its {
            self.calls.remove(&connection);
            self.refuse(machine, connection);
        }
    }
}
