//! Clients of servers and Sentinels, each with one command in flight.

use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_testkit::Cluster;

use super::calls::{CALLS, asked};
use super::{Machine, TestCluster};
use crate::{ConnectionId, Input, sentinel};

/// How long one waits for an answer at most, if nothing else is said.
const ANSWER: Duration = Duration::from_secs(5);

/// What comes over a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// An answer or a message.
    Value(Value),
    /// The server has closed it.
    Closed,
}

/// A client, and what has come that was not read.
pub(super) struct TestClient {
    to: Machine,
    /// Its connection is not closed.
    open: bool,
    inbox: Vec<Incoming>,
}

impl TestCluster {
    /// A client connects. Whether the machine is up it learns when it asks.
    pub fn connect(&mut self, to: Machine) -> ConnectionId {
        let connection = ConnectionId(self.next_client);
        self.next_client += 1;
        let open = !self.network.is_down(to);
        let inbox = Vec::new();
        self.clients
            .insert(connection, TestClient { to, open, inbox });
        if let Machine::Server(index) = to
            && open
        {
            self.tell(index, Input::Connected { connection });
        }
        connection
    }

    /// A client goes.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        let gone = self.clients.remove(&connection);
        let client = gone.filter(|client| client.open);
        match client.map(|client| client.to) {
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
        self.read(connection);
        self.send(connection, command);
        self.run_until_met(self.now() + patience, |cluster| {
            let client = cluster.clients.get(&connection);
            client.is_none_or(|client| !client.inbox.is_empty() || !client.open)
        });
        let mut values = self.read(connection).into_iter().rev();
        values.find_map(|incoming| match incoming {
            Incoming::Value(value) => Some(value),
            Incoming::Closed => None,
        })
    }

    /// A client sends a command, if its connection is open.
    pub fn send(&mut self, connection: ConnectionId, command: Command) {
        if self.is_open(connection) {
            let to = self.clients[&connection].to;
            self.network.send(to, to, asked(to, connection, command));
        }
    }

    /// Whether a client has this connection, and neither end has closed it.
    pub fn is_open(&self, connection: ConnectionId) -> bool {
        let client = self.clients.get(&connection);
        client.is_some_and(|client| client.open)
    }

    /// What has come over a connection since this was asked last.
    pub fn read(&mut self, connection: ConnectionId) -> Vec<Incoming> {
        let client = self.clients.get_mut(&connection);
        client.map_or_else(Vec::new, |client| std::mem::take(&mut client.inbox))
    }

    /// A machine answers a client, or a Sentinel.
    pub(super) fn answer(&mut self, from: Machine, connection: ConnectionId, value: Value) {
        if connection.0 >= CALLS {
            self.answer_call(from, connection, value);
        } else if let Some(client) = self.clients.get_mut(&connection) {
            client.inbox.push(Incoming::Value(value));
        }
    }

    /// A machine closes a connection.
    pub(super) fn close(&mut self, by: Machine, connection: ConnectionId) {
        if connection.0 >= CALLS {
            self.calls.remove(&connection);
            self.refuse(by, connection);
        } else if let Some(client) = self.clients.get_mut(&connection) {
            client.open = false;
            client.inbox.push(Incoming::Closed);
        }
    }

    /// The clients of a machine that has died lose their connections.
    pub(super) fn leave(&mut self, machine: Machine) {
        for client in self.clients.values_mut() {
            client.open &= client.to != machine;
        }
    }
}
