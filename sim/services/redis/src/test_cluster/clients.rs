//! Clients of servers and Sentinels, each with one command in flight.

use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_testkit::Cluster;

use super::calls::{CALLS, asked};
use super::{Machine, TestCluster};
use crate::{ConnectionId, Input, sentinel};

/// How long one waits for an answer at most, if nothing else is said.
const ANSWER: Duration = Duration::from_secs(5);

/// A client, and what it was answered.
pub(super) struct TestClient {
    to: Machine,
    /// Nobody has closed its connection.
    open: bool,
    answer: Option<Value>,
}

impl TestCluster {
    /// A client connects. Whether somebody is there it learns when it asks.
    pub fn connect(&mut self, to: Machine) -> ConnectionId {
        let connection = ConnectionId(self.next_client);
        self.next_client += 1;
        let open = !self.network.is_down(to);
        let answer = None;
        self.clients
            .insert(connection, TestClient { to, open, answer });
        if let Machine::Server(index) = to
            && open
        {
            self.tell(index, Input::Connected { connection });
        }
        connection
    }

    /// A client goes.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        let client = self.clients.remove(&connection).filter(|it| it.open);
        match client.map(|it| it.to) {
            Some(Machine::Server(index)) => self.tell(index, Input::Gone { connection }),
            Some(Machine::Sentinel(index)) => {
                self.tell_sentinel(index, sentinel::Input::Gone { connection });
            }
            None => {}
        }
    }

    /// A client asks, and time passes until it is answered. Answers nothing if that takes too long, or if the
    /// connection is gone.
    pub fn ask(&mut self, connection: ConnectionId, command: Command) -> Option<Value> {
        self.ask_within(ANSWER, connection, command)
    }

    /// The same with a time of its own that is too long.
    pub fn ask_within(
        &mut self,
        patience: Duration,
        connection: ConnectionId,
        command: Command,
    ) -> Option<Value> {
        let client = self.clients.get_mut(&connection).filter(|it| it.open)?;
        client.answer = None;
        let to = client.to;
        self.network.send(to, to, asked(to, connection, command));
        self.run_until_met(self.now() + patience, |it| {
            let client = it.clients.get(&connection);
            client.is_none_or(|it| it.answer.is_some() || !it.open)
        });
        self.clients.get_mut(&connection)?.answer.take()
    }

    /// A machine answers a client, or a Sentinel.
    pub(super) fn answer(&mut self, from: Machine, connection: ConnectionId, value: Value) {
        if connection.0 >= CALLS {
            self.answer_call(from, connection, value);
        } else if let Some(client) = self.clients.get_mut(&connection) {
            client.answer = Some(value);
        }
    }

    /// A machine closes a connection.
    pub(super) fn close(&mut self, by: Machine, connection: ConnectionId) {
        if connection.0 >= CALLS {
            self.calls.remove(&connection);
            self.refuse(by, connection);
        } else if let Some(client) = self.clients.get_mut(&connection) {
            client.open = false;
        }
    }

    /// The clients of a machine that has died lose their connections.
    pub(super) fn leave(&mut self, machine: Machine) {
        for client in self.clients.values_mut() {
            client.open &= client.to != machine;
        }
    }
}
