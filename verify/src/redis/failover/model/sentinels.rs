//! The Sentinels of the model, and their connections.

use std::rc::Rc;

use picklock_algorithms::clients::redis::{Command, Value};
use picklock_redis::sentinel::{self, CallId, Sentinel};
use picklock_redis::{ConnectionId, Input};

use super::super::Setup;
use super::{CALLS, Machine, Town, What, address, machine};

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

fn asked(callee: Machine, connection: ConnectionId, command: Command) -> What {
    match callee {
        Machine::Server(_) => What::Server(Input::Received {
            connection,
            command,
        }),
        Machine::Sentinel(_) => What::Sentinel(sentinel::Input::Received {
            connection,
            command,
        }),
    }
}

impl Town {
    /// Puts Sentinels there who know everybody.
    pub(super) fn hire_sentinels(&mut self, setup: &Setup) {
        let all = 0..setup.sentinels;
        for place in all.clone() {
            let others = all.clone().filter(|other| *other != place);
            let settings = sentinel::Settings {
                replicas: (1..=setup.replicas)
                    .map(|place| address(Machine::Server(place)))
                    .collect(),
                sentinels: others
                    .map(|other| (other as u32, address(Machine::Sentinel(other))))
                    .collect(),
                down_after: setup.down_after,
                failover_timeout: setup.failover_timeout,
                ..sentinel::Settings::new(
                    place as u32,
                    address(Machine::Sentinel(place)),
                    address(Machine::Server(0)),
                    setup.sentinels / 2 + 1,
                )
            };
            let now = self.clock();
            self.sentinels.push(Sentinel::new(Rc::new(settings), now));
            let own = Machine::Sentinel(place);
            let apart = u64::from(self.choose(100_000));
            self.add(apart, own, own, What::Look);
        }
    }

    pub(super) fn sentinel_looks(&mut self, place: usize) {
        self.tell_sentinel(place, sentinel::Input::Wake);
        let next = self.sentinels[place].next_wake().micros();
        let own = Machine::Sentinel(place);
        self.add(next.max(self.now + 1), own, own, What::Look);
    }

    pub(super) fn tell_sentinel(&mut self, place: usize, input: sentinel::Input) {
        let now = self.clock();
        let mut out = Vec::new();
        let mut chance = self.chance;
        let mut choose = |below: u32| {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (chance >> 8) % below
        };
        self.sentinels[place].handle(now, input, &mut choose, &mut out);
        self.chance = chance;
        for output in out {
            self.sentinel_does(place, output);
        }
    }

    fn sentinel_does(&mut self, place: usize, output: sentinel::Output) {
        let own = Machine::Sentinel(place);
        match output {
            sentinel::Output::Call { call, to } => {
                let connection = connection(place, call);
                let callee = machine(&to);
                self.calls.insert(connection, callee);
                self.send(own, callee, What::Hello(connection));
            }
            sentinel::Output::Send { call, command } => {
                let connection = connection(place, call);
                if let Some(callee) = self.calls.get(&connection).copied() {
                    self.send(own, callee, asked(callee, connection, command));
                }
            }
            sentinel::Output::HangUp { call } => {
                let connection = connection(place, call);
                if let Some(callee @ Machine::Server(_)) = self.calls.remove(&connection) {
                    let gone = What::Server(Input::Gone { connection });
                    self.send(own, callee, gone);
                }
            }
            sentinel::Output::ToClient { connection, value } => {
                self.answer_call(own, connection, value);
            }
            sentinel::Output::Noted { event, about } => {
                let of_primary = about == *self.sentinels[place].primary();
                self.log.push((self.now, event, of_primary));
            }
        }
    }

    pub(super) fn answer_call(&mut self, from: Machine, connection: ConnectionId, value: Value) {
        let (sentinel, call) = caller(connection);
        let input = sentinel::Input::Answered { call, value };
        self.send(from, Machine::Sentinel(sentinel), What::Sentinel(input));
    }

    /// Tells a Sentinel that there is no such connection.
    pub(super) fn refuse(&mut self, by: Machine, connection: ConnectionId) {
        let (sentinel, call) = caller(connection);
        let closed = What::Sentinel(sentinel::Input::Closed { call });
        self.send(by, Machine::Sentinel(sentinel), closed);
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
