//! Asking for the memory of those whom the next events come to.

use super::World;
use crate::engine::ahead::{ask_for, ask_for_start};
use crate::engine::{Executor, TaskId};
use crate::event::Event;
use crate::process::ProcessId;
use crate::zookeeper::messages::ConnectionId;

/// Connections that something will soon come over.
#[derive(Default)]
pub(super) struct Ahead {
    to_clients: Vec<ConnectionId>,
    to_servers: Vec<ConnectionId>,
}

impl World {
    /// Asks for the memory that the events need that have come near. One thing leads to the next, so it goes in
    /// steps: each asks for what the one before has brought.
    #[cold]
    pub fn look_ahead(&mut self, executor: &Executor<ProcessId>) {
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.to_clients.clear();
        ahead.to_servers.clear();
        // The others do not come in such numbers.
        self.timeline.tell_near(|event| {
            if let Event::ToClient { connection, .. } = event {
                ahead.to_clients.push(*connection);
            } else if let Event::ToServer { connection, .. } = event {
                ahead.to_servers.push(*connection);
            }
        });
        for connection in ahead.to_clients.iter().chain(&ahead.to_servers) {
            ask_for(self.connections.get(*connection));
        }
        self.ask_for_servers_part(&ahead.to_servers);
        self.ask_for_clients_part(&ahead.to_clients, executor);
        self.ahead = ahead;
    }

    fn ask_for_servers_part(&self, connections: &[ConnectionId]) {
        let server = |connection| {
            let server = self.connections.get(connection).server;
            &self.servers[server.0 as usize].machine
        };
        for connection in connections {
            server(*connection).ask_for_connection(*connection);
        }
        for connection in connections {
            server(*connection).ask_for_session(*connection);
        }
    }

    fn ask_for_clients_part(&self, connections: &[ConnectionId], executor: &Executor<ProcessId>) {
        let client = |connection| {
            let client = self.connections.get(connection).client;
            &self.clients[client as usize]
        };
        for connection in connections {
            client(*connection).machine.ask_for_memory();
        }
        for connection in connections {
            let client = client(*connection);
            // The first task of a process: most have one.
            executor.ask_for_place(TaskId(client.process.0));
            if let Some(contender) = self.contenders.get(client.process.0 as usize) {
                ask_for_start(contender);
            }
        }
        for connection in connections {
            let client = client(*connection);
            client.machine.ask_for_waiters();
            executor.ask_for(TaskId(client.process.0));
            if let Some(contender) = self.contenders.get(client.process.0 as usize) {
                contender.call.ask();
                contender.handle.ask();
            }
        }
    }
}
